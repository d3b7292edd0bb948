"""Whether the trees of a forest are in order: the first, cheap look, and then the exact comparison where it is needed.

The cheap look: at every node that splits on a directed input, no leaf on its lower side has more than any leaf on its
upper side. That is enough, because two rows that differ only in this input part at such a node. Libraries that keep
constraints with bounds (XGBoost, LightGBM's "basic", scikit-learn) pass it. Where it fails, leaves are compared that
agree in all other inputs; see `pairs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from flipset.boundary.limits import MOST_BOX_CELLS, MOST_LEAF_PAIRS
from flipset.models.monotone.boxes import boxes_of, slots_of
from flipset.models.monotone.pairs import Budget, Disorder, compare
from flipset.models.monotone.trees import Booleans, Floats, Forest, Integers, levels_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BOX_CELLS_AT_ONCE = 4_000_000
"""Ends of boxes that are kept at a time, 4 bytes each: trees are compared in chunks of this size."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the trees show about directed inputs.

    Attributes
    ----------
    failed
        For each input whose direction is not shown, why.
    disorders
        Pairs of leaves in the wrong order.
    undecided
        The inputs among those of `failed` whose leaves were not all compared.
    """

    failed: Mapping[int, str] = field(default_factory=dict)
    disorders: tuple[Disorder, ...] = ()
    undecided: frozenset[int] = frozenset()


def judge(forest: Forest, wanted: Mapping[int, int]) -> Verdict:
    """Say in which of the wanted directions (+1 or -1 for each input) every tree of the forest is in order."""
    failed = dict.fromkeys(
        sorted(wanted.keys() & forest.category_inputs), "the model takes it as a category, and categories have no order"
    )
    signs = np.zeros(forest.width + 1, dtype=np.int64)  # the last one is for leaves, whose input is -1
    for one, sign in wanted.items():
        if one not in failed:
            signs[one] = sign
    doubtful = _doubtful_trees(forest, signs)
    budget = Budget(int(MOST_LEAF_PAIRS), int(MOST_BOX_CELLS))
    disorders: list[Disorder] = []
    for chunk in _chunks(forest, doubtful):
        if not signs.any():
            break
        if not budget.take_cells(sum(cells for _, cells in chunk)):
            break
        boxes = boxes_of(forest, np.array([tree for tree, _ in chunk]))
        found = compare(boxes, signs, budget)
        disorders += found
        for one in {disorder.input for disorder in found}:
            first = min(disorder.tree for disorder in found if disorder.input == one)
            failed[one] = f"tree {first + 1:,} of {forest.trees:,} is out of order"
            signs[one] = 0
        if budget.is_spent:
            break
    undecided: frozenset[int] = frozenset()
    if budget.is_spent:
        undecided = frozenset(_inputs_split_on(forest, doubtful) & set(np.flatnonzero(signs).tolist()))
        failed |= dict.fromkeys(sorted(undecided), "its trees have too many leaves to compare")
    return Verdict(failed, tuple(disorders), undecided)


def _doubtful_trees(forest: Forest, signs: Integers) -> Integers:
    """Return the trees that do not pass the cheap look."""
    low, high = _ranges(forest)
    inner = np.flatnonzero(signs[forest.feature] != 0)  # leaves have the input -1, whose sign is 0
    sign = signs[forest.feature[inner]]
    left, right = forest.left[inner], forest.right[inner]
    is_bad = np.where(sign > 0, high[left] > low[right], high[right] > low[left])
    bad = inner[is_bad & np.isfinite(low[inner])]  # nodes that no root leads to have no range
    trees: Integers = np.unique(np.searchsorted(forest.roots, bad, side="right") - 1)
    return trees


def _ranges(forest: Forest) -> tuple[Floats, Floats]:
    """Return the smallest and the largest leaf below each node."""
    low = np.full(len(forest.feature), np.inf)
    high = np.full(len(forest.feature), -np.inf)
    for level in reversed(levels_of(forest)):
        is_leaf = forest.feature[level] < 0
        leaves, inner = level[is_leaf], level[~is_leaf]
        low[leaves] = high[leaves] = forest.value[leaves]
        low[inner] = np.minimum(low[forest.left[inner]], low[forest.right[inner]])
        high[inner] = np.maximum(high[forest.left[inner]], high[forest.right[inner]])
    return low, high


def _chunks(forest: Forest, trees: Integers) -> Iterator[list[tuple[int, int]]]:
    """Yield trees, each with the number of its boxes' ends, in chunks that fit into memory."""
    ends = np.append(forest.roots, len(forest.feature))
    chunk: list[tuple[int, int]] = []
    widest = nodes = 0
    for tree in trees.tolist():
        size = int(ends[tree + 1] - ends[tree])
        slots = len(slots_of(forest, tree))
        if chunk and (nodes + size) * max(widest, slots) > BOX_CELLS_AT_ONCE:
            yield chunk
            chunk, widest, nodes = [], 0, 0
        chunk.append((tree, size * slots))
        widest, nodes = max(widest, slots), nodes + size
    if chunk:
        yield chunk


def _inputs_split_on(forest: Forest, trees: Integers) -> set[int]:
    is_in: Booleans = np.isin(np.searchsorted(forest.roots, np.arange(len(forest.feature)), side="right") - 1, trees)
    return set(forest.feature[is_in].tolist()) - {-1}
