"""Random spaces with rules between columns, with every row that the rules allow.

The rules are drawn as data, and decided here on whole rows, with exact numbers. Nothing here uses flipset's own way to
read a constraint or to apply it. The models refuse every row that breaks a rule or in which a computed column has
another value than its formula.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset import Feature, InputError, Space
from tests.spaces import MISSING, Case, draw_case, draw_limited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Cells: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = "dict[str, Any]"

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Sum:
    """A number, and columns with factors, as decimals in texts."""

    parts: tuple[tuple[str, str], ...]
    constant: int = 0

    @property
    def text(self) -> str:
        terms = [name if factor == "1" else f"{factor} * {name}" for factor, name in self.parts]
        if self.constant or not terms:
            terms.append(str(self.constant))
        return " + ".join(terms)

    def value(self, values: Columns) -> Fraction:
        return self.constant + sum((Fraction(factor) * number(values[name]) for factor, name in self.parts), Fraction())


@dataclass(frozen=True)
class Chain:
    """Sums with comparisons between them."""

    sums: tuple[Sum, ...]
    operators: tuple[str, ...]

    @property
    def text(self) -> str:
        later = zip(self.operators, self.sums[1:], strict=True)
        return self.sums[0].text + "".join(f" {one} {part.text}" for one, part in later)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for one in self.sums for _, name in one.parts)

    def pairs(self) -> Iterator[tuple[tuple[str, ...], str, Callable[[Columns], Fraction]]]:
        """For each comparison: its columns, what it must be to 0, and by how much the left side is larger."""
        for one, left, right in zip(self.operators, self.sums, self.sums[1:], strict=False):
            names = tuple(name for side in (left, right) for _, name in side.parts)
            yield names, one, lambda values, left=left, right=right: left.value(values) - right.value(values)  # type: ignore[misc]


@dataclass(frozen=True)
class Condition:
    """One column compared with a value, or with several."""

    name: str
    operator: str
    values: tuple[Any, ...]

    @property
    def text(self) -> str:
        if self.operator == "in":
            return f"{self.name} in [{', '.join(map(repr, self.values))}]"
        return f"{self.name} {self.operator} {self.values[0]!r}"

    def holds(self, values: Columns) -> bool:
        value = values[self.name]
        if self.operator == "in":
            return value in self.values
        if self.operator not in ("==", "!=") and isinstance(value, str):
            return False  # a text is neither above nor below a number
        return COMPARE[self.operator](value, self.values[0])


@dataclass(frozen=True)
class Implication:
    """Where one condition holds, the other must."""

    if_: Condition
    then: Condition

    @property
    def text(self) -> str:
        return f"{self.if_.text} implies {self.then.text}"

    @property
    def names(self) -> tuple[str, ...]:
        return self.if_.name, self.then.name

    def holds(self, values: Columns) -> bool:
        return not self.if_.holds(values) or self.then.holds(values)


@dataclass(frozen=True)
class Together:
    """One column moves only if another one does."""

    mover: str
    needs: str

    @property
    def text(self) -> str:
        return f"if {self.mover} moves then {self.needs} moves"


Rule: TypeAlias = Chain | Implication | Together


@dataclass(frozen=True)
class Computed:
    """A computed column: its formula in words and in Python, and how the score follows it."""

    name: str
    text: str
    inputs: tuple[str, ...]
    compute: Callable[[Columns, Columns], float]
    weight: float
    follows: bool = False
    is_function: bool = False


def number(value: Any) -> Fraction:
    return Fraction(str(value)) if not isinstance(value, bool) else Fraction(int(value))


@dataclass(frozen=True)
class RuleCase:
    """A case with rules: `plain` has the columns that are not computed, and knows nothing of rules."""

    plain: Case
    rules: tuple[Rule, ...]
    computed: tuple[Computed, ...]
    space: Space
    labels: bool
    base: Callable[[Cells], float]
    shift: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    @cached_property
    def before(self) -> Columns:
        return self.complete(dict(zip(self.plain.space.names, self.plain.row, strict=True)), self.own)

    @cached_property
    def own(self) -> Columns:
        """The row with the values that followers have in it."""
        values = dict(zip(self.plain.space.names, self.plain.row, strict=True))
        return values | {one.name: 3 for one in self.computed if one.follows}

    @property
    def named_row(self) -> Columns:
        return {**self.plain.own_bounds, **self.before}

    def complete(self, values: Columns, before: Columns) -> Columns:
        """The row with its computed columns."""
        full = before | values
        for one in self.computed:
            moved = any(name not in before or full[name] != before[name] for name in one.inputs)
            if moved or one.name not in before:
                missing = any(full[name] is MISSING for name in one.inputs)
                full[one.name] = MISSING if missing else one.compute(full, before)
        return full

    def is_ordinary(self, name: str, value: Any) -> bool:
        """Whether rules speak of a value: neither missing nor a code."""
        return value is not MISSING and value not in self.space[name].special

    def concerns(self, names: tuple[str, ...], values: Columns) -> bool:
        return all(self.is_ordinary(name, values[name]) for name in names)

    def keeps(self, values: Columns) -> bool:
        """Whether a row keeps every rule, or stays within what the row itself breaks."""
        return all(self._keeps(rule, values) for rule in self.rules)

    def breaks(self, rule: Rule) -> bool:
        """Whether the row itself breaks a rule."""
        if isinstance(rule, Together):
            return False
        if isinstance(rule, Implication):
            return self.concerns(rule.names, self.before) and not rule.holds(self.before)
        return any(
            self.concerns(names, self.before)
            and not any(isinstance(self.before[name], str) for name in names)
            and not COMPARE[one](excess(self.before), 0)
            for names, one, excess in rule.pairs()
        )

    def _keeps(self, rule: Rule, values: Columns) -> bool:
        if isinstance(rule, Together):
            moved = {name for name in (rule.mover, rule.needs) if values[name] != self.before[name]}
            return rule.mover not in moved or rule.needs in moved
        if isinstance(rule, Implication):
            return not self.concerns(rule.names, values) or self.breaks(rule) or rule.holds(values)
        return all(
            self._keeps_pair(names, one, excess, values)
            for names, one, excess in rule.pairs()
            if self.concerns(names, values) and not any(isinstance(values[name], str) for name in names)
        )

    def _keeps_pair(
        self, names: tuple[str, ...], one: str, excess: Callable[[Columns], Fraction], values: Columns
    ) -> bool:
        now = excess(values)
        own = excess(self.before) if self.concerns(names, self.before) else None
        for sign, words in ((1, ("<=", "<", "==")), (-1, (">=", ">", "=="))):
            if one in words:
                strict = one in "<>"
                if (now * sign < 0) or (now == 0 and not strict):
                    continue
                # The row itself breaks it, and this is no further from it.
                is_broken = own is not None and (own * sign > 0 or (own == 0 and strict))
                if not is_broken or own is None or now * sign > own * sign:
                    return False
        return True

    def every_row(self) -> Iterator[tuple[frozenset[str], Fraction, Columns]]:
        """Every allowed row, with the units that move in it, and what it costs."""
        for raw in self.plain.every_row():
            full = self.complete(dict(zip(self.plain.space.names, raw, strict=True)), self.before)
            if self.keeps(full):
                yield self.plain.changed(raw), self.plain.cost_of(raw), full

    def raw_score(self, values: Columns) -> float:
        score = self.base(tuple(values[name] for name in self.plain.space.names))
        for one in self.computed:
            if values[one.name] is not MISSING:
                score += one.weight * values[one.name]
        return score - self.shift

    def score(self, values: Columns) -> float:
        score = self.raw_score(values)
        return float(score >= 0.5) if self.labels else score

    @property
    def decision(self) -> bool:
        return self.score(self.before) >= 0.5

    def predict(self, rows: Any) -> Any:
        """The model: it refuses rows that break a rule."""
        return np.array([self._ask(dict(zip(self.names, map(_cell, row), strict=True))) for row in rows])

    def _ask(self, values: Columns) -> float:
        for one in self.computed:
            expected = self.complete({name: values[name] for name in self.plain.space.names}, self.before)[one.name]
            if values[one.name] != expected:
                raise AssertionError(f"{one.name} is {values[one.name]}, not {expected}, in {values}")
        if not self.keeps(values):
            raise AssertionError(f"a rule is broken in {values}")
        return self.score(values)

    @property
    def weight(self) -> dict[str, Fraction]:
        return {one.group or one.name: number(one.weight) for one in self.plain.space.features}


def _cell(value: Any) -> Any:
    return MISSING if isinstance(value, float) and np.isnan(value) else value


def draw_rule_case(seed: int) -> RuleCase:
    """Draw a space with rules that can be kept, a row of it, and a model."""
    rng = Random(f"rules/{seed}")
    while (case := _drawn(rng)) is None:
        pass
    wanted = rng.choice([0.5, -2.2, -0.7, 1.3, 2.9])
    case = replace(case, shift=case.raw_score(case.before) - wanted)
    # What may move depends on the decision, and so on the computed columns, too.
    decision = float(case.decision)
    return replace(case, plain=replace(case.plain, score=lambda row: decision))


def _drawn(rng: Random) -> RuleCase | None:
    """Draw a space with rules; None if the rules cannot be kept, or there is little to rule."""
    draw = draw_ordered_case if rng.random() < 0.5 else draw_limited if rng.random() < 0.5 else draw_case
    plain = draw(rng.randrange(10**9), margins=rng.random() < 0.5)
    if rng.random() < 0.2:
        plain = _with_weights(rng, plain)
    labels = rng.random() < 0.3
    numbers = [one.name for one in plain.space.features if _is_number(one)]
    if len(numbers) < 2 or len(plain.row) < 2:
        return None
    computed = _draw_computed(rng, plain, numbers) if rng.random() < 0.4 else ()
    rules = _draw_rules(rng, plain, numbers, computed)
    try:
        space = Space(
            [*plain.space.features, *(Feature(one.name) for one in computed)],
            plain.space.groups,
            constraints=[rule.text for rule in rules],
            derived={one.name: _derived(one) for one in computed if not one.follows},
            follows={one.name: one.text for one in computed if one.follows},
        )
    except InputError as error:
        assert "cannot be kept" in str(error), error
        return None
    return RuleCase(plain, rules, computed, space, labels, plain.score)


def draw_ordered_case(seed: int, *, margins: bool) -> Case:
    """Draw a case of numbers that follow an order, some fixed: the table search takes it."""
    rng = Random(f"ordered/{seed}")
    features: list[Feature] = []
    row: list[Any] = []
    for i in range(rng.randint(2, 5)):
        lower = rng.randint(0, 2)
        upper = lower + rng.randint(1, 4 if i < 4 else 2)
        direction = rng.choice([1, -1])
        how: dict[str, Any] = {"direction": direction, "lower": lower, "upper": upper, "fixed": rng.random() < 0.1}
        features.append(Feature(f"x{i}", "integer", **how))
        row.append(rng.randint(0, 6))
    factors = [rng.choice([0, 0.5, 1, 1.25, 2, 3]) * (one.direction or 0) for one in features]
    pull = 0.5 - sum(a * b for a, b in zip(factors, row, strict=True)) - rng.choice([-4.1, -2.1, -0.6, 1.1, 2.6, 5.1])

    def score(cells: Cells) -> float:
        total = pull + sum(a * b for a, b in zip(factors, cells, strict=True))
        return total if margins else float(total >= 0.5)

    space = Space(features)
    costs = {} if rng.random() < 0.6 else {one.name: _cost(rng.choice([1, 2, 3.5])) for one in features}
    return _Scaled(space, tuple(row), score, costs)


def _cost(price: float) -> Callable[[Any, Any], float]:
    return lambda before, after: price * (abs(after - before) // 2)


class _Scaled(Case):
    """A case whose costs are shares of each column's range, where no cost is its own."""

    def cost_of(self, row: Cells) -> Fraction:
        total = Fraction(0)
        for feature, before, after in zip(self.space.features, self.row, row, strict=True):
            if before != after:
                own = self.cost.get(feature.name)
                span = Fraction((feature.upper or 0) - (feature.lower or 0))
                amount = Fraction(abs(after - before)) / span if own is None else Fraction(own(before, after))
                total += Fraction(str(feature.weight)) * amount
        return total


