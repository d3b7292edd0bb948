"""Columns whose values are computed from others before the model sees a row: `dti = debt / income`.

A *derived* column is a function of other columns. A *follower* changes because others change, as an age does with years
on the job; its formula may name values that the row had before, as in `years.before`, and its own name in it stands for
its own value before. Neither moves by itself.

Invariants:

- A computed column keeps the row's own value unless a column that its formula uses has changed.
- Formulas are computed with floats, in the order in which they are written; so everybody gets the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.boundary.reading import shown
from flipset.errors import InputError, first_line
from flipset.space.constraints.inequalities import Sum, read_tree, refuse, sum_of
from flipset.space.expressions.syntax import Arithmetic, Before, Column, Literal, Negative
from flipset.space.feature import is_missing, is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.space.cells import Cells
    from flipset.space.constraints.inequalities import Exact
    from flipset.space.expressions.syntax import Node
    from flipset.space.feature import Value

Function: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""A function of the columns of a row that are not computed themselves, by name."""

Hold: TypeAlias = Callable[[int, float], float]
"""Returns a number as the type of a column, given by its position, holds it."""

NOISE = 1e-6
"""The share of itself by which a derived value in a table may differ from its formula, because floats were rounded."""


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A column with its formula.

    Attributes
    ----------
    name
        The column.
    text
        The formula; empty if it is a function.
    follows
        Whether it is a follower; otherwise it is derived.
    inputs
        The columns whose present values the formula uses.
    tree
        The formula as it was read.
    function
        The function that computes it, if it has no formula.
    """

    name: str
    text: str
    follows: bool
    inputs: tuple[str, ...]
    tree: Node | None = field(default=None, compare=False, repr=False)
    function: Function | None = field(default=None, repr=False)

    @property
    def what(self) -> str:
        """What messages call it."""
        return f"the {'follower' if self.follows else 'derived column'} {self.name!r}"

    def compute(self, values: Mapping[str, Value], before: Mapping[str, Value]) -> float | None:
        """Return the value for some values of the columns; None where an input is missing."""
        if self.function is not None:
            return self._called(values)
        assert self.tree is not None
        try:
            found = _value(self.tree, values, before)
        except ZeroDivisionError:
            raise InputError(
                f"{self.what} cannot be computed: a division by 0 in {self._shown(values)}; "
                "keep the divisor away from 0, for instance with bounds"
            ) from None
        except (TypeError, ValueError):
            raise InputError(f"{self.what} cannot be computed: a text in {self._shown(values)}") from None
        except OverflowError:
            found = float("inf")
        if found is not None and not isfinite(found):
            raise InputError(f"{self.what} cannot be computed: {self._shown(values)} is no finite number")
        return found

    def _called(self, values: Mapping[str, Value]) -> float | None:
        assert self.function is not None
        try:
            found = self.function({name: values[name] for name in self.inputs})
            if is_missing(found) or type(found).__name__ == "NAType":
                return None
            number = float(found)
        except Exception as error:  # the function is the user's own, and may raise anything
            raise InputError(f"{self.what}: its function raised {type(error).__name__}: {first_line(error)}") from None
        if not isfinite(number):
            raise InputError(f"{self.what}: its function returned {shown(found)}; expected a finite number or None")
        return number

    def _shown(self, values: Mapping[str, Value]) -> str:
        known = ", ".join(f"{name} is {shown(values.get(name))}" for name in self.inputs)
        return f"{self.text} ({known})"


@dataclass(frozen=True, slots=True)
class ComputedColumns:
    """The computed columns of a space, in an order in which each comes after those that it uses."""

    columns: tuple[ComputedColumn, ...]
    place: Mapping[str, int] = field(compare=False, repr=False)
    hold: Hold = field(compare=False, repr=False)
    # The columns that formulas name, and those that they compute, by position: formulas need no others.
    used: Mapping[int, str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        befores = [before.name for one in self.columns for before in _befores(one.tree)]
        named = [name for one in self.columns for name in (one.name, *one.inputs)]
        object.__setattr__(self, "used", {self.place[name]: name for name in (*named, *befores)})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)

    def complete(self, row: Sequence[Value], cells: Cells) -> Cells:
        """Return the cells in which a row differs, with those of the computed columns that change with them."""
        if not cells:
            return cells
        found = self.changed(row, cells)
        return tuple(sorted((*cells, *found), key=lambda cell: cell[0])) if found else cells

    def changed(self, row: Sequence[Value], cells: Cells) -> Cells:
        """Return the cells of the computed columns that change with others."""
        new = {self.used[i]: value for i, value in cells if i in self.used}
        if not new:
            return ()
        before = {name: row[i] for i, name in self.used.items()}
        values, changed = before | new, set(new)
        found = []
        for one in self.columns:
            # A cell that is given is left as it is: the row is one that was completed before.
            if changed.isdisjoint(one.inputs) or one.name in changed:
                continue
            value = self._held(one, one.compute(values, before), before[one.name])
            if not _is_same(value, before[one.name]):
                changed.add(one.name)
                values[one.name] = value
                found.append((self.place[one.name], value))
        return tuple(found)

    def check(self, row: Sequence[Value]) -> None:
        """Refuse a row in which a computed column has another value than its formula, apart from rounding."""
        values = {name: row[i] for i, name in self.used.items()}
        for one in self.columns:
            given = values[one.name]
            if one.follows and is_missing(given):
                continue
            if not is_missing(given) and not is_number(given):
                raise InputError(f"{one.what} is {shown(given)} in this row; expected a number")
            value = one.compute(values, values)
            if value is None or (not is_missing(given) and _is_rounded(given, value)):
                continue
            has = "missing" if is_missing(given) else shown(given)
            if one.follows:
                raise InputError(
                    f"{one.what} is {has} in this row, and its formula {one.text} gives {value:.6g} although nothing "
                    "has changed; name values before the change, as in age + (years - years.before)"
                )
            formula = f"{one.text} gives" if one.text else "its function returns"
            raise InputError(
                f"{one.what} is {has} in this row, and {formula} {value:.6g}; correct the row or the formula"
            )

    def stuck(self, row: Sequence[Value]) -> frozenset[str]:
        """Return the columns that cannot change, because a derived column with a value could not be computed.

        That is so where another input of its formula is missing.
        """
        found: set[str] = set()
        sources: dict[str, set[str]] = {}
        values = {name: row[i] for i, name in self.used.items()}
        for one in self.columns:
            sources[one.name] = {source for name in one.inputs for source in sources.get(name, {name})}
            has_value = one.text and not one.follows and not is_missing(values[one.name])
            if has_value and any(is_missing(values[name]) for name in one.inputs):
                found |= sources[one.name]
        return frozenset(found)

    def recomputed(self, row: Sequence[Value], changed: Sequence[int]) -> list[Value]:
        """Return a row some cells of which were edited, with the computed columns that change with them."""
        edited = list(row)
        for i, value in self.changed(row, tuple((i, row[i]) for i in changed)):
            edited[i] = value
        return edited

    def _held(self, one: ComputedColumn, value: float | None, before: Value) -> Value:
        """Return a computed value in the type of its column."""
        if value is None:
            return None
        if isinstance(before, int) and not isinstance(before, bool) and value == int(value):
            return int(value)
        return self.hold(self.place[one.name], value)


def read_computed(
    derived: Mapping[str, str | Function], follows: Mapping[str, str], names: Sequence[str], hold: Hold
) -> ComputedColumns | None:
    """Read the formulas of a space; None where it has none.

    Raises
    ------
    InputError
        A formula cannot be read, names a column that does not exist, or needs its own result.
    """
    for argument, given in (("derived", derived), ("follows", follows)):
        if not isinstance(given, Mapping):
            raise InputError(f"{argument} must be a mapping from columns to formulas, got {shown(given)}")
    both = [name for name in derived if name in follows]
    if both:
        raise InputError(f"the column {both[0]!r} is both derived and a follower; choose one")
    if not derived and not follows:
        return None
    computed = {*derived, *follows}
    plain = tuple(name for name in names if name not in computed)
    columns = {name: _read(name, given, plain, follows=False) for name, given in derived.items()}
    columns |= {name: _read(name, given, plain, follows=True) for name, given in follows.items()}
    for one in columns.values():
        for name in (one.name, *one.inputs, *(before.name for before in _befores(one.tree))):
            if name not in names:
                raise InputError(
                    f"{one.what}: there is no column {name!r}; the columns are {', '.join(map(repr, names[:12]))}"
                )
    uses = {name: [other for other in one.inputs if other in columns] for name, one in columns.items()}
    try:
        order = list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = " → ".join(map(repr, error.args[1]))
        raise InputError(f"computed columns need each other's results: {circle}; leave one of them out") from None
    return ComputedColumns(tuple(columns[name] for name in order), {name: i for i, name in enumerate(names)}, hold)


def _read(name: str, given: Any, plain: tuple[str, ...], *, follows: bool) -> ComputedColumn:
    if callable(given) and not follows:
        return ComputedColumn(name, "", follows, plain, None, given)
    what = "follower" if follows else "formula"
    if not isinstance(given, str) or not given.strip():
        expected = "a formula, such as 'age + (years - years.before)'" if follows else "a formula or a function"
        raise InputError(f"the {what} of {name!r} must be {expected}, got {shown(given)}")
    tree = read_tree(given, before=follows, what="formula")
    inputs = list(dict.fromkeys(_columns(tree)))
    if not _is_arithmetic(tree):
        refuse(given, "it is no number: only + - * / of columns and numbers are computed", what="formula")
    if follows:
        # Its own name stands for the value that it had.
        tree = _own_before(tree, name)
        inputs = [one for one in inputs if one != name]
        if not inputs:
            refuse(given, "it names no other column, so nothing could make it change", what="formula")
    elif not inputs:
        refuse(given, "it names no column", what="formula")
    return ComputedColumn(name, given, follows, tuple(inputs), tree)


def linear_sums(computed: ComputedColumns) -> dict[str, Sum]:
    """Return the computed columns that are sums of columns which are not computed, as such sums.

    A follower is left out if its formula does not give its own value where nothing has changed: then its value is not
    that of the sum in every row.
    """
    sums: dict[str, Sum] = {}
    for one in computed.columns:
        if one.tree is None:
            continue
        try:
            own = sum_of(one.text, one.tree)
        except InputError:
            continue
        total = Sum(own.constant, {})
        for key, factor in own.factors.items():
            if isinstance(key, Column) and key.name in computed.names:
                if key.name not in sums:
                    break
                total = total.plus(sums[key.name].times(factor))
            else:
                total = total.plus(Sum(0, {key: factor}))
        else:
            if not one.follows or _gives_own(one.name, total):
                sums[one.name] = total
    return sums


def _gives_own(name: str, total: Sum) -> bool:
    """Say whether the sum of a follower is its own value in a row that has not changed."""
    in_row: dict[str, Exact] = {}
    for key, factor in total.factors.items():
        in_row[key.name] = in_row.get(key.name, 0) + factor
    return total.constant == 0 and {other: factor for other, factor in in_row.items() if factor} == {name: 1}


def _columns(node: Node | None) -> Iterator[str]:
    return (leaf.name for leaf in _leaves(node) if isinstance(leaf, Column))


def _befores(node: Node | None) -> Iterator[Before]:
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Before))


def _leaves(node: Node | None) -> Iterator[Column | Before]:
    """Yield the columns of a formula, with their present values or those before, from left to right."""
    match node:
        case Column() | Before():
            yield node
        case Negative(of):
            yield from _leaves(of)
        case Arithmetic():
            for part in node.parts:
                yield from _leaves(part)


def _is_arithmetic(node: Node) -> bool:
    match node:
        case Literal(value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case Column() | Before():
            return True
        case Negative(of):
            return _is_arithmetic(of)
        case Arithmetic():
            return all(map(_is_arithmetic, node.parts))
        case _:
            return False


def _own_before(node: Node, name: str) -> Node:
    match node:
        case Column(other) if other == name:
            return Before(name)
        case Negative(of):
            return Negative(_own_before(of, name))
        case Arithmetic(operators, parts):
            return Arithmetic(operators, tuple(_own_before(part, name) for part in parts))
        case _:
            return node


def _value(node: Node, values: Mapping[str, Value], before: Mapping[str, Value]) -> float | None:
    """Compute a formula; None where a value is missing."""
    match node:
        case Literal(value):
            return float(value)  # type: ignore[arg-type] # a number, as `_is_arithmetic` has checked
        case Column(name) | Before(name):
            value = (values if isinstance(node, Column) else before)[name]
            return None if is_missing(value) else float(value)
        case Negative(of):
            found = _value(of, values, before)
            return None if found is None else -found
        case Arithmetic(operators, parts):
            total = _value(parts[0], values, before)
            for operator, part in zip(operators, parts[1:], strict=True):
                other = _value(part, values, before)
                total = None if total is None or other is None else _joined(operator, total, other)
            return total
        case _:  # pragma: no cover # `_is_arithmetic` has refused everything else
            raise AssertionError(node)


def _joined(operator: str, one: float, other: float) -> float:
    match operator:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case _:
            return one / other


def _is_same(one: Value, other: Value) -> bool:
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    return bool(one == other)


def _is_rounded(given: float, value: float) -> bool:
    """Say whether a value may have been rounded, or cut, to the decimals of another one."""
    if abs(given - value) <= NOISE * max(abs(given), abs(value)):
        return True
    text = repr(float(given))
    if "e" in text:
        return False
    unit = 10.0 ** -len(text.partition(".")[2].removesuffix("0"))
    is_cut = abs(given) <= abs(value) < abs(given) + unit and given * value >= 0
    return abs(given - value) <= unit / 2 * (1 + NOISE) or is_cut
