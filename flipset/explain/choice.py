"""Which search runs. It is decided here and nowhere else.

The choice changes how many queries are made and how long they take, never the answer: flip sets, values and reasons
follow from the model, the space, the row and the request.

- The **table search** is for local models. It works in arrays and makes many queries in a call. It takes rows whose
  movable columns are all numbers with an order, up to `MOST_FEATURES` of them, also with computed columns and with
  constraints that leave each set one row. It finds flip sets of one and two features; a row that needs more changes
  goes on to the guided search, with everything that was learned about it.
- The **guided search** is for everything else: where the request asks for few queries (`batch` below `ARRAYS_FROM`),
  where queries are billed or slow (endpoints, several calls at a time) or share a budget (`max_table_queries`), where
  features have weights, options or groups, where constraints leave a set several rows, and where at most one change
  is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.explain.bound_columns import MOST_COLUMNS
from flipset.explain.request import is_weighted
from flipset.models.tables import are_numeric_cells, is_numeric_row
from flipset.search.table.search import MOST_FEATURES

if TYPE_CHECKING:
    from flipset.explain.request import Request
    from flipset.space import Space
    from flipset.space.moves import Moves
    from flipset.space.rows import Row

ARRAYS_FROM = 16
"""The least `batch` for which the time of a search is taken to matter more than its number of queries."""


def may_use_arrays(space: Space, request: Request, *, is_local: bool, shares_budget: bool) -> bool:
    """Say whether the table search may be used, for rows that fit it."""
    # The table search looks for pairs, too, and counts features, not weights.
    allowed = request.max_changes is None or request.max_changes >= 2
    return is_local and not shares_budget and request.batch >= ARRAYS_FROM and allowed and not is_weighted(space)


def fits_arrays(space: Space, row: Row, moves: Moves) -> bool:
    """Say whether a row fits the table search."""
    return moves_fit_arrays(space, moves) and is_numeric_row(row, space.reference)


def moves_fit_arrays(space: Space, moves: Moves) -> bool:
    """Say whether a row of numbers fits the table search, given what may change in it."""
    # There are no best cells where a unit has options or several columns: a set of units then stands for several rows.
    best = moves.best_cells
    if not moves.units or best is None or len(moves.units) > MOST_FEATURES:
        return False
    if moves.rules is not None and not moves.rules.gives_one_row:
        return False
    if space.rules is not None and max(map(len, space.rules.parts), default=0) > MOST_COLUMNS:
        return False
    return are_numeric_cells(best, len(space.names), space.reference) and _are_numeric_columns(space)


def is_answered_in_arrays(request: Request) -> bool:
    """Say whether the answer to a request is complete when a table search has found sets, reasons and values."""
    plain = request.objective == "size" and not (request.exact or request.curve or request.is_limited)
    return plain and request.options is None and request.more is None and request.reasons != "all"


def reasons_in_arrays(request: Request) -> int:
    """Return how many reasons the table search looks for; all those of a proof are found by the guided search."""
    return 0 if request.reasons == "all" else int(request.reasons)


def _are_numeric_columns(space: Space) -> bool:
    """Say whether arrays of numbers can hold the computed columns of a space."""
    computed = () if space.computed is None else space.computed.names
    return all(space.reference is None or space.reference.numeric[space.position(name)] for name in computed)
