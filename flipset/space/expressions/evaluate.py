"""Computing an expression over the columns of a table, all rows at once.

The rules where tables differ from arithmetic:

- A missing cell has no value. A comparison with it is false, `!=` and `not in` included; arithmetic with it is missing.
  `x == null` and `x != null` ask for missing cells.
- `and`, `or` and `not` know true and false only, so `not (x > 3)` holds where x is missing.
- Division by zero has no value.
- true and false count as 1 and 0. Texts are compared by their characters, dates with texts such as "2026-01-31".
- Comparing a column with a value of a kind that it does not hold is an error. In a column of several kinds, cells of
  another kind count as missing.
"""

from __future__ import annotations

import operator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.space.expressions.cells import (
    Cells,
    as_time,
    differ,
    negated,
    of_column,
    of_condition,
    of_literal,
    of_numbers,
)
from flipset.space.expressions.syntax import (
    Arithmetic,
    Before,
    Column,
    Comparison,
    Junction,
    Literal,
    Membership,
    Negation,
    Negative,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from flipset.space.expressions.syntax import Expression, Node

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NEAR = 1_000
"""Columns in which a similar name is looked for; comparing names takes time."""


def meets(expression: Expression, columns: Any, rows: int) -> NDArray[np.bool_]:
    """Return for each row whether it meets a condition; `columns` is a frame, or a mapping of names to cells."""
    return np.broadcast_to(_Evaluation(columns).value(_checked(expression, columns)).truth(), (rows,))


def evaluate(expression: Expression, columns: Any, rows: int) -> NDArray[np.float64]:
    """Return the number that an expression has for each row; NaN where it has none."""
    values, holds = _Evaluation(columns).value(_checked(expression, columns)).numbers()
    return np.broadcast_to(np.where(holds, values, np.nan), (rows,))


def _checked(expression: Expression, columns: Any) -> Node:
    """Return the tree of an expression all of whose columns exist."""
    names = [str(name) for name in getattr(columns, "columns", columns)]
    known = set(names)
    for name in expression.columns:
        if name not in known:
            # The commonest mistake first: capital letters.
            near = [one for one in names[:NEAR] if one.casefold() == name.casefold()]
            near = near or (get_close_matches(name, names[:NEAR], 1) if len(name) <= 60 else [])
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, names[:12]))}"
            raise InputError(f"there is no column {name[:60]!r}; {hint}")
    return expression.tree


class _Evaluation:
    """The columns of a table, each read once."""

    def __init__(self, columns: Any) -> None:
        self.columns = columns
        self.read: dict[str, Cells] = {}

    def value(self, node: Node) -> Cells:
        match node:
            case Literal(value):
                if value is None:
                    raise InputError("null has no value: it can only be compared, as in x == null or x != null")
                return of_literal(value)
            case Column(name):
                # A column may be named many times, and reading one of objects looks at each cell.
                if name not in self.read:
                    self.read[name] = of_column(name, self.columns[name])
                return self.read[name]
            case Negative(of):
                return negated(self.value(of))
            case Arithmetic():
                return self.arithmetic(node)
            case Before(name):
                raise InputError(f"{name}.before has a value only in the formula of a column that follows others")
            case _:
                return of_condition(self.condition(node))

    def condition(self, node: Comparison | Membership | Negation | Junction) -> NDArray[np.bool_]:
        match node:
            case Comparison():
                return self.comparison(node)
            case Membership():
                return self.membership(node)
            case Negation(of):
                return ~self.value(of).truth()
            case Junction(word, parts):
                held = self.value(parts[0]).truth()
                for part in parts[1:]:
                    also = self.value(part).truth()
                    held = held & also if word == "and" else held | also
                return held

    def arithmetic(self, node: Arithmetic) -> Cells:
        values, holds = self.value(node.parts[0]).numbers()
        for sign, part in zip(node.operators, node.parts[1:], strict=True):
            others, also = self.value(part).numbers()
            holds = holds & also
            with np.errstate(all="ignore"):
                if sign == "/":
                    holds = holds & (others != 0)
                    # Where the divisor is 0 the result does not hold, so any divisor will do. 1 raises no warning.
                    values = values / np.where(others == 0, 1.0, others)
                else:
                    values = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](values, others)
            # Infinity minus infinity has no value, either.
            holds = holds & ~np.isnan(values)
        return of_numbers(values, holds)

    def comparison(self, node: Comparison) -> NDArray[np.bool_]:
        held = np.ones(1, dtype=bool)
        for sign, left, right in zip(node.operators, node.parts, node.parts[1:], strict=False):
            null = Literal(None)
            if null in (left, right):
                if sign not in ("==", "!="):
                    raise InputError(f"null can be compared with == and != only, not with {sign}")
                missing = [np.ones(1, bool) if one == null else self.value(one).missing() for one in (left, right)]
                held = held & ((missing[0] & missing[1]) == (sign == "=="))
            else:
                held = held & compare(sign, self.value(left), self.value(right))
        return held

    def membership(self, node: Membership) -> NDArray[np.bool_]:
        of = self.value(node.of)
        found = np.zeros(1, dtype=bool)
        for item in node.items:
            found = found | compare("==", of, self.value(item))
        # A missing cell is neither in a list nor not in it, as with `==` and `!=`.
        return found if node.wanted else ~found & ~of.missing()


def compare(sign: str, left: Cells, right: Cells) -> NDArray[np.bool_]:
    """Compare two values of each row; false where they are not of the same kind."""
    # Only a literal is read as a date. A column of texts may hold anything, and is not guessed at.
    if "time" in left.views and right.what.startswith("the text"):
        right = as_time(right)
    elif "time" in right.views and left.what.startswith("the text"):
        left = as_time(left)
    kinds = left.views.keys() & right.views.keys()
    if not kinds and left.views and right.views:
        raise differ(left, right)
    held = np.zeros(1, dtype=bool)
    for kind in kinds:
        (xs, xs_hold), (ys, ys_hold) = left.views[kind], right.views[kind]
        # Where one array holds Python's whole numbers, NumPy lets Python compare, which rounds neither side.
        xs, ys, both = np.broadcast_arrays(xs, ys, xs_hold & ys_hold)
        here = np.zeros(len(both), dtype=bool)
        # Only where both hold: elsewhere the arrays have fillers, which may not even be comparable.
        here[both] = COMPARE[sign](xs[both], ys[both]).astype(bool)
        held = held | here
    return held
