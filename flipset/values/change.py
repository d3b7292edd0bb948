"""Changes of a row: one column, all columns of a counterfactual, and the frontier of two columns.

This module also decides how values are written for people, so that terminal, reports, plots and page agree. A value
that has to be reached is written in full, because a rounded one may not be enough. A value that is only described is
rounded to 3 significant digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.feature import Value

How: TypeAlias = Literal["at least", "at most", "becomes"]


@dataclass(frozen=True, slots=True)
class Change:
    """One column that changes. Going beyond "at least" or "at most", within the allowed range, is enough as well.

    Attributes
    ----------
    feature
        The column.
    before, after
        Its value in the row, and the value it must reach.
    how
        "at least" or "at most" where the column has an order, "becomes" elsewhere.
    is_flag
        Whether the column is binary, so that 0 and 1 are written as "no" and "yes".

    Examples
    --------
    >>> print(Change("income", 40, 60, "at least"))
    income: 40 → at least 60
    >>> print(Change("bankruptcy", True, False, "at most"), Change("owner", 0.0, 1, "at least", is_flag=True), sep=", ")
    bankruptcy: yes → no, owner: no → yes
    >>> print(Change("home", "flat", "house", "becomes"))
    home: flat → house
    """

    feature: str
    before: Value
    after: Value
    how: How
    # It is known from the space, not part of the change, and absent from JSON.
    is_flag: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.feature}: {self.before_text} → {self.after_text}"

    @property
    def before_text(self) -> str:
        """The value in the row, rounded, for people."""
        if not self.is_flag and isinstance(self.before, float) and isinstance(self.after, (int, float)):
            return show_apart(self.before, self.after)
        return show(self.before, is_flag=self.is_flag)

    @property
    def after_text(self) -> str:
        """What the value must become, in full, for people."""
        # Nothing lies beyond either value of a flag, so "at most no" would only puzzle.
        is_exact = self.how == "becomes" or self.is_flag or isinstance(self.after, bool)
        value = show(self.after, is_flag=self.is_flag)
        return value if is_exact else f"{self.how} {value}"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A row with the other decision. The model has confirmed it exactly as it is given here.

    Attributes
    ----------
    flipset
        The features and groups that change.
    changes
        The changes, column by column.
    cost
        The total cost of the changes.
    cost_at_least
        A proved bound: no counterfactual of this flip set, or with `objective="cost"` of any flip set, costs less.
        Equal to `cost` unless a limit was reached or `values=False` was given.
    score
        The model's score for this row.
    row
        All values of the row.
    """

    flipset: tuple[str, ...]
    changes: tuple[Change, ...]
    cost: float
    cost_at_least: float
    score: float
    row: Mapping[str, Value]

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes))


@dataclass(frozen=True, slots=True)
class Frontier:
    """All smallest pairs of values of two features that flip a decision. Going beyond a pair keeps it flipped.

    Attributes
    ----------
    features, before
        The two features, and their values in the row.
    points
        The pairs, from the smallest change of the first feature to the smallest change of the second.
    queries
        How many rows the model scored.
    """

    features: tuple[str, ...]
    before: tuple[Value, ...]
    points: tuple[tuple[Value, ...], ...]
    queries: int


def show(value: Any, *, is_flag: bool = False) -> str:
    """Write a value for people, in full; truth values, and 0 and 1 of a flag, as "no" and "yes".

    Examples
    --------
    >>> show(40.0), show(0.1 + 0.2), show(None), show(True), show(0), show(0, is_flag=True)
    ('40', '0.30000000000000004', 'missing', 'yes', '0', 'no')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool) or (is_flag and value in (0, 1)):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def show_brief(value: Any, digits: int = 3) -> str:
    """Write a value for people; a number is rounded to so many significant digits, a whole number never is.

    Examples
    --------
    >>> show_brief(0.90217), show_brief(1234.56), show_brief(21.0), show_brief(1e-7), show_brief(1_234_567)
    ('0.902', '1235', '21', '1e-07', '1234567')
    """
    if not isinstance(value, float) or not isfinite(value):
        return show(value)
    if value.is_integer() or abs(value) >= 10**digits:
        return show(value) if abs(value) >= 1e15 else f"{value:.0f}"
    return f"{value:.{digits}g}"


def show_apart(value: float, other: float) -> str:
    """Write a number briefly, with as many digits as it takes to stay on its own side of another number.

    Examples
    --------
    >>> show_apart(0.49996, 0.5), show_apart(0.31234, 0.5)
    ('0.49996', '0.312')
    """
    if not isinstance(value, float) or not isfinite(value):
        return show(value)
    for digits in range(3, 17):
        text = show_brief(value, digits)
        if (float(text) > other) - (float(text) < other) == (value > other) - (value < other):
            return text
    return show(value)


def show_percent(share: float) -> str:
    """Write a share as a percentage, in full.

    Examples
    --------
    >>> show_percent(0.5), show_percent(0.07), show_percent(0.145)
    ('50 %', '7 %', '14.5 %')
    """
    # Decimal keeps 0.07 from becoming 7.000000000000001.
    return f"{(Decimal(repr(float(share))) * 100).normalize():f} %"


def show_threshold(threshold: float) -> str:
    """Write a threshold for people: the next number above 0.5 is "more than 0.5"."""
    below = threshold_below(threshold)
    return show(threshold) if below is None else f"more than {show(below)}"


def threshold_below(threshold: float) -> float | None:
    """Return the round number just below a threshold that means "more than"; None for any other threshold."""
    below = nextafter(threshold, -inf)
    return below if len(repr(threshold)) > 12 and len(repr(below)) < 12 else None
