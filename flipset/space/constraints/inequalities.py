"""Comparisons of sums of columns, such as `late_90 <= late_60 <= late_30`, read into linear inequalities.

Columns may have constant factors. A chain or an equality stands for several inequalities. Each is kept with all columns
on one side: a sum of columns is at most a limit.

Invariant: numbers are decimals as they are written. 0.1 + 0.2 <= 0.3 holds, whatever the nearest floats are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from flipset.boundary.reading import shown
from flipset.errors import InputError
from flipset.space.expressions import parse
from flipset.space.expressions.syntax import Arithmetic, Before, Column, Comparison, Literal, Negative
from flipset.space.expressions.tokens import Unreadable
from flipset.space.room import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space.expressions.syntax import Node

EXAMPLE = 'a constraint compares sums of columns, such as "satisfactory <= total" or "a <= 0.8 * b + 100"'

Exact: TypeAlias = Fraction | int
"""An exact number; a whole one is an int, because these add up much faster."""


@dataclass(frozen=True, slots=True)
class Inequality:
    """A sum of columns that is at most a limit, or less than it.

    Attributes
    ----------
    terms
        The columns by name, in the order of the text, each with its factor. It is 0 where columns cancel out in the
        formulas of computed columns: the inequality concerns only rows in which they have a value, too.
    limit
        What the sum may reach.
    strict
        Whether the sum must be less than the limit.
    before
        Columns whose values in the row explained count, each with its factor: part of the sum, too.
    through
        Columns that only formulas of computed columns name. A formula computes with a special code as with any number,
        and so does the inequality.
    written
        The inequality with the computed columns themselves, if they were replaced by their sums. It stands in for this
        one where a value in `before` is missing: then computed columns stay as they are, or become missing.
    unless
        Columns whose change makes a column of the inequality missing, so that it concerns nothing.

    Examples
    --------
    >>> read_inequalities("a <= 0.8 * b + 100")[0].total({"a": 90, "b": 10})
    Fraction(82, 1)
    """

    terms: tuple[tuple[str, Exact], ...]
    limit: Exact
    strict: bool = False
    before: tuple[tuple[str, Exact], ...] = ()
    through: frozenset[str] = frozenset()
    written: Inequality | None = None
    unless: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values count, now or before."""
        return tuple(dict.fromkeys(name for name, _ in (*self.terms, *self.before)))

    def total(self, values: Mapping[str, Exact]) -> Exact:
        """Return the sum of the columns, each times its factor."""
        return sum((factor * values[name] for name, factor in self.terms), 0)

    def allows(self, total: Exact) -> bool:
        """Say whether the sum may have this value."""
        return total < self.limit if self.strict else total <= self.limit


@dataclass(frozen=True, slots=True)
class Sum:
    """A number, and columns with their factors; a column may count with its value before a change."""

    constant: Exact
    factors: Mapping[Column | Before, Exact]

    def plus(self, other: Sum) -> Sum:
        """Return the sum of both."""
        names = dict.fromkeys((*self.factors, *other.factors))
        factors = {name: self.factors.get(name, 0) + other.factors.get(name, 0) for name in names}
        return Sum(self.constant + other.constant, factors)

    def times(self, factor: Exact) -> Sum:
        """Return the sum times a number."""
        return Sum(self.constant * factor, {name: own * factor for name, own in self.factors.items()})

    def minus(self, other: Sum) -> Sum:
        """Return the difference."""
        return self.plus(other.times(-1))


def read_inequalities(text: str) -> tuple[Inequality, ...]:
    """Read a comparison of sums, or a chain of them.

    Raises
    ------
    InputError
        The text is no such comparison. The message says why, and shows where.
    """
    return inequalities_of(text, read_tree(text))


def read_tree(text: str, *, before: bool = False, what: str = "constraint") -> Node:
    """Read a text into its tree; an error shows the place."""
    try:
        return parse(text, before=before).tree
    except Unreadable as error:
        refuse(text, str(error), error.at, what)
    except InputError as error:
        refuse(text, str(error), None, what)


