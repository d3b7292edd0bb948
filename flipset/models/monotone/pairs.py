"""The comparison of boxes: all pairs of leaves between which a row can move by one directed input alone.

A tree is in order for input j exactly if, at every node that splits on j, each leaf A on the lower side and each leaf B
on the upper side whose boxes overlap in all inputs but j have value(A) ≤ value(B) (for +1; turned round for -1).

Proof. Let x and y be rows that differ in j alone, with x_j < y_j, both present. If they reach different leaves, they
part at some node. They agree in all other inputs, so it splits on j, and x goes to its lower side. The other inputs of
x lie in the boxes of both leaves, so the boxes overlap there. Hence value(x) ≤ value(y). Conversely, if A and B overlap
in all inputs but j, take a common point there, and a number of A's interval and one of B's in j: these rows differ in j
alone and reach A and B, so a tree in order has value(A) ≤ value(B).

Pairs of leaves are found from pairs of nodes: start with the two children of each node that splits on a directed input,
and go down on one side at a time. A pair is dropped when its boxes do not overlap (only the input that was just split
on needs to be looked at), when no number of j leads to one of them, or when its leaves are in order as a whole:
most(A) ≤ least(B). In a tree that is in order, most pairs end at once in this way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from flipset.models.monotone.boxes import Boxes
    from flipset.models.monotone.trees import Booleans, Integers

PAIRS_AT_ONCE = 100_000

MOST_DISORDERS = 8
"""The most pairs of leaves that are returned for an input. When they are found, no others are looked for. Rows made of
them are put to the whole model, so pairs that only numbers beyond all columns reach do not count."""


@dataclass(slots=True)
class Budget:
    """The work that is left: pairs of nodes to compare, and ends of boxes to compute."""

    pairs: int
    cells: int

    @property
    def is_spent(self) -> bool:
        """Whether some work was not done."""
        return self.pairs < 0 or self.cells < 0

    def take_pairs(self, count: int) -> bool:
        """Say whether this many pairs may still be compared."""
        self.pairs -= count
        return self.pairs >= 0

    def take_cells(self, count: int) -> bool:
        """Say whether this many ends of boxes may still be computed."""
        self.cells -= count
        return self.cells >= 0


@dataclass(frozen=True, slots=True)
class Disorder:
    """Two leaves in the wrong order: `worse` has more than `better`.

    Attributes
    ----------
    input
        The input in which they differ.
    tree
        The number of the tree, from 0.
    gap
        How much more `worse` has.
    is_usual
        Whether numbers up to `LARGEST` reach both leaves.
    boxes, worse, better
        The two leaves, as numbers of boxes.
    """

    input: int
    tree: int
    gap: float
    is_usual: bool
    boxes: Boxes
    worse: int
    better: int

    @property
    def rank(self) -> tuple[bool, float]:
        """What makes one pair tell more than another."""
        return self.is_usual, self.gap


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of boxes of one tree: no leaf of `worse` may have more than a leaf of `better`, in the input at `slot`."""

    worse: Integers
    better: Integers
    slot: Integers

    def __getitem__(self, which: Booleans | slice) -> _Pairs:
        return _Pairs(self.worse[which], self.better[which], self.slot[which])


def compare(boxes: Boxes, signs: Integers, budget: Budget) -> list[Disorder]:
    """Return pairs of leaves in the wrong order: for each input, those of the largest differences, in several trees.

    If the budget is spent, some pairs were not looked at.
    """
    found: dict[tuple[int, int], Disorder] = {}  # by input and tree
    counts = np.zeros(len(signs), dtype=np.int64)
    start = _first_pairs(boxes, signs)
    waiting = [start[i : i + PAIRS_AT_ONCE] for i in range(0, len(start.slot), PAIRS_AT_ONCE)][::-1]
    while waiting:
        pairs = waiting.pop()
        if not budget.take_pairs(len(pairs.slot)):
            break
        inputs = boxes.inputs[boxes.tree[pairs.worse], pairs.slot]
        pairs = pairs[_may_be_wrong(boxes, pairs) & (counts[inputs] < MOST_DISORDERS)]
        is_done = (boxes.slot[pairs.worse] < 0) & (boxes.slot[pairs.better] < 0)
        for disorder in _disorders(boxes, pairs[is_done]):
            key = disorder.input, disorder.tree
            before = found.get(key)
            if disorder.is_usual and not (before and before.is_usual):
                counts[disorder.input] += 1
            if before is None or before.rank < disorder.rank:
                found[key] = disorder
        below = _go_down(boxes, pairs[~is_done])
        waiting += [below[i : i + PAIRS_AT_ONCE] for i in range(0, len(below.slot), PAIRS_AT_ONCE)]
    ranked = sorted(found.values(), key=lambda one: (one.input, not one.is_usual, -one.gap, one.tree))
    return [one for _, own in groupby(ranked, lambda one: one.input) for one in islice(own, MOST_DISORDERS)]


