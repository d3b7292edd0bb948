"""Random mixed spaces with every row of them, and random models that are monotone where the space says so.

Nothing here uses flipset's own idea of paths, moves or costs: it is what the searches are checked against.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor
from random import Random
from typing import Any

import numpy as np

from flipset import Feature, Space

MISSING = None


@dataclass(frozen=True)
class Case:
    """A space, a row, a model on plain rows, and what each unit may do according to the words of the documentation."""

    space: Space
    row: tuple[Any, ...]
    score: Callable[[tuple[Any, ...]], float]
    cost: dict[str, Callable[[Any, Any], float]]
    own_bounds: dict[str, Any] = field(default_factory=dict)

    @property
    def named_row(self) -> dict[str, Any]:
        """The row as a table has it, with the bounds of its own."""
        return {**self.own_bounds, **dict(zip(self.space.names, self.row, strict=True))}

    def predict(self, rows: Any) -> Any:
        return np.array([self.score(tuple(_cell(value) for value in row)) for row in rows])

    @property
    def decision(self) -> bool:
        return self.score(self.row) >= 0.5

    def units(self) -> dict[str, list[int]]:
        """Columns by feature or group."""
        found: dict[str, list[int]] = {}
        for i, feature in enumerate(self.space.features):
            found.setdefault(feature.group or feature.name, []).append(i)
        return found

    def allowed(self, i: int) -> list[Any]:
        """All values that a column may have, beginning with the one it has."""
        feature, value = self.space.features[i], self.row[i]
        found = [value]
        if feature.fixed or self.is_held(feature, value):
            return found
        ordinary = value is not MISSING and value not in feature.special
        limits = self.limits(feature, value)
        if feature.direction is None:
            found += [option for option in feature.options if option != value and limits.allow(option)]
        else:
            better = feature.direction if not self.decision else -feature.direction
            scale = limits.scale
            if not ordinary or (feature.may_rise if better > 0 else feature.may_fall):
                order = scale_of(feature)
                found += [
                    candidate
                    for candidate in scale
                    if not ordinary or (place(order, candidate) - place(order, value)) * better > 0
                ]
        found += [code for code in feature.may_become if code != value]
        if feature.missing in ("may become missing", "either way") and value is not MISSING:
            found.append(MISSING)
        return found

    @staticmethod
    def is_held(feature: Feature, value: Any) -> bool:
        """Whether a value stays as it is: a missing one, a code, or a label without a place in the order."""
        if value is MISSING:
            return feature.missing not in ("may be filled", "either way")
        if value in feature.special:
            return value not in feature.may_leave
        return feature.direction is not None and isinstance(value, str) and value not in feature.options

    def limits(self, feature: Feature, value: Any) -> "Limits":
        own = [None if name is None else self.own_bounds[name] for name in (feature.lower_from, feature.upper_from)]
        return Limits(feature, value, *own)

    def every_row(self) -> Iterator[tuple[Any, ...]]:
        one_hot = {group.name: group for group in self.space.groups if group.one_hot}
        columns = []
        for i, feature in enumerate(self.space.features):
            hot = feature.group in one_hot and not feature.fixed and self._is_hot(feature.group)
            columns.append([0, 1] if hot else [self.row[i]] if feature.group in one_hot else self.allowed(i))
        for row in product(*columns):
            if all(self._keeps(group, row) for group in one_hot.values()):
                yield row

    def _keeps(self, group: Any, row: tuple[Any, ...]) -> bool:
        cells = [(row[i], self.row[i]) for i in self.units()[group.name]]
        if not self._is_hot(group.name):
            return True
        ones = sum(cell for cell, _ in cells)
        return ones == 1 or (ones == 0 and (group.may_be_empty or not any(before for _, before in cells)))

    def _is_hot(self, group: Any) -> bool:
        cells = [self.row[i] for i in self.units()[group]]
        return all(cell in (0, 1) for cell in cells) and sum(cells) <= 1

    def changed(self, row: tuple[Any, ...]) -> frozenset[str]:
        return frozenset(unit for unit, columns in self.units().items() if any(row[i] != self.row[i] for i in columns))

    def cost_of(self, row: tuple[Any, ...]) -> Fraction:
        total = Fraction(0)
        for feature, before, after in zip(self.space.features, self.row, row, strict=True):
            if before != after:
                own = self.cost.get(feature.name)
                total += Fraction(str(feature.weight)) * (Fraction(own(before, after)) if own else 1)
        return total


@dataclass(frozen=True)
class Limits:
    """The range of a column in one row, as the documentation has it."""

    feature: Feature
    value: Any
    own_lower: Any
    own_upper: Any

    def ends(self) -> tuple[Any, Any]:
        """The lowest and the highest allowed place on the scale; for levels, positions."""
        feature, value = self.feature, self.value
        levels = list(feature.levels)
        where: Callable[[Any], Any] = levels.index if levels else _decimal
        lower: list[Any] = [0] if levels else []
        upper: list[Any] = [len(levels) - 1] if levels else []
        lower += [where(bound) for bound in (feature.lower, self.own_lower) if bound is not None]
        upper += [where(bound) for bound in (feature.upper, self.own_upper) if bound is not None]
        ordinary = value is not MISSING and value not in feature.special and (not levels or value in levels)
        if ordinary and feature.kind != "categorical":
            start = where(value)
            limits: list[tuple[Any, int, list[Any]]] = [(feature.max_rise, 1, upper), (feature.max_fall, -1, lower)]
            for limit, sign, bounds in limits:
                if limit is not None:
                    is_share = isinstance(limit, str)
                    room = abs(start) * Fraction(limit.rstrip(" %")) / 100 if is_share else _decimal(limit)
                    bounds.append(start + sign * room)
        low, high = max(lower, default=None), min(upper, default=None)
        if feature.kind == "integer":  # a whole number is the furthest that is allowed
            low, high = None if low is None else ceil(low), None if high is None else floor(high)
        return low, high

    def allow(self, option: Any) -> bool:
        """Whether an option of a column without direction is in the range."""
        feature = self.feature
        if feature.kind == "categorical":
            return True
        low, high = self.ends()
        at = list(feature.levels).index(option) if feature.levels else _decimal(option)
        return (low is None or at >= low) and (high is None or at <= high)

    @property
    def scale(self) -> list[Any]:
        """The ordinary values in the range, ascending."""
        low, high = self.ends()
        if low > high:
            return []
        if self.feature.levels:
            return list(self.feature.levels)[int(low) : int(high) + 1]
        # The row's own limits may leave no multiple of the step; those of the feature always leave one.
        return [value for value in scale_of(self.feature) if low <= _decimal(value) <= high]


def _decimal(number: Any) -> Fraction:
    return Fraction(str(number))


def scale_of(feature: Feature) -> list[Any]:
    """The ordinary values a column may be moved to, ascending: its levels or the points of its grid."""
    if feature.kind == "binary":
        return [0, 1]
    if feature.options:
        return list(feature.options)
    step = feature.step or 1
    return [k * step for k in range(-50, 50) if feature.lower <= k * step <= feature.upper]


def place(scale: list[Any], value: Any) -> float:
    if isinstance(value, str):
        return scale.index(value) if value in scale else -1  # a label without a place stays as it is
    return value  # type: ignore[no-any-return]


def _cell(value: Any) -> Any:
    if isinstance(value, float) and np.isnan(value):
        return MISSING
    return value


def draw_case(seed: int, *, margins: bool) -> Case:
    """Draw a space of up to seven columns with few rows in all, a row of it, and a model."""
    rng = Random(f"space/{seed}")
    while True:
        features: list[Feature] = []
        row: list[Any] = []
        for i in range(rng.randrange(1, 8)):
            feature, value = _draw_feature(rng, f"x{i}")
            features.append(feature)
            row.append(value)
        _draw_one_hot(rng, features, row)
        _draw_linked(rng, features)
        space = Space(features)
        case = Case(space, tuple(row), _draw_model(rng, space, margins), _draw_costs(rng, space))
        total = 1
        for i in range(len(row)):
            total *= 2 if features[i].group == "hot" else len(case.allowed(i))
        if total <= 400:
            return case


def _draw_feature(rng: Random, name: str) -> tuple[Feature, Any]:
    kind = rng.choice(["integer", "integer", "numeric", "ordinal", "binary", "categorical", "numeric options"])
    how: dict[str, Any] = {"fixed": rng.random() < 0.1, "weight": 1}
    direction = rng.choice([1, -1])
    if kind in ("integer", "numeric"):
        how["step"] = None if kind == "integer" else rng.choice([0.5, 1.5])
        how["lower"], how["upper"] = (rng.choice([0, 1]), rng.choice([2, 3])) if kind == "integer" else (0.0, 2.0)
        value: Any = rng.randrange(-1, 5) if kind == "integer" else rng.choice([-0.5, 0.25, 0.5, 1.0, 2.0, 2.5])
        if rng.random() < 0.3:
            how["special"] = (-7, -8)
            how["may_become"] = rng.choice([(), (), (-7,), (-7, -8)])
            value = rng.choice([value, value, -7])
        how["missing"] = rng.random() < 0.1
        value = None if rng.random() < 0.1 else value
        how["may_rise"], how["may_fall"] = rng.random() < 0.9, rng.random() < 0.9
    elif kind == "ordinal":
        how["options"] = ("low", "middle", "high")[: rng.choice([2, 3])]
        value = rng.choice(how["options"])
    elif kind == "binary":
        value = rng.choice([0, 1])
    else:
        direction = None  # type: ignore[assignment]
        how["options"] = ("a", "b", "c")[: rng.choice([2, 3])] if kind == "categorical" else (1, 4, 9)
        how["missing"] = rng.random() < 0.1
        value = None if rng.random() < 0.1 else rng.choice(how["options"])
        kind = "categorical" if kind == "categorical" else "numeric"
    if rng.random() < 0.1:
        direction, how["options"] = None, ()  # type: ignore[assignment]
    return Feature(name, kind, direction=direction, **how), value  # type: ignore[arg-type]


def _draw_one_hot(rng: Random, features: list[Feature], row: list[Any]) -> None:
    if rng.random() < 0.3 and len(features) < 5:
        hot = rng.randrange(3)
        for j in range(3):
            features.append(Feature(f"hot{j}", "binary", group="hot"))
            row.append(int(j == hot))


def _draw_linked(rng: Random, features: list[Feature]) -> None:
    if rng.random() < 0.3 and len(features) >= 2:
        first, second = rng.sample(range(len(features)), 2)
        both = features[first], features[second]
        movable = [f.direction is not None and not f.fixed and f.group is None for f in both]
        if all(movable):
            features[first], features[second] = (replace(feature, group="linked") for feature in both)


def _draw_model(rng: Random, space: Space, margins: bool) -> Callable[[tuple[Any, ...]], float]:
    """Draw a model that is monotone in ordered features while they are ordinary, and anything else otherwise."""
    key = rng.random()

    def score(row: tuple[Any, ...]) -> float:
        context: list[Any] = []
        places: dict[int, float] = {}
        for i, (feature, value) in enumerate(zip(space.features, row, strict=True)):
            known = not isinstance(value, str) or value in feature.options
            if feature.direction is not None and value is not MISSING and value not in feature.special and known:
                scale = scale_of(feature)
                places[i] = feature.direction * float(place(scale, value))
            else:
                context.append((i, None if value is None else str(value)))
        # Whole numbers and floats of the same value are the same cell.
        local = Random(f"{key}/{[(i, v.removesuffix('.0') if v else v) for i, v in context]}")
        if margins:
            total = local.uniform(-1, 1) + sum(local.uniform(0, 1.2) * places.get(i, 0) for i in range(len(row)))
            return 0.5 + total - shift
        for _ in range(3):
            term = {i: local.uniform(-3, 3) for i in range(len(row)) if local.random() < 0.5}
            if term and all(places[i] >= least for i, least in term.items() if i in places):
                return 1.0
        return 0.0

    shift = rng.uniform(0, 4)
    return score


def _draw_costs(rng: Random, space: Space) -> dict[str, Callable[[Any, Any], float]]:
    """Costs that grow with the distance, some in steps, so that there are ties; half of the features have their own."""
    costs: dict[str, Callable[[Any, Any], float]] = {}
    for feature in space.features:
        if feature.direction is None:
            continue
        price, block = rng.choice([1, 1, 2, 3.5]), rng.choice([1, 2])
        scale = scale_of(feature)

        def cost(before: Any, after: Any, price: float = price, block: int = block, scale: list[Any] = scale) -> float:
            if any(value is MISSING or value in (-7, -8) for value in (before, after)):
                return 1.0
            return price * (abs(place(scale, after) - place(scale, before)) // block)

        costs[feature.name] = cost
    return costs


def draw_limited(seed: int, *, margins: bool) -> Case:
    """Draw a case whose row has missing values, codes and strange values, with limits that depend on the row."""
    rng = Random(f"limited/{seed}")
    while True:
        case = draw_case(rng.randrange(10**9), margins=margins)
        features, row = list(case.space.features), list(case.row)
        own_bounds: dict[str, Any] = {}
        for i, feature in enumerate(features):
            if feature.group != "hot":
                features[i], row[i] = _draw_limits(rng, feature, row[i], own_bounds)
        hot = [i for i, feature in enumerate(features) if feature.group == "hot"]
        if hot and rng.random() < 0.2:
            row[rng.choice(hot)] = rng.choice([MISSING, 2, 1])
        space = Space(features, case.space.groups)
        costs = _draw_costs(rng, space)
        made = Case(space, tuple(row), _draw_model(rng, space, margins), costs, own_bounds)
        total = 1
        for i in range(len(row)):
            total *= 2 if features[i].group == "hot" else len(made.allowed(i))
        if 1 < total <= 400:
            return made


def _draw_limits(rng: Random, feature: Feature, value: Any, own_bounds: dict[str, Any]) -> tuple[Feature, Any]:
    how: dict[str, Any] = {"missing": rng.choice(["stays", "may be filled", "may become missing", "either way"])}
    how["may_leave"] = tuple(code for code in feature.special if rng.random() < 0.5)
    if feature.kind == "categorical":
        return replace(feature, **how), "unheard of" if rng.random() < 0.2 else value
    levels = bool(feature.levels)
    for name in ("max_rise", "max_fall"):
        if rng.random() < 0.4:
            how[name] = rng.choice([0, 1, 2]) if levels else rng.choice([0, 1, 0.75, "50 %", "12.5 %", "200 %"])
    for name in ("lower_from", "upper_from"):
        if rng.random() < 0.25 and feature.kind != "binary":
            how[name] = f"{feature.name}_{name}"
            bounds = [*feature.options, None] if levels else [None, 0, 1, 1.25, 2, 3, -4]
            own_bounds[how[name]] = rng.choice(bounds)
    if feature.kind == "ordinal" and rng.random() < 0.15:
        value = "unheard of"
    return replace(feature, **how), value
