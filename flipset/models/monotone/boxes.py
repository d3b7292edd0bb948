"""Boxes: which values of each input lead to a node.

The numbers of an input are divided into cells by all cuts of the forest, counted from 0. No tree can tell two numbers
of one cell apart. A box has an interval of cells for each number, a set of categories for each category, and whether a
missing value leads there. Nodes that no row can reach, because conditions on the way contradict each other, have no
box.

A tree uses few of many inputs. So a box has a slot for each input that its own tree splits on, rather than for all of
them; boxes of one tree have the same slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flipset.models.monotone.trees import Booleans, Floats, Forest, Integers

Cells = NDArray[np.int32]
Words = NDArray[np.uint64]

BITS = 64

LARGEST = 1e30
"""No column has larger numbers. Some libraries put missing values below -3.4e38, so that a tree has a cut there."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The boxes of some trees, with the trees' shape. There is one for each node that a row can reach.

    Attributes
    ----------
    trees
        The numbers of the trees.
    inputs
        The input of each slot of each tree; -1 for slots that a tree does not use.
    roots
        The box of each tree's root.
    tree
        The place of each box's tree in `trees`.
    slot
        The slot that the node splits on; -1 at a leaf.
    is_numeric
        Whether the node splits numbers.
    left, right
        The boxes below; -1 if there is none.
    least, most
        The smallest and the largest value of the leaves below.
    leaves
        The number of leaves below.
    lower, upper
        The cells of each slot: `lower` up to, not including, `upper`. Both are 0 where no number leads here.
    missing
        Whether a missing value leads here, for each slot.
    words
        The categories that lead here as bits; those of slot s are in the words that `slot_words[tree, s]` selects.
    first_usual, end_usual
        The cells of each input that have numbers up to `LARGEST`: `first_usual` up to, not including, `end_usual`.
    """

    forest: Forest
    trees: Integers
    inputs: Integers
    roots: Integers
    tree: Integers
    slot: Integers
    is_numeric: Booleans
    left: Integers
    right: Integers
    least: Floats
    most: Floats
    leaves: Integers
    lower: Cells
    upper: Cells
    missing: Booleans
    words: Words
    slot_words: Words
    first_usual: Integers
    end_usual: Integers


def slots_of(forest: Forest, tree: int) -> Integers:
    """Return the inputs that a tree splits on."""
    end = forest.roots[tree + 1] if tree + 1 < forest.trees else len(forest.feature)
    used: Integers = np.unique(forest.feature[forest.roots[tree] : end])
    return used[used >= 0]


def cuts_of(forest: Forest, one: int) -> Floats:
    """Return the cuts of an input, in order: cell 0 ends at the first, and the last cell begins after the last."""
    cuts: Floats = np.unique(forest.cut[forest.feature == one])
    return cuts


def boxes_of(forest: Forest, trees: Integers) -> Boxes:
    """Return the boxes of some trees of a forest."""
    used = [slots_of(forest, tree) for tree in trees.tolist()]
    width = max((len(inputs) for inputs in used), default=0)
    inputs = np.full((len(trees), width), -1, dtype=np.int64)
    for row, own in zip(inputs, used, strict=True):
        row[: len(own)] = own
    categories = _Categories(forest, inputs)
    rank, cells, usual = _ranks(forest)
    level = _roots(forest, trees, inputs, cells, categories)
    levels, first = [level], 0
    while (below := _split(forest, inputs, rank, categories, level, first)) is not None:
        first += len(level.node)
        level = below
        levels.append(level)
    return _joined(forest, trees, inputs, levels, categories, usual)


@dataclass(slots=True, eq=False)
class _Level:
    """Boxes at one depth. Their children are numbered when the next level is made."""

    node: Integers
    tree: Integers
    lower: Cells
    upper: Cells
    missing: Booleans
    words: Words
    left: Integers
    right: Integers


class _Categories:
    """Categories as bits: those of an input that occur in splits, and one bit for all others."""

    def __init__(self, forest: Forest, inputs: Integers) -> None:
        codes: dict[int, set[int]] = {}
        for node, split in forest.categories.items():
            codes.setdefault(int(forest.feature[node]), set()).update(split.codes)
        self.place = {one: {code: i for i, code in enumerate(sorted(some))} for one, some in codes.items()}
        self.count = {one: -(-(len(some) + 1) // BITS) for one, some in codes.items()}  # words that an input takes
        # The words of a tree: those of its first categorical slot, then those of the next, and so on.
        self.start: dict[tuple[int, int], int] = {}
        total = 0
        for i, row in enumerate(inputs.tolist()):
            at = 0
            for one in row:
                if one in self.count:
                    self.start[i, one] = at
                    at += self.count[one]
            total = max(total, at)
        self.total = total
        self.slot_words = np.zeros((*inputs.shape, total), dtype=np.uint64)
        for (i, one), at in self.start.items():
            (slot,) = np.flatnonzero(inputs[i] == one)
            self.slot_words[i, slot, at : at + self.count[one]] = ~np.uint64(0)

    def left_words(self, forest: Forest, node: int, tree: int) -> Words:
        """Return the categories that go left at a node, at their places among the words of the tree."""
        one, split = int(forest.feature[node]), forest.categories[node]
        bits = np.zeros(self.count[one] * BITS, dtype=np.bool_)
        bits[[self.place[one][code] for code in split.codes]] = True
        own = np.packbits(bits if split.listed_left else ~bits, bitorder="little").view(np.uint64)
        words = np.zeros(self.total, dtype=np.uint64)
        at = self.start[tree, one]
        words[at : at + len(own)] = own
        return words


def _ranks(forest: Forest) -> tuple[Integers, Integers, tuple[Integers, Integers]]:
    """Return the cell that ends at each node's cut, and for each input the number of its cells, and the usual ones."""
    rank = np.zeros(len(forest.feature), dtype=np.int64)
    cells, first, end_usual = (np.zeros(forest.width, dtype=np.int64) for _ in range(3))
    by_input = np.argsort(forest.feature, kind="stable")
    used, starts = np.unique(forest.feature[by_input], return_index=True)
    ends = np.append(starts[1:], len(by_input))
    for one, start, end in zip(used.tolist(), starts.tolist(), ends.tolist(), strict=True):
        if one >= 0 and one not in forest.category_inputs:
            nodes = by_input[start:end]
            cuts, rank[nodes] = np.unique(forest.cut[nodes], return_inverse=True)
            cells[one] = len(cuts) + (cuts[-1] < np.inf)  # nothing is above an infinite cut
            first[one], end_usual[one] = np.searchsorted(cuts, -LARGEST), np.searchsorted(cuts, LARGEST) + 1
    return rank, cells, (first, end_usual)


