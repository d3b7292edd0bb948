"""Boxes hold exactly the rows that lead to their nodes."""

from typing import Any

import numpy as np

from flipset.models.monotone.boxes import Boxes, boxes_of, cuts_of, slots_of
from flipset.models.monotone.trees import Forest
from tests.models.monotone.forests import CODES, grid_of, random_forest


def cells_of(forest: Forest, rows: Any) -> Any:
    """The cell of each number; categories and missing values have none."""
    cells = np.full(rows.shape, -1)
    for one in range(forest.width):
        if one not in forest.category_inputs:
            numbers = rows[:, one].astype(np.float32 if forest.is_narrow else np.float64)
            cells[:, one] = np.where(np.isnan(numbers), -1, np.searchsorted(cuts_of(forest, one), numbers, side="left"))
    return cells


def holds(boxes: Boxes, box: int, rows: Any, cells: Any) -> Any:
    """Which rows are in a box."""
    forest, tree = boxes.forest, int(boxes.tree[box])
    inside = np.ones(len(rows), dtype=bool)
    codes = {one: sorted(set().union(*(s.codes for n, s in forest.categories.items() if forest.feature[n] == one)))
             for one in forest.category_inputs}  # fmt: skip
    for slot, one in enumerate(boxes.inputs[tree].tolist()):
        if one < 0:
            continue
        is_missing = np.isnan(rows[:, one])
        here = is_missing & boxes.missing[box, slot]
        if one in codes:
            words = boxes.words[box][boxes.slot_words[tree, slot] != 0]
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            places = [codes[one].index(code) if code in codes[one] else len(codes[one]) for code in range(CODES + 1)]
            here |= ~is_missing & (bits[np.array(places)[np.nan_to_num(rows[:, one]).astype(int)]] == 1)
        else:
            here |= ~is_missing & (boxes.lower[box, slot] <= cells[:, one]) & (cells[:, one] < boxes.upper[box, slot])
        inside &= here
    return inside


def test_boxes_of_leaves_hold_the_rows_that_reach_them() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        forest, _ = random_forest(rng)
        rows = np.column_stack([rng.choice(values, 200) for values in grid_of(forest)])
        cells = cells_of(forest, rows)
        boxes = boxes_of(forest, np.arange(forest.trees))
        for tree in range(forest.trees):
            leaves = np.flatnonzero((boxes.tree == tree) & (boxes.slot < 0))
            reached = np.array([holds(boxes, leaf, rows, cells) for leaf in leaves.tolist()])
            assert (reached.sum(axis=0) == 1).all()  # each row is in one leaf
            expected = leaves_value(forest, tree, rows)
            assert (boxes.least[leaves][reached.argmax(axis=0)] == expected).all()


def leaves_value(forest: Forest, tree: int, rows: Any) -> Any:
    from tests.models.monotone.forests import leaves_of

    return leaves_of(forest, rows)[:, tree]


def test_nodes_know_the_leaves_below_them() -> None:
    for seed in range(40):
        forest, _ = random_forest(np.random.default_rng(seed))
        boxes = boxes_of(forest, np.arange(forest.trees))
        for box in range(len(boxes.slot)):
            below = [child for child in (boxes.left[box], boxes.right[box]) if child >= 0]
            if not below:
                assert boxes.slot[box] == -1
                assert boxes.leaves[box] == 1
                continue
            assert boxes.leaves[box] == sum(boxes.leaves[child] for child in below)
            assert boxes.least[box] == min(boxes.least[child] for child in below)
            assert boxes.most[box] == max(boxes.most[child] for child in below)


def test_a_tree_has_slots_for_its_own_inputs_alone() -> None:
    forest, _ = random_forest(np.random.default_rng(5))
    boxes = boxes_of(forest, np.arange(forest.trees))
    for tree in range(forest.trees):
        own = slots_of(forest, tree).tolist()
        assert [one for one in boxes.inputs[tree].tolist() if one >= 0] == own
