"""Random mixed spaces with every row of them, and random models that are monotone where the space says so.

Nothing here uses flipset's own idea of paths, moves or costs: it is what the searches are checked against.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
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
        if feature.fixed:
            return found
        if feature.direction is None:
            found += [option for option in feature.options if option != value]
        else:
            ordinary = value is not MISSING and value not in feature.special
            better = feature.direction if not self.decision else -feature.direction
            scale = scale_of(feature)
            if not ordinary or (feature.may_rise if better > 0 else feature.may_fall):
                found += [
                    candidate
                    for candidate in scale
                    if not ordinary or (place(scale, candidate) - place(scale, value)) * better > 0
                ]
        found += [code for code in feature.may_become if code != value]
        if feature.missing and value is not MISSING:
            found.append(MISSING)
        return found

    def every_row(self) -> Iterator[tuple[Any, ...]]:
        one_hot = {group.name: group for group in self.space.groups if group.one_hot}
        columns = []
        for i, feature in enumerate(self.space.features):
            columns.append([0, 1] if feature.group in one_hot and not feature.fixed else self.allowed(i))
        for row in product(*columns):
            if all(self._keeps(group, row) for group in one_hot.values()):
                yield row

    def _keeps(self, group: Any, row: tuple[Any, ...]) -> bool:
        cells = [(row[i], self.row[i]) for i in self.units()[group.name]]
        ones = sum(cell for cell, _ in cells)
        return ones == 1 or (ones == 0 and (group.may_be_empty or not any(before for _, before in cells)))

    def changed(self, row: tuple[Any, ...]) -> frozenset[str]:
        return frozenset(unit for unit, columns in self.units().items() if any(row[i] != self.row[i] for i in columns))

    def cost_of(self, row: tuple[Any, ...]) -> Fraction:
        total = Fraction(0)
        for feature, before, after in zip(self.space.features, self.row, row, strict=True):
            if before != after:
                own = self.cost.get(feature.name)
                total += Fraction(str(feature.weight)) * (Fraction(own(before, after)) if own else 1)
        return total


def scale_of(feature: Feature) -> list[Any]:
    """The ordinary values a column may be moved to, ascending: its levels or the points of its grid."""
    if feature.kind == "binary":
        return [0, 1]
    if feature.options:
        return list(feature.options)
    step = feature.step or 1
    points = {k * step for k in range(-50, 50) if feature.lower <= k * step <= feature.upper}
    return sorted(points | {feature.lower, feature.upper})


def place(scale: list[Any], value: Any) -> float:
    return scale.index(value) if isinstance(value, str) else value


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
        from dataclasses import replace

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
            if feature.direction is not None and value is not MISSING and value not in feature.special:
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
