"""Rules that hold in a table, reduced to the fewest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.reference import Reference
from flipset.space.suggestions.columns import read_columns
from flipset.space.suggestions.implications import suggest_implications
from flipset.space.suggestions.notes import find_one_hot, suggest_missing, suggest_one_hot, suggest_whole
from flipset.space.suggestions.orders import fewest_orders, find_orders, suggest_orders
from flipset.space.suggestions.sums import find_sums, orders_of, suggest_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flipset.space.feature import Value
    from flipset.space.suggestions.suggestion import Suggestion


def suggest_constraints(
    X: Any, *, special: Mapping[str, Iterable[Value]] | None = None, most_broken: float = 0.001
) -> list[Suggestion]:
    """Look for rules between the columns of a table, for people to accept or to reject.

    Equalities, orders, sums and implications are constraints as a space takes them. Notes are about one-hot columns,
    columns of floats that hold whole numbers, and columns that are missing in the same rows. Nothing is applied.

    Only rules that say something are suggested. `children <= income` holds because the ranges are far apart; a rule is
    left out if it would hold, or nearly, between columns that have nothing to do with each other. And of the rules that
    follow from each other the fewest are returned: `a <= b <= c` does without `a <= c`.

    Parameters
    ----------
    X
        A frame (pandas, polars or Arrow).
    special
        For some columns, the codes that are outside the order. Under "*", codes for all other columns that hold
        numbers. A cell with a code counts as missing, and a rule is not tested on rows in which one of its columns is
        missing.
    most_broken
        In which share of the rows an order may be broken; likewise an equality, a sum or an implication. A chain counts
        all rows that break one of its orders.

    Returns
    -------
    list of Suggestion
        Equalities, orders, sums, implications and notes; each kind by the places of its columns.

    Raises
    ------
    InputError
        `X` is not a frame or has no rows, `special` names another column, or `most_broken` is not a share.

    Examples
    --------
    >>> import pandas as pd
    >>> now, before = [0, 0, 3, 1, 0, 2, 0, 4, 1, 0] * 21, [0, 1, 0, 0, 2, 5, 0] * 30
    >>> ever = [a + b for a, b in zip(now, before)]
    >>> table = pd.DataFrame({"ever": ever, "last_year": now, "income": range(210)})
    >>> [one.text for one in suggest_constraints(table)]
    ['last_year <= ever']
    """
    is_share = isinstance(most_broken, (int, float)) and not isinstance(most_broken, bool) and 0 <= most_broken < 1
    if not is_share:
        raise InputError(f"most_broken must be a share of the rows such as 0.001, got {most_broken!r}")
    table = read_columns(Reference.of(X), special, float(most_broken))
    orders = find_orders(table)
    sums = find_sums(table, orders)
    given = orders_of(table, sums)
    equal, ordered = fewest_orders(table, orders, given)
    one_hot = find_one_hot(table)
    return [
        *suggest_orders(table, equal, ordered),
        *suggest_sums(table, sums),
        *suggest_implications(table, [*orders, *given], one_hot),
        *suggest_one_hot(table, one_hot),
        *suggest_whole(table),
        *suggest_missing(table),
    ]