def _first_pairs(boxes: Boxes, signs: Integers) -> _Pairs:
    """Return the two children of each node that splits on a directed input."""
    is_inner = boxes.is_numeric & (boxes.left >= 0) & (boxes.right >= 0)
    (nodes,) = np.nonzero(is_inner)
    slot = boxes.slot[nodes]
    sign = signs[boxes.inputs[boxes.tree[nodes], slot]]
    nodes, slot, sign = nodes[sign != 0], slot[sign != 0], sign[sign != 0]
    left, right = boxes.left[nodes], boxes.right[nodes]
    pairs = _Pairs(np.where(sign > 0, left, right), np.where(sign > 0, right, left), slot)
    return pairs[_has_number(boxes, pairs.worse, slot) & _has_number(boxes, pairs.better, slot)]


def _has_number(boxes: Boxes, box: Integers, slot: Integers) -> Booleans:
    """Say whether some number in a slot leads to a box. A missing value is not compared with others."""
    is_there: Booleans = boxes.lower[box, slot] < boxes.upper[box, slot]
    return is_there


def _may_be_wrong(boxes: Boxes, pairs: _Pairs) -> Booleans:
    """Say which pairs have leaves that are not in order as a whole."""
    may_be: Booleans = boxes.most[pairs.worse] > boxes.least[pairs.better]
    return may_be


def _go_down(boxes: Boxes, pairs: _Pairs) -> _Pairs:
    """Return what is left of each pair when the side with more leaves is divided; a leaf cannot be."""
    worse_is_leaf, better_is_leaf = boxes.slot[pairs.worse] < 0, boxes.slot[pairs.better] < 0
    has_more = boxes.leaves[pairs.worse] >= boxes.leaves[pairs.better]
    by_worse = better_is_leaf | (has_more & ~worse_is_leaf)
    divided, other = np.where(by_worse, pairs.worse, pairs.better), np.where(by_worse, pairs.better, pairs.worse)
    parts = []
    for children in (boxes.left, boxes.right):
        child = children[divided]
        is_there = child >= 0
        child, rest, side, slot = child[is_there], other[is_there], by_worse[is_there], pairs.slot[is_there]
        changed = boxes.slot[divided[is_there]]
        keeps = np.where(changed == slot, _has_number(boxes, child, slot), _overlap(boxes, child, rest, changed))
        child, rest, side, slot = child[keeps], rest[keeps], side[keeps], slot[keeps]
        parts.append(_Pairs(np.where(side, child, rest), np.where(side, rest, child), slot))
    return _Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("worse", "better", "slot")))


def _overlap(boxes: Boxes, one: Integers, other: Integers, slot: Integers) -> Booleans:
    """Say which boxes have a value in common, in one slot each."""
    numbers = np.maximum(boxes.lower[one, slot], boxes.lower[other, slot]) < np.minimum(
        boxes.upper[one, slot], boxes.upper[other, slot]
    )
    meet: Booleans = numbers | (boxes.missing[one, slot] & boxes.missing[other, slot])
    if boxes.words.shape[1]:
        (unsure,) = np.nonzero(~meet)
        a, b, s = one[unsure], other[unsure], slot[unsure]
        meet[unsure] = (boxes.words[a] & boxes.words[b] & boxes.slot_words[boxes.tree[a], s]).any(axis=1)
    return meet


def _disorders(boxes: Boxes, pairs: _Pairs) -> list[Disorder]:
    """Return a pair for each tree and input: if possible one that usual numbers reach, with the largest difference."""
    if not len(pairs.slot):
        return []
    gap = boxes.most[pairs.worse] - boxes.least[pairs.better]
    tree = boxes.tree[pairs.worse]
    inputs = boxes.inputs[tree, pairs.slot]
    is_usual = _is_usual(boxes, pairs)
    order = np.lexsort((-gap, ~is_usual, inputs, tree))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (np.diff(tree[order]) != 0) | (np.diff(inputs[order]) != 0)
    return [
        Disorder(
            int(inputs[i]), int(boxes.trees[tree[i]]), float(gap[i]), bool(is_usual[i]),
            boxes, int(pairs.worse[i]), int(pairs.better[i]),
        )
        for i in order[first].tolist()
    ]  # fmt: skip


def _is_usual(boxes: Boxes, pairs: _Pairs) -> Booleans:
    """Say whether numbers up to `LARGEST` reach both leaves of each pair."""
    worse, better = pairs.worse, pairs.better
    inputs = boxes.inputs[boxes.tree[worse]]
    first, end = boxes.first_usual[inputs], boxes.end_usual[inputs]
    lower = [np.maximum(boxes.lower[one], first) for one in (worse, better)]
    upper = [np.minimum(boxes.upper[one], end) for one in (worse, better)]
    has_number = np.maximum(*lower) < np.minimum(*upper)
    own = np.arange(len(pairs.slot)), pairs.slot
    has_number[own] = (lower[0][own] < upper[0][own]) & (lower[1][own] < upper[1][own])
    # Leaves that have no numbers in common have something else in common, and so do those of slots that are not used.
    other = (boxes.missing[worse] & boxes.missing[better]) | (
        np.maximum(boxes.lower[worse], boxes.lower[better]) >= np.minimum(boxes.upper[worse], boxes.upper[better])
    )
    other[own] = False
    usual: Booleans = np.logical_and.reduce(has_number | other, axis=1)
    return usual
