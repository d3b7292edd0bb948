"""Rows made of leaves in the wrong order are in the wrong order in their tree."""

from collections import Counter
from itertools import product
from math import inf

import numpy as np
import pytest

from flipset.models.monotone.inputs import Input, columns_of
from flipset.models.monotone.order import judge
from flipset.models.monotone.shown import Cell, Declared
from flipset.models.monotone.suspects import number_in, suspects_of
from flipset.models.monotone.trees import Floats, Tree, plant
from tests.models.monotone.forests import CODES, leaves_of, random_forest

NAMES = ("a", "b", "c", "d")


def test_rows_are_in_the_wrong_order_in_their_tree() -> None:
    made = Counter[bool]()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        forest, wanted = random_forest(rng)
        verdict = judge(forest, wanted)
        inputs = columns_of(Declared(NAMES, {}))
        for suspect in suspects_of(verdict.disorders, inputs, NAMES):
            filled = rng.integers(0, 4, size=4).astype(float)  # other columns may have any value

            def row(cells: dict[str, Cell], filled: Floats = filled) -> list[float]:
                values = [cells.get(name, filled[i]) for i, name in enumerate(NAMES)]
                return [float("nan") if value is None else float(value) for value in values]

            shows = False
            for codes in product([*range(CODES + 1), None], repeat=len(suspect.unset)):
                chosen: dict[str, Cell] = dict(zip(suspect.unset, codes, strict=True))
                worse, better = row({**chosen, **suspect.worse}), row({**chosen, **suspect.better})
                moved = NAMES.index(suspect.feature)
                assert (better[moved] - worse[moved]) * wanted[moved] > 0
                assert np.array_equal(np.delete(worse, moved), np.delete(better, moved), equal_nan=True)
                low, high = leaves_of(forest, [worse, better])[:, suspect.tree - 1]
                shows = shows or low > high
            assert shows, (seed, suspect)
            made[bool(suspect.unset)] += 1
    assert made[False] > 100
    assert made[True] > 50


def test_steps_are_undone_or_the_rows_are_left_out() -> None:
    for seed in range(50):
        forest, wanted = random_forest(np.random.default_rng(seed))
        disorders = judge(forest, wanted).disorders
        plain = suspects_of(disorders, columns_of(Declared(NAMES, {})), NAMES)
        doubled = tuple(Input(frozenset({i}), undo=lambda value: 2 * value) for i in range(4))
        turned = suspects_of(disorders, doubled, NAMES)
        assert [dict(one.worse) for one in turned] == [
            {name: None if cell is None else 2 * cell for name, cell in one.worse.items()} for one in plain
        ]
        assert suspects_of(disorders, (Input(frozenset({0})),) * 4, NAMES) == ()


@pytest.mark.parametrize("is_narrow", [True, False])
def test_a_number_lies_in_its_cell(is_narrow: bool) -> None:
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e3, 1e20):
        cuts = np.unique((rng.normal(size=20) * scale).astype(np.float32)).astype(np.float64)
        for cell in range(len(cuts) + 1):
            number = number_in(cuts, cell, is_narrow)
            assert np.searchsorted(cuts, number, side="left") == cell
    assert number_in(np.array([0.5, 3.5]), 1, is_narrow) == 2.0  # a whole number if there is one
    assert number_in(np.array([]), 0, is_narrow) == 0.0


def test_a_cell_with_infinity_alone_has_no_other_number() -> None:
    assert number_in(np.array([float(np.finfo(np.float32).max)]), 1, True) == inf


def test_no_row_has_numbers_that_no_column_has() -> None:
    lowest = float(np.finfo(np.float32).min)
    # The tree splits on b, below which are missing values and -∞, and then on a, in the wrong order.
    tree = Tree(
        [1, 0, -1, -1, -1], [lowest, 0.5, 0, 0, 0], [True, True, True, True, True], [1, 3, 0, 0, 0], [2, 4, 0, 0, 0],
        [0, 0, 0, 2, 1],
    )  # fmt: skip
    for takes_missing in (True, False):
        forest = plant([tree], 2, is_narrow=True, takes_missing=takes_missing)
        verdict = judge(forest, {0: +1})
        assert verdict.failed == {0: "tree 1 of 1 is out of order"}
        found = suspects_of(verdict.disorders, columns_of(Declared(("a", "b"), {})), ("a", "b"))
        rows = [({"a": 0.0, "b": None}, {"a": 1.0, "b": None})]
        assert [(dict(one.worse), dict(one.better)) for one in found] == (rows if takes_missing else [])
