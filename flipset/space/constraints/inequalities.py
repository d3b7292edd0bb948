"""Constraints as people write them, `late_90 <= late_60 <= late_30`, read into linear inequalities.

A constraint compares sums of columns and numbers; columns may have constant factors. A chain or an equality stands for
several inequalities. Each is kept with all columns on one side: a sum of columns is at most a limit.

Invariant: numbers are decimals as they are written. 0.1 + 0.2 <= 0.3 holds, whatever the nearest floats are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from flipset.boundary.reading import shown
from flipset.errors import InputError
from flipset.space.expressions import parse
from flipset.space.expressions.syntax import Arithmetic, Column, Comparison, Literal, Negative
from flipset.space.expressions.tokens import Unreadable
from flipset.space.room import decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flipset.space.expressions.syntax import Node

EXAMPLE = 'a constraint compares sums of columns, such as "satisfactory <= total" or "a <= 0.8 * b + 100"'


@dataclass(frozen=True, slots=True)
class Inequality:
    """A sum of columns that is at most a limit, or less than it.

    Attributes
    ----------
    terms
        The columns by name, in the order of the text, each with its factor, which is not 0.
    limit
        What the sum may reach.
    strict
        Whether the sum must be less than the limit.

    Examples
    --------
    >>> read_constraint("a <= 0.8 * b + 100").inequalities[0].total({"a": Fraction(90), "b": Fraction(10)})
    Fraction(82, 1)
    """

    terms: tuple[tuple[str, Fraction], ...]
    limit: Fraction
    strict: bool = False

    def total(self, values: Mapping[str, Fraction]) -> Fraction:
        """Return the sum of the columns, each times its factor."""
        return sum((factor * values[name] for name, factor in self.terms), Fraction(0))

    def allows(self, total: Fraction) -> bool:
        """Say whether the sum may have this value."""
        return total < self.limit if self.strict else total <= self.limit

    def relaxed(self, total: Fraction) -> Inequality:
        """Return the inequality that a row with this sum keeps: the same, unless the row itself breaks it."""
        return self if self.allows(total) else Inequality(self.terms, total)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule between columns: its text, and the inequalities that it stands for.

    Examples
    --------
    >>> [one.limit for one in read_constraint("16 <= age - years_employed").inequalities]
    [Fraction(-16, 1)]
    """

    text: str
    inequalities: tuple[Inequality, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rule, in the order of the text."""
        return tuple(dict.fromkeys(name for one in self.inequalities for name, _ in one.terms))


def read_constraint(text: str) -> Constraint:
    """Read a constraint.

    Raises
    ------
    InputError
        The text is not a constraint. The message says why, and shows where.

    Examples
    --------
    >>> read_constraint("late_90 <= late_60 <= late_30").columns
    ('late_90', 'late_60', 'late_30')
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{EXAMPLE}; got {shown(text)}")
    try:
        tree = parse(text).tree
    except Unreadable as error:
        _refuse(text, str(error), error.at)
    except InputError as error:
        _refuse(text, str(error))
    if not isinstance(tree, Comparison):
        _refuse(text, EXAMPLE)
    read = _Reader(text)
    sides = [read.sum_of(part) for part in tree.parts]
    found: list[Inequality] = []
    for operator, (left, right) in zip(tree.operators, pairwise(sides), strict=True):
        found += _inequalities(text, operator, left.minus(right))
    return Constraint(text, tuple(found))


@dataclass(frozen=True, slots=True)
class _Sum:
    """A number, and columns with their factors."""

    constant: Fraction
    factors: Mapping[str, Fraction]

    def plus(self, other: _Sum) -> _Sum:
        names = dict.fromkeys((*self.factors, *other.factors))
        nothing = Fraction(0)
        factors = {name: self.factors.get(name, nothing) + other.factors.get(name, nothing) for name in names}
        return _Sum(self.constant + other.constant, factors)

    def times(self, factor: Fraction) -> _Sum:
        return _Sum(self.constant * factor, {name: own * factor for name, own in self.factors.items()})

    def minus(self, other: _Sum) -> _Sum:
        return self.plus(other.times(Fraction(-1)))


class _Reader:
    """Adds a tree up to a sum; what is not a sum is refused, with the place of the first column or text of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def sum_of(self, node: Node) -> _Sum:
        if isinstance(node, Column):
            return _Sum(Fraction(0), {node.name: Fraction(1)})
        if isinstance(node, Literal):
            if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
                self.refuse("a constraint compares numbers, not texts, truth values or null", str(node.value))
            return _Sum(decimal(node.value), {})
        if isinstance(node, Negative):
            return self.sum_of(node.of).times(Fraction(-1))
        if isinstance(node, Arithmetic):
            return self.joined(node)
        return self.refuse(f"a comparison, a list or a condition cannot be a part of a sum; {EXAMPLE}")

    def joined(self, node: Arithmetic) -> _Sum:
        total = self.sum_of(node.parts[0])
        steps: dict[str, Callable[[_Sum, _Sum], _Sum]] = {
            "+": _Sum.plus, "-": _Sum.minus, "*": self.product, "/": self.quotient,
        }  # fmt: skip
        for operator, part in zip(node.operators, node.parts[1:], strict=True):
            total = steps[operator](total, self.sum_of(part))
        return total

    def product(self, left: _Sum, right: _Sum) -> _Sum:
        if left.factors and right.factors:
            name = next(iter(right.factors))
            self.refuse("a product of columns is not linear; multiply columns by numbers only", name)
        return left.times(right.constant) if left.factors else right.times(left.constant)

    def quotient(self, left: _Sum, right: _Sum) -> _Sum:
        if right.factors:
            name = next(iter(right.factors))
            self.refuse("a quotient of columns is not linear; multiply both sides by the divisor instead", name)
        if right.constant == 0:
            self.refuse("a division by 0", "/")
        return left.times(1 / right.constant)

    def refuse(self, problem: str, part: str = "") -> NoReturn:
        at = self.text.find(part) if part else -1
        _refuse(self.text, problem, at if at >= 0 else None)


def _inequalities(text: str, operator: str, difference: _Sum) -> list[Inequality]:
    """Return what it means that a difference of two sides stands in this relation to 0."""
    difference = _Sum(difference.constant, {name: factor for name, factor in difference.factors.items() if factor})
    if not difference.factors:
        _refuse(text, "one of its comparisons has no column on either side, or the same on both")
    if operator == "!=":
        _refuse(text, "!= leaves a gap in the allowed values; write a <= or >= that is meant", text.find("!="))
    turned = difference.times(Fraction(-1))
    one, other = (
        Inequality(tuple(side.factors.items()), -side.constant, operator in ("<", ">")) for side in (difference, turned)
    )
    return {"<=": [one], "<": [one], ">=": [other], ">": [other], "==": [one, other]}[operator]


def _refuse(text: str, problem: str, at: int | None = None) -> NoReturn:
    """Raise the error about a text, with a caret under the place, if it is known and the text is one line."""
    message = f"the constraint {shown(text)} cannot be read: {problem}"
    if at is not None and "\n" not in text and text.isprintable():
        message += f"\n    {text}\n    {' ' * at}^"
    raise InputError(message) from None
