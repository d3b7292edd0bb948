"""Columns bound by rules become the same in arrays as row by row."""

from __future__ import annotations

from random import Random
from typing import Literal

import numpy as np

from flipset import Feature, Space
from flipset.explain.bound_columns import BoundColumns
from flipset.space.moves import find_moves
from flipset.space.rows import read_row

DIRECTIONS: dict[str, Literal[1, -1]] = {"a": 1, "b": 1, "c": -1, "free": 1}


def space_with_rules() -> Space:
    return Space(
        [
            *(Feature(name, "integer", direction=sign, lower=0, upper=9) for name, sign in DIRECTIONS.items()),
            Feature("s"),
        ],
        constraints=["a <= b"],
        derived={"s": "b / (c + 10)"},
    )


def test_random_queries() -> None:
    rng = Random(5)
    space = space_with_rules()
    bound = BoundColumns(space, [0, 1, 2, 3])
    rows, all_moves = [], []
    for place in range(8):
        a, b, c = rng.randint(0, 4), rng.randint(4, 8), rng.randint(3, 9)
        row = read_row([a, b, c, rng.randint(0, 5), b / (c + 10)], space.names)
        moves = find_moves(space, row, raise_score=True)
        bound.enter(place, row, moves)
        rows.append(row)
        all_moves.append(moves)
    for _ in range(20):
        places = np.array([rng.randrange(8) for _ in range(30)])
        flips = np.array([[rng.random() < 0.5 for _ in range(4)] for _ in range(30)])
        numbers, changed = np.full((30, 5), -1.0), np.zeros((30, 5), dtype=bool)
        bound.apply(places, flips, numbers, changed)
        for k, place in enumerate(places.tolist()):
            names = {unit.name: i for i, unit in enumerate(all_moves[place].units)}
            flipped = sum(1 << names[name] for j, name in enumerate(DIRECTIONS) if flips[k, j] and name in names)
            assert space.computed is not None
            (cells,) = all_moves[place].rows(flipped)
            after = dict(space.computed.complete(rows[place], cells))
            for i in (0, 1, 2, 4):
                assert numbers[k, i] == after.get(i, rows[place][i])
                assert changed[k, i] == (i in after)
            assert numbers[k, 3] == -1.0  # no rule names this column, and it is left as it is


def test_without_rules_nothing_is_written() -> None:
    bound = BoundColumns(Space([Feature("a", direction=1, lower=0, upper=9)]), [0])
    numbers, changed = np.ones((1, 1)), np.ones((1, 1), dtype=bool)
    bound.apply(np.array([0]), np.array([[True]]), numbers, changed)
    assert numbers.tolist() == [[1.0]]
    assert changed.tolist() == [[True]]