def _with_weights(rng: Random, plain: Case) -> Case:
    weights = {one.group or one.name: rng.choice([1, 2, 0.5]) for one in plain.space.features}
    features = [replace(one, weight=weights[one.group or one.name]) for one in plain.space.features]
    return replace(plain, space=Space(features, plain.space.groups))


def _is_number(feature: Feature) -> bool:
    options = feature.levels or feature.options
    is_text = feature.kind in ("categorical", "ordinal") and not options
    return not is_text and feature.kind != "categorical" and not any(isinstance(one, str) for one in options)


def _derived(one: Computed) -> Any:
    return Function(one) if one.is_function else one.text


@dataclass(frozen=True)
class Function:
    """A derived column as a function of the row's other columns."""

    of: Computed

    def __call__(self, row: Any) -> Any:
        if any(row[name] is MISSING for name in self.of.inputs):
            return None
        return self.of.compute(dict(row), {})


def _draw_computed(rng: Random, plain: Case, numbers: list[str]) -> tuple[Computed, ...]:
    """Draw sums, ratios and followers. A score follows each of them only if the directions of its columns agree."""
    found: list[Computed] = []
    sign = {one.name: one.direction or 0 for one in plain.space.features}
    special = {one.name for one in plain.space.features if one.special or one.missing != "stays"}
    for j in range(rng.choice([1, 1, 2])):
        name = f"c{j}"
        a, b = rng.sample(numbers, 2)
        kind = rng.choice(["sum", "sum", "ratio", "follower", "nested"])
        weight = rng.choice([0.0, 0.5, 1.0])
        ordered = {a, b}.isdisjoint(special)
        if kind == "sum":
            agree = sign[a] == sign[b] and ordered
            weight *= sign[a] * agree
            is_function = rng.random() < 0.2
            found.append(Computed(name, f"{a} + 2 * {b}", (a, b), _sum_of(a, b), weight, is_function=is_function))
        elif kind == "ratio":
            # Non-negative values only: a special code or a row below 0 would turn the direction.
            low = [plain.space[one].lower for one in (a, b)]
            row = dict(zip(plain.space.names, plain.row, strict=True))
            safe = ordered and all(isinstance(one, (int, float)) and one >= 0 for one in low)
            safe = safe and all(row[one] is not None and row[one] >= 0 for one in (a, b))
            weight *= sign[a] * (safe and sign[a] == -sign[b])
            found.append(Computed(name, f"{a} / ({b} + 20)", (a, b), _ratio_of(a, b), weight))
        elif kind == "nested" and found and not found[-1].is_function:
            of = found[-1]
            found.append(Computed(name, f"-{of.name} + 1", (of.name,), _turned(of.name), -weight * _sign(of.weight)))
        else:
            weight *= sign[a] * (a not in special)
            found.append(Computed(name, f"{name} + ({a} - {a}.before)", (a,), _after(name, a), weight, follows=True))
    return tuple(found)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _sum_of(a: str, b: str) -> Callable[[Columns, Columns], float]:
    return lambda row, before: row[a] + 2 * row[b]


