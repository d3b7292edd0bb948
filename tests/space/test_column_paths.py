"""The paths of columns in arrays are those of single rows, value by value."""

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Feature, Space
from flipset.space import column_paths as module
from flipset.space.column_paths import ColumnPaths, column_paths
from flipset.space.moves import find_moves
from flipset.space.rows import Row, check_row


def draw_feature(rng: Random, name: str) -> Feature:
    direction: Any = rng.choice((1, -1))
    kind = rng.choice(("integer", "binary", "numeric", "ordinal", "ordinal", "fixed"))
    how: dict[str, Any] = {}
    if rng.random() < 0.3:
        how["special"] = rng.choice(((-7,), (-7, -8), (99,)))
    if rng.random() < 0.25:
        how[rng.choice(("may_rise", "may_fall"))] = False
    if kind == "fixed":
        return Feature(name, fixed=True)
    if kind == "binary":
        return Feature(name, "binary", direction=direction, **how)
    if kind == "ordinal":
        return Feature(name, "ordinal", direction=direction, options=tuple(rng.sample(range(8), rng.randint(2, 5))))
    lower = rng.randint(0, 3)
    how |= {"lower": lower, "upper": lower + rng.randint(1, 6)}
    if kind == "numeric":
        how["step"] = rng.choice((0.5, 0.25, None))
    return Feature(name, "integer" if kind == "integer" else "numeric", direction=direction, **how)


def draw_cell(rng: Random, feature: Feature) -> float | None:
    if rng.random() < 0.1:
        return None
    if feature.special and rng.random() < 0.2:
        return float(rng.choice(feature.special))
    return float(rng.choice((rng.randint(-1, 10), rng.randint(0, 1), rng.randint(0, 16) / 2)))


def as_cells(column: list[Any]) -> Any:
    return np.array([np.nan if value is None else value for value in column], dtype=float)


def units_of(space: Space, row: list[Any], *, raise_score: bool) -> dict[int, Any]:
    """Return the values that each column of a row may move to, in order."""
    moves = find_moves(space, check_row(space, Row.of(row)), raise_score=raise_score)
    paths = [path for unit in moves.units for path in unit.options[0].paths]
    return {column: list(path.values) for column, path in paths}


@pytest.mark.parametrize("with_reference", [False, True])
def test_they_are_those_of_single_rows(with_reference: bool) -> None:
    kinds = Counter[str]()
    for seed in range(150):
        rng = Random(f"{seed}/{with_reference}")
        features = [draw_feature(rng, f"x{i}") for i in range(rng.randint(1, 4))]
        rows = [[draw_cell(rng, feature) for feature in features] for _ in range(8)]
        space = Space(features)
        if with_reference:
            seen = {f.name: as_cells([draw_cell(rng, f) for _ in range(20)]) for f in features}
            space = Space(features, reference=pd.DataFrame(seen))
            rows = [[float("nan") if value is None else float(value) for value in row] for row in rows]
        paths = column_paths(space)
        if paths is None:
            kinds["none"] += 1
            continue
        for raise_score in (False, True):
            places = {
                column: path.places(as_cells([row[column] for row in rows]))
                for column, path in zip(paths.columns, paths.towards(raise_score=raise_score), strict=True)
            }
            for k, row in enumerate(rows):
                expected = units_of(space, row, raise_score=raise_score)
                for path, column in zip(paths.towards(raise_score=raise_score), paths.columns, strict=True):
                    place = int(places[column][k])
                    assert place >= 0, "no cell may leave its code here"
                    assert path.values[place:].tolist() == expected.get(column, []), (seed, row, column)
                    kinds["moves" if column in expected else "stays"] += 1
                assert expected.keys() <= set(paths.columns)
    assert min(kinds["moves"], kinds["stays"]) > 200, kinds


def test_cells_that_move_in_another_way_have_no_place() -> None:
    """From a code that may be left, or a missing value that may be filled, the first value is not the next better."""
    feature = Feature(
        "x", "integer", direction=+1, lower=0, upper=5, special=(-7, -8), may_leave=(-7,), missing="may be filled"
    )
    paths = column_paths(Space([feature]))
    assert paths is not None
    (rising,) = paths.towards(raise_score=True)
    assert rising.places(np.array([-7.0, -8.0, np.nan, 2.0, 5.0, 9.0])).tolist() == [-1, 6, -1, 3, 6, 6]