def _roots(forest: Forest, trees: Integers, inputs: Integers, cells: Integers, categories: _Categories) -> _Level:
    count = len(trees)
    upper = np.where(inputs >= 0, cells[inputs], 0).astype(np.int32)
    missing = np.full(inputs.shape, forest.takes_missing)
    words = np.bitwise_or.reduce(categories.slot_words, axis=1) if categories.total else np.zeros((count, 0), np.uint64)
    none = np.full(count, -1)
    return _Level(forest.roots[trees], np.arange(count), np.zeros_like(upper), upper, missing, words, none, none.copy())


def _split(
    forest: Forest, inputs: Integers, rank: Integers, categories: _Categories, level: _Level, first: int
) -> _Level | None:
    """Return the level below; the boxes of `level` are numbered from `first`, and get the numbers of their children."""
    (inner,) = np.nonzero(forest.feature[level.node] >= 0)
    if not inner.size:
        return None
    node, tree = level.node[inner], level.tree[inner]
    slot = np.argmax(inputs[tree] == forest.feature[node][:, None], axis=1)
    every = np.arange(len(inner))
    left_words = np.zeros((len(inner), categories.total), dtype=np.uint64)
    is_category = np.zeros(len(inner), dtype=np.bool_)
    if forest.categories:
        for i, one in enumerate(node.tolist()):
            if one in forest.categories:
                is_category[i] = True
                left_words[i] = categories.left_words(forest, one, int(tree[i]))
    sides = []
    for goes_left in (True, False):
        lower, upper = level.lower[inner], level.upper[inner]
        missing, words = level.missing[inner], level.words[inner]
        bound = rank[node] + 1
        if goes_left:
            upper[every, slot] = np.minimum(upper[every, slot], bound)
        else:
            lower[every, slot] = np.maximum(lower[every, slot], bound)
        is_empty = is_category | (lower[every, slot] >= upper[every, slot])
        lower[every[is_empty], slot[is_empty]] = upper[every[is_empty], slot[is_empty]] = 0
        missing[every, slot] &= forest.missing_left[node] == goes_left
        within = categories.slot_words[tree, slot] if categories.total else left_words
        words &= ~within | (left_words if goes_left else ~left_words)
        is_reached = ~is_empty | missing[every, slot] | (words & within).any(axis=1)
        child = forest.left[node] if goes_left else forest.right[node]
        sides.append((is_reached, child, lower, upper, missing, words))
    start = first + len(level.node)
    for (is_reached, *_), children in zip(sides, (level.left, level.right), strict=True):
        children[inner[is_reached]] = start + np.arange(int(is_reached.sum()))
        start += int(is_reached.sum())

    def both(part: int) -> Any:
        return np.concatenate([side[part][side[0]] for side in sides])

    nodes = both(1)
    none = np.full(len(nodes), -1)
    of_tree = np.concatenate([tree[side[0]] for side in sides])
    return _Level(nodes, of_tree, both(2), both(3), both(4), both(5), none, none.copy())


