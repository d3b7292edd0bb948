"""What a table is expected to take: queries, calls, price and time, each with an interval.

The figures are estimated from a sample of the rows (`flipset.explain.estimate`). The interval of the queries is one of
95 % for the total of a finite population. Those of calls, price and time follow from its ends, with calls as full as
they can be at the lower end, and as full as in the sample at the upper one. They cover which rows the sample happens to
have, not a model that becomes faster or slower, or that fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

from flipset.boundary.printable import wrapped
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAVY = 0.3
"""From this share of the queries on, the rows that took the most are named: the interval then depends on few rows."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure for the whole table, and its interval of 95 %. The ends are NaN where it is not defined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What the sample took itself.

    Attributes
    ----------
    queries
        Queries, those that a journal answered included.
    calls
        Calls of the model; requests, for an endpoint.
    seconds
        The time on the clock.
    price
        The price of the requests; None for a model without prices.
    """

    queries: int
    calls: int
    seconds: float
    price: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEstimate:
    """What explaining a table is expected to take, from a sample of its rows.

    Attributes
    ----------
    rows
        The number of rows of the table.
    distinct
        How many different rows are explained: equal rows are explained once, and rows that cannot be read are not.
    places
        The places of the rows in the sample. They follow from the contents of the rows, not from their order.
    queries, calls
        Queries and calls for the whole table, the sample included.
    seconds
        The time for the whole table; None if nothing was sent to an endpoint, so that no time could be measured.
    price
        The price for the whole table; None for a model without prices.
    spent
        What the sample took itself.
    errors
        How many rows of the sample could not be explained.
    heaviest
        The share of the queries of the sample that the 1 % of its rows with the most queries took.
    kept_in
        The journal that has the answers of the sample, so that a run with it does not pay for them again; None
        without a journal.
    """

    rows: int
    distinct: int
    places: tuple[int, ...]
    queries: Figure
    calls: Figure
    seconds: Figure | None
    price: Figure | None
    spent: Spent
    errors: int
    heaviest: float
    kept_in: str | None = None

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the estimate as lines of text."""
        some = len(self.places)
        if some == self.distinct:
            yield from wrapped(f"All {count(self.distinct, 'different row')} were explained.", width)
        else:
            of = f"{count(self.distinct, 'different row')}" if self.distinct < self.rows else count(self.rows, "row")
            yield from wrapped(f"Estimated from {some:,} of {of}, with intervals of 95 %:", width)
        figures: list[tuple[str, Figure, Callable[[float], str]]]
        figures = [("queries", self.queries, _whole), ("calls", self.calls, _whole)]
        figures += [("price", self.price, _amount)] if self.price is not None else []
        figures += [("time", self.seconds, duration_text)] if self.seconds is not None else []
        for name, figure, text in figures:
            yield f"  {name:<8} {_figure_text(figure, text)}"
        yield from wrapped(self._spent_text(), width)
        yield from wrapped(self._kept_text(), width)
        for note in self._notes():
            yield from wrapped(note, width)

    def _spent_text(self) -> str:
        spent = self.spent
        price = "" if spent.price is None else f", for {_amount(spent.price)} at most"
        calls, seconds = count(spent.calls, "call"), duration_text(spent.seconds)
        return f"The sample itself took {count(spent.queries, 'query')} in {calls}{price}, and {seconds}."

    def _kept_text(self) -> str:
        if self.kept_in is None:
            return "The figures are for the whole table. Without a journal, a run asks the rows of the sample again."
        return f"The figures are for the whole table. What the sample asked is in {self.kept_in}: it is not sent again."

    def _notes(self) -> Iterator[str]:
        if self.errors:
            yield f"{count(self.errors, 'row')} of the sample could not be explained."
        if len(self.places) == self.distinct:
            return
        if not isfinite(self.queries.low):
            yield "All rows of the sample took the same number of queries, which gives no interval."
        elif self.heaviest >= HEAVY:
            share = f"{100 * self.heaviest:.0f} %"
            yield (
                f"The 1 % of rows that took the most queries took {share} of them, so the interval rests on few rows: "
                "take a larger sample, or limit each row with max_queries."
            )


# --- numbers for people -----------------------------------------------------------------------------------------------


def duration_text(seconds: float) -> str:
    """Return a duration with two or three digits, in a unit that fits.

    Examples
    --------
    >>> duration_text(0.0314), duration_text(95), duration_text(1000), duration_text(90_000)
    ('0.0314 seconds', '95 seconds', '16.7 minutes', '25 hours')
    """
    for unit, length in (("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{_three_digits(seconds / length)} {unit}s"
    return f"{_three_digits(seconds)} seconds"


def _figure_text(figure: Figure, text: Callable[[float], str]) -> str:
    """Return a figure with its interval, if there is one."""
    if not isfinite(figure.low) or figure.low == figure.high:
        return text(figure.value)
    return f"{text(figure.value)} ({text(figure.low)} to {text(figure.high)})"


def _whole(number: float) -> str:
    return f"{_rounded(number):,.0f}"


def _amount(price: float) -> str:
    """Return a price: with two decimals, or with three digits where it is below 1."""
    return f"{price:,.2f}" if price >= 1 else _three_digits(price)


def _three_digits(number: float) -> str:
    return f"{_rounded(number):,g}"


def _rounded(number: float) -> float:
    """Return a number with three digits; whole numbers of up to three digits stay as they are."""
    if number == 0 or not isfinite(number):
        return number
    return round(number, 2 - floor(log10(abs(number))))


def most_of(queries: list[float]) -> float:
    """Return the share of all queries that the 1 % of rows with the most of them took.

    Examples
    --------
    >>> most_of([1.0] * 99 + [101.0])
    0.505
    """
    whole = sum(queries)
    return sum(sorted(queries)[-ceil(len(queries) / 100) :]) / whole if whole else 0.0
