"""All cases, by name."""

from itertools import chain

from tests.pins import (
    batches,
    boxes,
    checks,
    commands,
    endpoints,
    journals,
    pages,
    papers,
    rows,
    sets,
    tables,
)
from tests.pins.transcripts import Case

FAMILIES = (sets, boxes, papers, rows, tables, endpoints, journals, batches, pages, checks, commands)

LARGE = ("tables", "endpoint", "journal", "batches", "page", "commands")

SLOW = ("batches/touchy", "batches/labels", "batches/half", "tables/loans-labels", "tables/weighted")

CASES: dict[str, Case] = dict(chain.from_iterable(family.cases() for family in FAMILIES))


def family_of(name: str) -> str:
    """Return the family of a case: its name without the number."""
    return name.rpartition("/")[0]


def some() -> list[str]:
    """Return a spread of cases: one of each family, and of families whose cases are large only one of several."""
    first: dict[str, str] = {}
    for name in CASES:
        root, part, *_ = name.split("/")
        first.setdefault(f"{root}/{part}" if root in LARGE else family_of(name), name)
    return [name for key, name in first.items() if key not in SLOW]
