"""The options of a row: flip sets with values. Those of the smallest flip sets, larger ones, and the curve of costs.

This is the second phase of an explanation (`flipset.explain.row`), after the smallest flip sets are found and proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flipset.explain.larger import find_larger
from flipset.protocol import flips_of
from flipset.values.change import CurvePoint
from flipset.values.curve import find_curve
from flipset.values.exact import describe_grids, tighten
from flipset.values.selection import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.explain.request import Request
    from flipset.protocol import Flow
    from flipset.search.result import Flipsets
    from flipset.space.cells import Cells
    from flipset.space.shared import Shared
    from flipset.values.change import CurveEnd, LargerEnd
    from flipset.values.choices import CheapestRow
    from flipset.values.counterfactuals import ValueSearch


@dataclass(frozen=True, slots=True)
class Options:
    """The cheapest rows of the smallest flip sets, of larger ones, and with more and more changes.

    `max_changes` is the most changes that were considered; None for no limit.
    """

    rows: Sequence[CheapestRow]
    max_changes: int | None = None
    larger: Sequence[CheapestRow] = ()
    larger_end: LargerEnd | None = None
    curve: Sequence[tuple[int, CheapestRow]] = ()
    curve_end: CurveEnd | None = None


def find_options(values: ValueSearch, sets: Flipsets, request: Request) -> Flow[Cells, Options]:
    """Return the cheapest rows inside the flip sets, and whatever else the request asks for."""
    options = yield from _on_grids(values, sets, request)
    if not request.exact:
        return options
    rows = yield from tighten(values, options.rows, values.batch, alone=request.objective == "size")
    return replace(options, rows=rows)


def _on_grids(values: ValueSearch, sets: Flipsets, request: Request) -> Flow[Cells, Options]:
    # Only sets that are proved to be smallest are known to be minimal. In others, some feature may not be needed.
    listed_all = sets.status != "incomplete"
    minimal = sets.status == "optimal" or not listed_all
    flipsets = [flips_of(flipset) for flipset in sets.flipsets]
    if request.values:
        most = request.value_queries_for(len(flipsets), listed_all=listed_all)
        rows = yield from values.for_flipsets(flipsets, most, minimal=minimal)
    else:
        rows = values.at_best_values(flipsets, minimal=minimal)
    if not minimal or not rows:
        return Options(rows, request.max_changes)
    size = min(map(len, sets.flipsets))
    if request.objective == "cost":
        most = request.max_changes or size + 1
        # Where a budget may end the search, a few queries are first spent on a lower bound.
        least = min(one.cost for one in rows)
        lower = (yield from values.reach.bound_below(least)) if request.is_limited else 0
        return Options([(yield from values.cheapest_of_all(most, rows, lower))], most)
    if not listed_all:  # what comes after the smallest sets is known only where all of those are
        return Options(rows, request.max_changes)
    more: dict[str, Any] = {}
    if request.more is not None:
        more["larger"], more["larger_end"] = yield from find_larger(values, sets.proof, request, request.more)
    if request.curve:
        curve = find_curve(values, rows, size, request.max_changes, is_limited=request.is_limited)
        more["curve"], more["curve_end"] = yield from curve
    return Options(rows, request.max_changes, **more)


def option_fields(options: Options, values: ValueSearch, request: Request, shared: Shared) -> dict[str, Any]:
    """Return the fields of an explanation that are about its options."""
    made = [(values.counterfactual(one, shared), one) for one in options.rows]
    made.sort(key=lambda pair: pair[0].cost)
    if request.options is not None:
        shown = select([{*one.flipset} for one, _ in made], request.options, diverse=request.diverse)
        made = [made[i] for i in shown]
    # A model that contradicts the directions leaves nothing proved: that an option is minimal, or the cheapest.
    proved = not values.monotonicity.errors
    larger, curve = (options.larger, options.curve) if proved else ((), ())
    grids = values.grids([*(row for _, row in made), *larger, *(row for _, row in curve)])
    return {
        "counterfactuals": tuple(one for one, _ in made),
        "grids": shared.texts(describe_grids(grids, values.space) if request.exact else grids),
        "max_changes": options.max_changes,
        "max_options": request.options,
        "diverse": request.diverse,
        "more": request.more,
        "larger": tuple(values.counterfactual(one, shared) for one in larger),
        "larger_end": options.larger_end if proved else None,
        "curve": tuple(CurvePoint(changes, values.counterfactual(one, shared)) for changes, one in curve),
        "curve_end": options.curve_end if proved else None,
    }
