"""The trees of every library in one form: `Forest`.

At a node, a number goes left if it is at most the node's cut. Libraries that compare `x < t` have the next smaller
float as their cut. A missing value goes where the node says. At a node that splits categories, the listed categories go
one way and all others the other.

Invariant of everything built on this: the score is a non-decreasing function of the sum of the leaves that a row
reaches, one of each tree, added in an order that does not depend on the row. Floating-point addition keeps order
(a ≤ b implies fl(a + c) ≤ fl(b + c)), so where every tree is in order, the sum is in order to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flipset.boundary.limits import MOST_TREE_NODES
from flipset.models.monotone.shown import NotRead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CategorySplit:
    """A split of categories: the listed codes go left if `listed_left`, else right; all others go the other way."""

    codes: frozenset[int]
    listed_left: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """One tree. Node 0 is the root, and numbers of nodes count within the tree.

    Attributes
    ----------
    feature
        The input that a node splits on; -1 at a leaf.
    cut
        Numbers up to the cut go left.
    missing_left
        Whether a missing value goes left.
    left, right
        The nodes below; anything at a leaf.
    value
        What a leaf adds to the sum; anything at other nodes.
    categories
        The nodes that split categories instead of numbers.
    """

    feature: Any
    cut: Any
    missing_left: Any
    left: Any
    right: Any
    value: Any
    categories: Mapping[int, CategorySplit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """All trees of a model, their nodes in one array for each property; see `Tree` for what they mean.

    Attributes
    ----------
    width
        The number of inputs.
    roots
        The root of each tree.
    is_narrow
        Whether numbers are rounded to float32 before they are compared.
    takes_missing
        Whether the model scores rows with missing values.
    """

    width: int
    roots: Integers
    feature: Integers
    cut: Floats
    missing_left: Booleans
    left: Integers
    right: Integers
    value: Floats
    categories: Mapping[int, CategorySplit]
    is_narrow: bool
    takes_missing: bool

    @property
    def trees(self) -> int:
        """The number of trees."""
        return len(self.roots)

    @property
    def category_inputs(self) -> frozenset[int]:
        """The inputs whose values are categories."""
        return frozenset(int(self.feature[node]) for node in self.categories)


def plant(trees: Sequence[Tree], width: int, *, is_narrow: bool, takes_missing: bool = True) -> Forest:
    """Join trees into a forest; refuse what is no tree."""
    sizes = np.array([len(tree.feature) for tree in trees], dtype=np.int64)
    if sizes.sum() > MOST_TREE_NODES:
        raise NotRead(f"its trees have {sizes.sum():,} nodes, more than the {MOST_TREE_NODES:,} that are read")
    roots = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]]) if len(trees) else sizes
    shift = np.repeat(roots, sizes)
    feature = _joined([tree.feature for tree in trees], np.int64)
    is_leaf = feature < 0
    forest = Forest(
        width,
        roots,
        np.where(is_leaf, -1, feature),
        _joined([tree.cut for tree in trees], np.float64),
        _joined([tree.missing_left for tree in trees], np.bool_),
        np.where(is_leaf, -1, _joined([tree.left for tree in trees], np.int64) + shift),
        np.where(is_leaf, -1, _joined([tree.right for tree in trees], np.int64) + shift),
        np.where(is_leaf, _joined([tree.value for tree in trees], np.float64), 0.0),
        {
            node + int(root): split
            for tree, root in zip(trees, roots, strict=True)
            for node, split in tree.categories.items()
        },
        is_narrow,
        takes_missing,
    )
    _refuse_nonsense(forest, np.repeat(roots + sizes, sizes), shift)
    return forest


def _joined(parts: Sequence[Any], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.asarray(part, dtype=kind) for part in parts]) if parts else np.zeros(0, dtype=kind)


def _refuse_nonsense(forest: Forest, end: Integers, start: Integers) -> None:
    """Refuse nodes outside their tree, and numbers that cannot be compared."""
    inner = forest.feature >= 0
    for child in (forest.left[inner], forest.right[inner]):
        if ((child < start[inner]) | (child >= end[inner])).any():
            raise NotRead("a tree has a branch that leads nowhere")
    if (forest.feature >= forest.width).any():
        raise NotRead("a tree uses a column that the model does not have")
    is_category = np.zeros(len(forest.feature), dtype=np.bool_)
    is_category[list(forest.categories)] = True
    if np.isnan(forest.cut[inner & ~is_category]).any():
        raise NotRead("a tree compares with something that is not a number")
    # Infinite leaves could add up to NaN, and so could finite ones whose sum overflows a float32.
    largest = np.finfo(np.float32).max / max(1, forest.trees)
    if not (np.abs(forest.value) < largest).all():
        raise NotRead("a tree has a leaf whose value is not a number, or too large to be added up")
    if forest.category_inputs & set(forest.feature[inner & ~is_category].tolist()):
        raise NotRead("a column is a number in some splits, and a category in others")


def next_below(cuts: Any) -> Floats:
    """Return the next smaller float32 of each: `x < t` is `x <= next_below(t)` for every float32 x above -∞."""
    narrow = np.asarray(cuts, dtype=np.float32)
    if not np.isfinite(narrow).all():
        raise NotRead("a tree compares with a number that is not finite")
    with np.errstate(over="ignore"):
        return np.nextafter(narrow, np.float32(-np.inf)).astype(np.float64)


def rounded_down(cuts: Any) -> Floats:
    """Return the largest float32 that is at most each number: `x <= t` is the same for every float32 x."""
    wide = np.asarray(cuts, dtype=np.float64)
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
        below = np.nextafter(narrow, np.float32(-np.inf))
    return np.where(narrow.astype(np.float64) > wide, below, narrow).astype(np.float64)


def levels_of(forest: Forest) -> list[Integers]:
    """Return the nodes that the roots lead to, level by level, from the roots down."""
    level, levels, seen = forest.roots, [], 0
    while level.size:
        levels.append(level)
        seen += level.size
        if seen > len(forest.feature):  # each node has one parent, unless branches lead back
            raise NotRead("a tree has a branch that leads back")
        inner = level[forest.feature[level] >= 0]
        level = np.concatenate([forest.left[inner], forest.right[inner]])
    return levels
