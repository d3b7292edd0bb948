"""Changes of a row: one column, all columns of a counterfactual, and the frontier of two columns.

This module also decides how values are written for people, so that terminal, reports, plots and page agree. A value
that has to be reached is written in full, because a rounded one may not be enough. A value that is only described is
rounded to 3 significant digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from flipset.space.words import write_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.feature import Value
    from flipset.space.words import FeatureWords, NumberType

How: TypeAlias = Literal["at least", "at most", "becomes"]

LargerEnd: TypeAlias = Literal["enough", "all", "stopped"]
"""Why a list of larger options ends: it has as many as were wanted, there are no others, or a limit was reached."""

CurveEnd: TypeAlias = Literal["proved", "max_changes", "stopped"]
"""Why a curve ends: more changes are proved not to be cheaper, were not to be considered, or a limit was reached."""


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
    words
        What people call the column and its values; None if it has only its name.
    cost
        What this change costs, as a part of the cost of its counterfactual; None if a file does not say.

    Examples
    --------
    >>> print(Change("income", 40, 60, "at least"))
    income: 40 → at least 60
    >>> print(Change("bankruptcy", True, False, "at most"))
    bankruptcy: yes → no
    >>> from flipset.space.words import FeatureWords
    >>> print(Change("obrat", 49.0, 41.0, "at most", words=FeatureWords("all obligations", "% of income")))
    all obligations: 49 → at most 41 % of income
    >>> words = FeatureWords("overdue accounts", value_labels=(("0", "some"), ("1", "none")))
    >>> print(Change("chist", 0, 1, "at least", words))
    overdue accounts: some → none
    >>> print(Change("home", "flat", "house", "becomes"))
    home: flat → house
    """

    feature: str
    before: Value
    after: Value
    how: How
    # They are those of the space, not part of the change.
    words: FeatureWords | None = field(default=None, compare=False, repr=False)
    cost: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.label}: {self.before_text} → {self.after_text}"

    @property
    def label(self) -> str:
        """What people call the column."""
        return self.feature if self.words is None else self.words.label

    @property
    def before_text(self) -> str:
        """The value in the row, rounded, for people. The unit follows the value to be reached."""
        is_scale = isinstance(self.before, float) and isinstance(self.after, (int, float))
        if is_scale and (self.words is None or self.words.label_of(self.before) is None):
            text = show_apart(self.before, self.after)
            return text if self.words is None else write_number(text, self.words.number_format)
        return show_as(self.before, self.words)

    @property
    def after_text(self) -> str:
        """What the value must become, in full, for people."""
        # Nothing lies beyond a flag or the last label, so "at most no" or "at least 7 years or more" would only puzzle.
        is_last = self.words is not None and self.words.is_last(self.after, rising=self.how == "at least")
        is_exact = self.how == "becomes" or is_last or isinstance(self.after, bool)
        value = show_as(self.after, self.words, with_unit=True)
        return value if is_exact else f"{self.how} {value}"


@dataclass(frozen=True, slots=True)
class Consequence:
    """A computed column that changes because others do.

    Examples
    --------
    >>> print(Consequence("dti", 0.5, 0.3125))
    dti: 0.5 → 0.312
    """

    feature: str
    before: Value
    after: Value
    words: FeatureWords | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.label}: {self.before_text} → {self.after_text}"

    @property
    def label(self) -> str:
        """What people call the column."""
        return self.feature if self.words is None else self.words.label

    @property
    def before_text(self) -> str:
        """The value in the row, rounded, for people."""
        return show_as(self.before, self.words, brief=True)

    @property
    def after_text(self) -> str:
        """The value that follows, rounded, for people."""
        return show_as(self.after, self.words, brief=True, with_unit=True)


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
        A proved bound: no counterfactual of this flip set, or with `objective="cost"` of any flip set, costs less with
        values of the grids. Equal to `cost` unless a limit was reached or `values=False` was given. With `exact=True`
        it is at most the cost.
    score
        The model's score for this row.
    row
        All values of the row.
    consequences
        What else changes, because computed columns follow the changes. These cost nothing.
    """

    flipset: tuple[str, ...]
    changes: tuple[Change, ...]
    cost: float
    cost_at_least: float
    score: float
    row: Mapping[str, Value]
    consequences: tuple[Consequence, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes))

    def __repr__(self) -> str:
        return f"<Counterfactual: {self}; cost={self.cost:.4g}, score={self.score:.4g}>"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The cheapest counterfactual with at most some number of changes.

    Attributes
    ----------
    changes
        The most changes.
    counterfactual
        The cheapest counterfactual with at most so many changes; it may have fewer. Its `cost_at_least` is a bound for
        all of them.
    """

    changes: int
    counterfactual: Counterfactual


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
    words
        What people call the two columns and their values; empty if they have only their names.
    """

    features: tuple[str, ...]
    before: tuple[Value, ...]
    points: tuple[tuple[Value, ...], ...]
    queries: int
    words: tuple[FeatureWords, ...] = field(default=(), compare=False, repr=False)


def show_as(value: Any, words: FeatureWords | None, *, brief: bool = False, with_unit: bool = False) -> str:
    """Write a value of a column for people: its label if it has one, a number in the column's format and unit.

    Examples
    --------
    >>> from flipset.space.words import FeatureWords
    >>> show_as(12000.0, FeatureWords("income", "USD", number_format="thousands"), with_unit=True)
    '12,000 USD'
    >>> show_as(0.30000001192092896, FeatureWords("share", number_type="float32"))
    '0.3'
    >>> show_as(1.0, FeatureWords("owner", value_labels=(("0", "no"), ("1", "yes"))), with_unit=True)
    'yes'
    """
    write = show_brief if brief else show
    if words is None:
        return write(value)
    label = words.label_of(value)
    if label is not None:
        return label
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return write(value)
    is_narrow = not brief and words.number_type != "float64"
    number = write_number(_in_type(value, words.number_type) if is_narrow else write(value), words.number_format)
    return words.with_unit(number) if with_unit else number


def show(value: Any) -> str:
    """Write a value for people, in full; truth values as "no" and "yes".

    Examples
    --------
    >>> show(40.0), show(0.1 + 0.2), show(None), show(True), show(0)
    ('40', '0.30000000000000004', 'missing', 'yes', '0')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def _in_type(value: float, number_type: NumberType) -> str:
    """Write a number with the digits that tell it from the other numbers of its type: what was read from them is it."""
    held = np.dtype(number_type).type(value)
    return show(value) if float(held) != value else str(held).removesuffix(".0")


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
    return write_number(repr(float(share)), "percent")


def show_threshold(threshold: float) -> str:
    """Write a threshold for people: the next number above 0.5 is "more than 0.5"."""
    below = threshold_below(threshold)
    return show(threshold) if below is None else f"more than {show(below)}"


def threshold_below(threshold: float) -> float | None:
    """Return the round number just below a threshold that means "more than"; None for any other threshold."""
    below = nextafter(threshold, -inf)
    return below if len(repr(threshold)) > 12 and len(repr(below)) < 12 else None