def _joined(
    forest: Forest,
    trees: Integers,
    inputs: Integers,
    levels: list[_Level],
    categories: _Categories,
    usual: tuple[Integers, Integers],
) -> Boxes:
    def joined(name: str) -> Any:
        return np.concatenate([getattr(level, name) for level in levels])

    node, tree, left, right = joined("node"), joined("tree"), joined("left"), joined("right")
    feature = forest.feature[node]
    slot = np.where(feature >= 0, np.argmax(inputs[tree] == feature[:, None], axis=1) if inputs.size else -1, -1)
    numeric = np.isin(feature, list(forest.category_inputs), invert=True) & (feature >= 0)
    least, most, leaves = _ranges(forest.value[node], feature < 0, left, right, [len(level.node) for level in levels])
    return Boxes(
        forest, trees, inputs, np.arange(len(trees)), tree, slot, numeric, left, right, least, most, leaves,
        joined("lower"), joined("upper"), joined("missing"), joined("words"), categories.slot_words, *usual,
    )  # fmt: skip


def _ranges(
    value: Floats, is_leaf: Booleans, left: Integers, right: Integers, sizes: list[int]
) -> tuple[Floats, Floats, Integers]:
    """Return the smallest and largest leaf below each box, and their number; levels follow each other from the top."""
    # One place more at the end: a child that does not exist has the number -1.
    least = np.append(np.where(is_leaf, value, np.inf), np.inf)
    most = np.append(np.where(is_leaf, value, -np.inf), -np.inf)
    leaves = np.append(is_leaf.astype(np.int64), 0)
    end = len(value)
    for size in reversed(sizes):
        level = np.arange(end - size, end)
        inner = level[~is_leaf[level]]
        least[inner] = np.minimum(least[left[inner]], least[right[inner]])
        most[inner] = np.maximum(most[left[inner]], most[right[inner]])
        leaves[inner] = leaves[left[inner]] + leaves[right[inner]]
        end -= size
    return least[:-1], most[:-1], leaves[:-1]
