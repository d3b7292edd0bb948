"""What a change costs: shares of a population, counted by hand; functions of one's own, checked."""

from fractions import Fraction
from random import Random
from typing import Any

import pandas as pd
import pytest

from flipset import Feature, InputError, Space, range_share
from flipset.space.path import Path, find_path
from flipset.space.reference import Reference
from flipset.values.costs import (
    OTHER,
    Positions,
    all_in_units,
    check_cost,
    common_unit,
    cost_along,
    cost_of_becoming,
    costs_in_units,
    share_passed,
)


def path_of(feature: Feature, before: Any, reference: Reference | None = None, *, up: bool = True) -> Path:
    path = find_path(feature, before, raise_score=up, reference=reference)
    assert path is not None
    return path


def test_the_share_of_the_population_that_is_passed_is_counted() -> None:
    for seed in range(80):
        rng = Random(seed)
        seen = [rng.randint(0, 9) for _ in range(rng.randint(1, 25))]
        reference = Reference.of(pd.DataFrame({"x": seen}))
        feature = Feature("x", "integer", direction=rng.choice([1, -1]), lower=0, upper=9, weight=rng.choice([1, 2.5]))
        before = rng.randint(1, 8)
        up = rng.random() < 0.5
        path = path_of(feature, before, reference, up=up)
        along = cost_along(path, None, reference)
        for j, value in enumerate(path.values):
            passed = sum(before < one <= value if path.rising else value <= one < before for one in seen)
            assert along(j) == Fraction(str(feature.weight)) * Fraction(passed, len(seen)), seed


def test_costs_in_units_are_the_same_numbers_as_whole_ones() -> None:
    for seed in range(60):
        rng = Random(seed)
        table = pd.DataFrame({"x": [rng.random() for _ in range(7)], "y": [rng.random() for _ in range(7)]})
        reference = Reference.of(table)
        weight = rng.choice([1, 0.5])
        features = [Feature(name, direction=+1, lower=0, upper=1, weight=weight) for name in "xy"]
        space = Space(features, reference=reference)
        unit = common_unit(space)
        path = path_of(features[0], rng.random() / 2, reference)
        lazy = costs_in_units(path, None, reference, unit)
        along = cost_along(path, None, reference)
        assert list(lazy) == [0, *(along(j) * unit for j in range(len(path.values)))]
        assert all(isinstance(cost, int) for cost in lazy)
        assert all_in_units(path, reference, unit) in (None, list(lazy))


def test_the_cost_of_a_position_is_computed_once_however_it_is_read() -> None:
    computed: list[int] = []

    def along(j: int) -> int:
        computed.append(j)
        return 10 * j + 1

    positions = Positions(along, 3)
    assert [positions[0], positions[2], positions[2], positions[-1], positions[1:]] == [0, 11, 11, 21, [1, 11, 21]]
    assert list(positions) == [0, 1, 11, 21]
    assert sorted(computed) == [0, 1, 2]
    for outside in (4, -5):
        with pytest.raises(IndexError):
            positions[outside]


def test_without_a_population_it_is_the_share_of_the_range() -> None:
    feature = Feature("x", "integer", direction=+1, lower=0, upper=8)
    path = path_of(feature, 2)
    for measure in (share_passed, range_share):
        along = measure(path, None)
        assert [along(j) for j in range(len(path.values))] == [Fraction(k, 8) for k in range(1, 7)]


def test_levels_cost_by_their_places_and_a_missing_value_starts_at_the_worst() -> None:
    feature = Feature("grade", "ordinal", direction=+1, options=("low", "middle", "high"))
    assert range_share(path_of(feature, "low"), None)(0) == Fraction(1, 2)
    path = path_of(feature, None)
    assert list(path.values) == ["low", "middle", "high"]
    assert [range_share(path, None)(j) for j in range(3)] == [0, Fraction(1, 2), 1]


def test_becoming_something_outside_an_order_costs_the_whole_population_unless_told() -> None:
    feature = Feature("kind", "categorical", options=("a", "b"), weight=3)
    assert cost_of_becoming(feature, "a", "b", None) == 3 * OTHER
    assert cost_of_becoming(feature, "a", "b", {"kind": lambda before, after: 0.25}) == Fraction(3, 4)


FEATURE = Feature("x", "integer", direction=+1, lower=0, upper=8)


def test_a_cost_that_falls_is_refused_in_whichever_order_it_is_asked() -> None:
    def falls(before: int, after: int) -> float:
        return 3.0 if after < 5 else 1.0

    for asked in ((0, 5), (5, 0), (7, 2)):
        along = cost_along(path_of(FEATURE, 0), {"x": falls}, None)
        with pytest.raises(InputError, match="its cost falls from"):
            [along(j) for j in asked]


@pytest.mark.parametrize("said", [-1.0, float("nan"), float("inf"), "much", None])
def test_a_cost_is_a_number_from_0(said: Any) -> None:
    along = cost_along(path_of(FEATURE, 0), {"x": lambda before, after: said}, None)
    with pytest.raises(InputError, match="expected a finite number of at least 0"):
        along(0)


def test_a_cost_that_raises_is_named() -> None:
    along = cost_along(path_of(FEATURE, 0), {"x": lambda before, after: 1 / 0}, None)
    with pytest.raises(InputError, match="'x': its cost from 0 to 1 raised ZeroDivisionError"):
        along(0)


def test_a_measure_of_ones_own_must_be_one() -> None:
    with pytest.raises(InputError, match="not a measure"):
        cost_along(path_of(FEATURE, 0), lambda path: 1.0, None)  # type: ignore[arg-type,misc]
    along = cost_along(path_of(FEATURE, 0), lambda path, reference: lambda j: Fraction(j + 1, 100), None)
    assert along(3) == Fraction(4, 100)


@pytest.mark.parametrize(
    ("cost", "message"),
    [(3, "a measure such as"), ({"y": abs}, "names 'y'"), ({"x": 3}, r"cost\['x'\] must be a func")],
)
def test_what_is_no_cost_is_refused(cost: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_cost(cost, ("x",))