def _ratio_of(a: str, b: str) -> Callable[[Columns, Columns], float]:
    return lambda row, before: row[a] / (row[b] + 20)


def _turned(name: str) -> Callable[[Columns, Columns], float]:
    return lambda row, before: -row[name] + 1


def _after(name: str, a: str) -> Callable[[Columns, Columns], float]:
    def compute(row: Columns, before: Columns) -> Any:
        if name not in before or before.get(a) is MISSING:
            return before.get(name) if before.get(a) is not MISSING else MISSING
        return before[name] + (row[a] - before[a])

    return compute


def _draw_rules(rng: Random, plain: Case, numbers: list[str], computed: tuple[Computed, ...]) -> tuple[Rule, ...]:
    linear = [one.name for one in computed if not one.is_function and "/" not in one.text]
    linear = [name for name in linear if not any("/" in one.text or one.is_function for one in computed)]
    rules: list[Rule] = []
    for _ in range(rng.choice([0, 1, 1, 2, 3]) if computed else rng.choice([1, 1, 2, 3])):
        among = [*numbers, *linear]
        kind = rng.random()
        if kind < 0.3:
            names = rng.sample(among, min(len(among), rng.choice([2, 2, 3])))
            operators = [rng.choice(["<=", "<=", "<=", ">=", "<", "=="]) for _ in names[1:]]
            rules.append(Chain(tuple(Sum((("1", name),)) for name in names), tuple(operators)))
        elif kind < 0.6:
            names = rng.sample(among, min(len(among), rng.choice([2, 3, 3])))
            cut = rng.randint(1, len(names))
            parts = [(rng.choice(["1", "1", "1", "0.5", "2", "1.5"]), name) for name in names]
            sums = Sum(tuple(parts[:cut])), Sum(tuple(parts[cut:]), rng.randint(-3, 6))
            rules.append(Chain(sums, (rng.choice(["<=", ">=", "<=", ">=", "==", "<", ">"]),)))
        elif kind < 0.85:
            names = rng.sample(list(plain.space.names), 2)
            left, right = (_draw_condition(rng, plain, name) for name in names)
            rules.append(Implication(left, right))
        else:
            rules.append(Together(*rng.sample(list(plain.space.names), 2)))
    return tuple(rules)


def _draw_condition(rng: Random, plain: Case, name: str) -> Condition:
    feature = plain.space[name]
    if not _is_number(feature):
        values = feature.levels or feature.options or ("a",)
        return Condition(name, rng.choice(["==", "!="]), (rng.choice(values),))
    if rng.random() < 0.15:
        return Condition(name, "in", tuple(rng.sample(range(5), 2)))
    return Condition(name, rng.choice(["==", "!=", "<=", ">=", "<", ">"]), (rng.choice([0, 1, 1, 2, 2.5, 3, 4]),))
