"""Pairs of leaves in the wrong order: all and only those between which a row can move."""

import numpy as np
import pytest

from flipset.models.monotone import pairs
from flipset.models.monotone.boxes import boxes_of
from flipset.models.monotone.pairs import MOST_DISORDERS, Budget, compare
from flipset.models.monotone.trees import Integers, Tree, plant
from tests.models.monotone.forests import random_forest


def signs_of(width: int, wanted: dict[int, int]) -> Integers:
    signs = np.zeros(width + 1, dtype=np.int64)
    for one, sign in wanted.items():
        signs[one] = sign
    return signs


def test_pairs_are_the_same_however_many_are_compared_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = 0
    for seed in range(60):
        forest, wanted = random_forest(np.random.default_rng(seed))
        boxes, signs = boxes_of(forest, np.arange(forest.trees)), signs_of(forest.width, wanted)
        monkeypatch.setattr(pairs, "PAIRS_AT_ONCE", 100_000)
        whole = compare(boxes, signs, Budget(10**6, 10**6))
        monkeypatch.setattr(pairs, "PAIRS_AT_ONCE", 2)
        parts = compare(boxes, signs, Budget(10**6, 10**6))
        assert [(one.input, one.tree, one.gap) for one in whole] == [(one.input, one.tree, one.gap) for one in parts]
        found += len(whole)
    assert found > 20


def stump(low: float, high: float) -> Tree:
    return Tree([0, -1, -1], [0.5, 0, 0], [True] * 3, [1, 0, 0], [2, 0, 0], [0, low, high])


def test_the_largest_differences_of_an_input_are_kept() -> None:
    forest = plant([stump(k, 0) for k in range(20)], 1, is_narrow=False)
    boxes = boxes_of(forest, np.arange(20))
    found = compare(boxes, signs_of(1, {0: +1}), Budget(1_000, 0))
    assert [(one.tree, one.gap) for one in found] == [(19 - k, 19 - k) for k in range(MOST_DISORDERS)]
    assert compare(boxes, signs_of(1, {0: -1}), Budget(1_000, 0)) == []


def test_a_budget_that_runs_out_says_so() -> None:
    boxes = boxes_of(plant([stump(1, 0)], 1, is_narrow=False), np.arange(1))
    budget = Budget(0, 0)
    assert compare(boxes, signs_of(1, {0: +1}), budget) == []
    assert budget.is_spent


def test_missing_values_are_compared_with_none() -> None:
    # To the right of the first split are missing values only, and these have less than all numbers.
    tree = Tree(
        [0, 0, -1, -1, -1], [np.inf, 0.5, 0, 0, 0], [False, True, True, True, True], [1, 3, 0, 0, 0], [2, 4, 0, 0, 0],
        [0, 0, -9, 1, 2],
    )  # fmt: skip
    boxes = boxes_of(plant([tree], 1, is_narrow=False), np.arange(1))
    assert compare(boxes, signs_of(1, {0: +1}), Budget(100, 0)) == []
    assert len(compare(boxes, signs_of(1, {0: -1}), Budget(100, 0))) == 1


def test_pairs_that_usual_numbers_reach_come_before_those_of_larger_differences() -> None:
    # Below -3.4e38 the first tree means missing values: the difference of 9 there is one that no row of a table shows.
    lowest = float(np.finfo(np.float32).min)
    both = Tree(
        [0, -1, 0, -1, -1], [lowest, 0, 0.5, 0, 0], [True] * 5, [1, 0, 3, 0, 0], [2, 0, 4, 0, 0], [0, 9, 0, 1, 0]
    )
    unusual = stump(9, 0)
    unusual = Tree(unusual.feature, [lowest, 0, 0], *[unusual.missing_left, unusual.left, unusual.right, unusual.value])
    for trees, expected in (([both], [(0, 1, True)]), ([unusual], [(0, 9, False)]), ([unusual] * 9 + [both], None)):
        boxes = boxes_of(plant(trees, 1, is_narrow=True), np.arange(len(trees)))
        found = compare(boxes, signs_of(1, {0: +1}), Budget(1_000, 0))
        assert expected is None or [(one.tree, one.gap, one.is_usual) for one in found] == expected
        assert found[0].is_usual == (trees[-1] is both)


def test_a_pair_is_usual_if_other_inputs_have_usual_numbers_or_missing_values_in_common() -> None:
    lowest = float(np.finfo(np.float32).min)
    for missing_left, is_usual in ((True, True), (False, False)):
        below = Tree(
            [1, 0, -1, -1, -1], [lowest, 0.5, 0, 0, 0], [missing_left] * 5, [1, 3, 0, 0, 0], [2, 4, 0, 0, 0],
            [0, 0, 0, 2, 1],
        )  # fmt: skip
        boxes = boxes_of(plant([below], 2, is_narrow=True), np.arange(1))
        (one,) = compare(boxes, signs_of(2, {0: +1}), Budget(100, 0))
        assert one.is_usual == is_usual