def inequalities_of(text: str, tree: Node) -> tuple[Inequality, ...]:
    """Return the inequalities of a comparison that was read from a text."""
    if not isinstance(tree, Comparison):
        refuse(text, EXAMPLE)
    sides = [sum_of(text, part) for part in tree.parts]
    found: list[Inequality] = []
    for operator, (left, right) in zip(tree.operators, pairwise(sides), strict=True):
        found += _inequalities(text, operator, left.minus(right))
    return tuple(found)


def substituted(one: Inequality, sums: Mapping[str, Sum]) -> Inequality:
    """Return an inequality with some columns replaced by the sums that they are computed from."""
    total = Sum(0, {})
    for name, factor in one.terms:
        total = total.plus(sums.get(name, Sum(0, {Column(name): 1})).times(factor))
    before = tuple((key.name, factor) for key, factor in total.factors.items() if isinstance(key, Before))
    terms = tuple((key.name, factor) for key, factor in total.factors.items() if isinstance(key, Column))
    named = {name for name, _ in one.terms if name not in sums}
    through = frozenset(key.name for key in total.factors) - named
    written = replace(one, unless=through)
    return Inequality(terms, one.limit - total.constant, one.strict, before, through, written)


def sum_of(text: str, node: Node) -> Sum:
    """Add a tree up to a sum; what is not a sum of columns is refused, with the place if it is known."""
    if isinstance(node, (Column, Before)):
        return Sum(0, {node: 1})
    if isinstance(node, Literal):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            _refuse_part(text, "a constraint compares numbers, not texts, truth values or null", str(node.value))
        return Sum(exact(node.value), {})
    if isinstance(node, Negative):
        return sum_of(text, node.of).times(-1)
    if isinstance(node, Arithmetic):
        return _joined(text, node)
    return _refuse_part(text, f"a comparison, a list or a condition cannot be a part of a sum; {EXAMPLE}")


def _joined(text: str, node: Arithmetic) -> Sum:
    total = sum_of(text, node.parts[0])
    for operator, part in zip(node.operators, node.parts[1:], strict=True):
        other = sum_of(text, part)
        if operator in "+-":
            total = total.plus(other) if operator == "+" else total.minus(other)
        elif operator == "*":
            total = _product(text, total, other)
        else:
            total = _quotient(text, total, other)
    return total


def _product(text: str, left: Sum, right: Sum) -> Sum:
    if left.factors and right.factors:
        name = next(iter(right.factors)).name
        _refuse_part(text, "a product of columns is not linear; multiply columns by numbers only", name)
    return left.times(right.constant) if left.factors else right.times(left.constant)


def _quotient(text: str, left: Sum, right: Sum) -> Sum:
    if right.factors:
        name = next(iter(right.factors)).name
        _refuse_part(text, "a quotient of columns is not linear; multiply both sides by the divisor instead", name)
    if right.constant == 0:
        _refuse_part(text, "a division by 0", "/")
    return left.times(Fraction(1) / right.constant)


def _inequalities(text: str, operator: str, difference: Sum) -> list[Inequality]:
    """Return what it means that a difference of two sides stands in this relation to 0."""
    factors = {one.name: factor for one, factor in difference.factors.items() if factor}
    if not factors:
        refuse(text, "one of its comparisons has no column on either side, or the same on both")
    if operator == "!=":
        refuse(text, "!= leaves a gap in the allowed values; write a <= or >= that is meant", text.find("!="))
    strict = operator in ("<", ">")
    one = Inequality(tuple(factors.items()), -difference.constant, strict)
    other = Inequality(tuple((name, -factor) for name, factor in factors.items()), difference.constant, strict)
    return {"<=": [one], "<": [one], ">=": [other], ">": [other], "==": [one, other]}[operator]


def _refuse_part(text: str, problem: str, part: str = "") -> NoReturn:
    at = text.find(part) if part else -1
    refuse(text, problem, at if at >= 0 else None)


def refuse(text: str, problem: str, at: int | None = None, what: str = "constraint") -> NoReturn:
    """Raise the error about a text, with a caret under the place, if it is known and the text is one line."""
    message = f"the {what} {shown(text)} cannot be read: {problem}"
    if at is not None and "\n" not in text and text.isprintable():
        message += f"\n    {text}\n    {' ' * at}^"
    raise InputError(message) from None
