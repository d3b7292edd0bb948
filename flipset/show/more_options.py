"""Options beyond one for each smallest flip set, as text: larger options, and the cost of fewer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flipset.boundary.printable import wrapped
from flipset.plural import count
from flipset.show.change_lines import change_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset.results.data import ExplanationData
    from flipset.values.change import Counterfactual

    Facts: TypeAlias = Callable[[Counterfactual, ExplanationData], str]

LARGER_TITLE = "Options with more changes than needed; no part of one of them is enough"


def tell_larger(
    e: ExplanationData, facts: Callable[[Counterfactual, ExplanationData], str], width: int
) -> Iterator[str]:
    """Yield the options that are larger than the smallest; `facts` says what one costs."""
    if e.larger_end is None:
        return
    if e.larger:
        yield from wrapped(f"{LARGER_TITLE}:", width)
    for one in e.larger:
        yield f"  + {count(len(one.flipset), 'change')}, {facts(one, e)}"
        yield from change_lines(one, width)
    if end := larger_end_text(e):
        yield from wrapped(end, width)


def larger_end_text(e: ExplanationData) -> str:
    """Say why there are no more larger options; nothing where there are as many as were asked for."""
    within = "" if e.max_changes is None else f" with at most {count(e.max_changes, 'change')}"
    if e.larger_end == "all":
        return f"There are no {'other' if e.larger else 'larger'} minimal options{within}."
    return "The limit was reached before all larger options were found." if e.larger_end == "stopped" else ""


def tell_curve(
    e: ExplanationData, facts: Callable[[Counterfactual, ExplanationData], str], width: int
) -> Iterator[str]:
    """Yield the cheapest option with at most so many changes, one number after another."""
    if not e.curve:
        return
    yield "The cheapest option by the number of changes:"
    before: Counterfactual | None = None
    for point in e.curve:
        one = point.counterfactual
        if before is not None and one.row == before.row:
            yield f"  at most {point.changes:,}: the same"
        else:
            yield f"  at most {point.changes:,}: {facts(one, e)}"
            yield from change_lines(one, width)
        before = one
    yield from wrapped(curve_end_text(e), width)


def curve_end_text(e: ExplanationData) -> str:
    """Say why the curve ends."""
    if e.curve_end == "proved":
        return "More changes cannot be cheaper."
    if e.curve_end == "max_changes":
        return f"Options with more than {count(e.curve[-1].changes, 'change')} were not considered."
    return "The limit was reached before more changes were considered."
