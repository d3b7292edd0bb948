"""Journals: a first run, one that goes on where a model failed, and one that asks nothing."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flipset import Explainer, Explanation, Journal
from tests.pins.tables import MADE, Table
from tests.pins.transcripts import (
    Case,
    Seen,
    Transcript,
    numbered,
    of_explanation,
    of_table,
    together,
    transcript,
    watched,
)


class Failing:
    """A model that fails from some call on."""

    def __init__(self, model: Callable[[Any], Any], calls: int) -> None:
        self.model = model
        self.left = calls

    def __call__(self, rows: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("no more")
        return self.model(rows)


def with_journal(table: Table, model: Callable[[Any], Any], path: Path) -> Explainer:
    return table.explainer(model, journal=Journal(path, model="pinned, version 1"))


def run_rows(explainer: Explainer, table: Table, request: dict[str, Any]) -> Transcript:
    """Explain some rows one by one."""
    rows = table.rows.iloc if hasattr(table.rows, "iloc") else table.rows
    parts = {f"{k}": of_explanation(explainer.explain(rows[k : k + 1], **request)) for k in range(4)}
    return together(parts)


def run_table(explainer: Explainer, table: Table, request: dict[str, Any]) -> Transcript:
    """Explain all rows."""
    return of_table(explainer.explain_table(table.rows[:25], **request))


def runs(made: str, alone: bool, i: int) -> Transcript:
    """Run three times with one journal: until the model fails, to the end, and from the journal alone."""
    table = MADE[made](f"journal/{made}", i)
    request: dict[str, Any] = {"batch": (None, 1, 8)[i % 3]}
    work = run_rows if alone else run_table
    parts: dict[str, Transcript] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.db"
        models: dict[str, Callable[[Any], Any]] = {
            "failing": Failing(table.model, 3 + i),
            "whole": table.model,
            "again": table.model,
        }
        for name, model in models.items():
            seen = Seen(model)
            explainer = with_journal(table, seen, path)
            parts[name] = watched(partial(work, explainer, table, request), seen)
            journal = explainer.journal
            assert isinstance(journal, Journal)
            parts[name]["cost"] = [parts[name]["cost"], len(journal)]
            journal.close()
    return together(parts)


def recalled(made: str, i: int) -> Transcript:
    """Verify an explanation from the journal alone."""
    table = MADE[made](f"recalled/{made}", i)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.db"
        seen = Seen(table.model)
        explainer = with_journal(table, seen, path)
        e = explainer.explain(table.rows[i % 20])
        assert isinstance(explainer.journal, Journal)
        explainer.journal.close()
        kept = Journal(path, model="")
        held = Explanation.from_json(e.to_json()).verify(kept.model(), space=table.space, threshold=table.threshold)
        size = len(kept)
        kept.close()
    done = of_explanation(e)
    steps = [[list(one.moved), one.flips, one.score] for one in held.answers]
    return transcript(
        [done["answer"], bool(held)], done["reasons"], [done["proof"], steps], [done["cost"], size], seen.calls
    )


def cases() -> Iterator[tuple[str, Case]]:
    for made in ("ordered", "loans"):
        yield from numbered(f"journal/table/{made}", 8, partial(runs, made, False))
        yield from numbered(f"journal/rows/{made}", 7, partial(runs, made, True))
    yield from numbered("journal/recalled", 10, partial(recalled, "ordered"))