@pytest.mark.parametrize(
    "features",
    [
        [Feature("x", "categorical", options=("a", "b"))],
        [Feature("x", "ordinal", direction=+1, options=("low", "high"))],
        [Feature("x", "integer", direction=+1, lower=0, upper=5, max_rise=2)],
        [Feature("x", "integer", direction=+1, lower=0, upper=5, lower_from="least")],
        [Feature("x", "integer", direction=+1, lower=0, upper=5, special=(-7,), may_become=(-7,))],
        [Feature("x", "integer", direction=+1, lower=0, upper=5, missing="may become missing")],
        [Feature("x", "integer", direction=+1, lower=0, upper=2**60)],
        [Feature("x", fixed=True)],
        [Feature("x", "binary", direction=+1), Feature("y", "categorical", options=(1, 2))],
    ],
)
def test_for_columns_that_move_in_other_ways_there_are_none(features: list[Feature]) -> None:
    assert column_paths(Space(features)) is None


def test_rules_groups_and_computed_columns_have_none() -> None:
    a, b = (Feature(name, "integer", direction=+1, lower=0, upper=5) for name in "ab")
    assert column_paths(Space([a, b])) is not None
    assert column_paths(Space([a, b], constraints=["a <= b"])) is None
    grouped = [Feature(name, "integer", direction=+1, lower=0, upper=5, group="g") for name in "ab"]
    assert column_paths(Space(grouped)) is None


def test_paths_that_would_be_too_long_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=99)])
    assert column_paths(space) is not None
    monkeypatch.setattr(module, "MOST_VALUES", 99)
    assert column_paths(space) is None


@pytest.mark.parametrize("kind", ["float32", "Int64", "object"])
def test_columns_whose_type_changes_values_are_left_out(kind: str) -> None:
    """A narrow float rounds each path by itself; columns of other types hold no plain numbers."""
    frame = pd.DataFrame({"x": pd.array([1, 2, 3], dtype=kind)})
    feature = Feature("x", direction=+1, lower=0, upper=5, step=0.25 if kind == "float32" else 1)
    assert column_paths(Space([feature], reference=frame)) is None


def counts(paths: ColumnPaths, seen: list[float]) -> None:
    for path in (*paths.falling, *paths.rising):
        values: list[float] = path.values.tolist()
        below = [[s <= value if path.rising else s < value for s in seen] for value in values]
        assert path.passed.tolist() == list(map(sum, below))


def test_what_was_seen_is_counted() -> None:
    seen = [1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 5.0]
    frame = pd.DataFrame({"x": [*seen, -7.0, np.nan]})
    feature = Feature("x", direction=-1, lower=0, upper=6, step=0.5, special=(-7,))
    space = Space([feature], reference=frame)
    paths = column_paths(space)
    assert paths is not None
    assert paths.seen == (7,)  # neither codes nor missing values
    counts(paths, seen)
    (rising,), (falling,) = (paths.towards(raise_score=one) for one in (False, True))
    assert (rising.rising, falling.rising) == (True, False)
    assert space.reference is not None
    cells = np.array([4.0, 0.5, 4.0, 9.0])
    assert rising.seen_before(cells, space.reference).tolist() == [6, 0, 6, 7]
    assert falling.seen_before(cells, space.reference).tolist() == [3, 0, 3, 7]


def test_levels_are_counted_by_their_places() -> None:
    frame = pd.DataFrame({"x": [30, 10, 20, 20, 77]})
    paths = column_paths(Space([Feature("x", "ordinal", direction=+1, options=(10, 20, 30))], reference=frame))
    assert paths is not None
    assert paths.seen == (4,)  # 77 has no place
    counts(paths, [10, 20, 20, 30])
    # Levels in another order than that of their numbers have no path that a search among numbers could use.
    assert column_paths(Space([Feature("x", "ordinal", direction=+1, options=(10, 30, 20))], reference=frame)) is None
