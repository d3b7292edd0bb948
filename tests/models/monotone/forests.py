"""Forests in the common form: made at random, evaluated row by row, and checked by trying every row.

A model is constant between the cuts of its trees, so a grid with one value in each gap, and the cuts themselves, stands
for all rows.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from flipset.models.monotone.trees import CategorySplit, Forest, Tree, plant

CODES = 5  # categories of random forests are 0 to 4; in rows there is a 5, too, which no split lists


def leaves_of(forest: Forest, rows: Any) -> Any:
    """Return the value of each tree for each row. This is the definition of what a forest means."""
    table = np.asarray(rows, dtype=np.float64)
    if forest.is_narrow:
        table = table.astype(np.float32).astype(np.float64)
    every = np.arange(len(table))
    values = np.empty((len(table), forest.trees))
    for tree, root in enumerate(forest.roots.tolist()):
        node = np.full(len(table), root)
        while (inner := forest.feature[node] >= 0).any():
            x = table[every, forest.feature[node]]
            goes_left = np.where(np.isnan(x), forest.missing_left[node], x <= forest.cut[node])
            for one, split in forest.categories.items():
                here = (node == one) & ~np.isnan(x)
                goes_left[here] = np.isin(x[here].astype(np.int64), list(split.codes)) == split.listed_left
            node = np.where(inner, np.where(goes_left, forest.left[node], forest.right[node]), node)
        values[:, tree] = forest.value[node]
    return values


def random_tree(rng: np.random.Generator, width: int, depth: int, categories: Sequence[int], signs: Any) -> Tree:
    """Return a tree; where `signs` has a direction, leaves mostly follow it."""
    nodes: list[list[Any]] = []
    splits: dict[int, CategorySplit] = {}

    def grow(level: int, low: float, high: float) -> int:
        at = len(nodes)
        one = int(rng.integers(width))
        nodes.append([-1, 0.0, bool(rng.integers(2)), 0, 0, float(rng.uniform(low, high))])
        if level == depth or rng.random() < 0.15:
            return at
        bounds = [(low, high)] * 2
        if signs[one] and rng.random() < 0.6:
            middle = rng.uniform(low, high)
            bounds = [(low, middle), (middle, high)][:: int(signs[one])]
        nodes[at][0], nodes[at][1] = one, float(rng.integers(4))
        if one in categories:
            codes = rng.choice(CODES, size=int(rng.integers(1, CODES)), replace=False)
            splits[at] = CategorySplit(frozenset(codes.tolist()), bool(rng.integers(2)))
        nodes[at][3] = grow(level + 1, *bounds[0])
        nodes[at][4] = grow(level + 1, *bounds[1])
        return at

    grow(0, -1.0, 1.0)
    feature, cut, missing_left, left, right, value = zip(*nodes, strict=True)
    return Tree(feature, cut, missing_left, left, right, value, splits)


def random_forest(rng: np.random.Generator, width: int = 4) -> tuple[Forest, dict[int, int]]:
    """Return a forest, and the directions that its trees mostly follow."""
    categories = [one for one in range(width) if rng.random() < 0.2]
    signs = np.where(np.isin(np.arange(width), categories), 0, rng.choice([-1, 0, 1], size=width, p=[0.4, 0.2, 0.4]))
    trees = [
        random_tree(rng, width, int(rng.integers(1, 5)), categories, signs) for _ in range(int(rng.integers(1, 4)))
    ]
    forest = plant(trees, width, is_narrow=bool(rng.integers(2)), takes_missing=rng.random() < 0.7)
    return forest, {one: int(sign) for one, sign in enumerate(signs) if sign}


def numbers_of(cuts: Sequence[float]) -> list[float]:
    """Return numbers that stand for all: each cut, and one in each gap."""
    if not cuts:
        return [0.0]
    gaps = [(a + b) / 2 for a, b in pairwise(cuts)]
    return sorted({cuts[0] - 1, *cuts, *gaps, cuts[-1] + 1})


def grid_of(forest: Forest) -> list[list[float]]:
    """Return, for each input, values that stand for all."""
    grid = []
    for one in range(forest.width):
        own = forest.feature == one
        is_category = one in forest.category_inputs
        values = list(map(float, range(CODES + 1))) if is_category else numbers_of(np.unique(forest.cut[own]).tolist())
        grid.append(values + [float("nan")] * forest.takes_missing)
    return grid


def moves(grid: Sequence[Sequence[float]], one: int) -> Iterator[Any]:
    """Yield tables of rows that differ in one input alone, in which they ascend; none has a missing value there."""
    others = [[0.0] if i == one else values for i, values in enumerate(grid)]
    line = sorted(value for value in grid[one] if value == value)
    for point in product(*others):
        table = np.repeat([point], len(line), axis=0)
        table[:, one] = line
        yield table


def in_order(score: Any, grid: Sequence[Sequence[float]], one: int, sign: int) -> bool:
    """Try every row: say whether no column of scores ever falls when an input moves in its direction."""
    tables = list(moves(grid, one))
    scores = np.asarray(score(np.concatenate(tables)))
    lines = scores.reshape(len(tables), len(tables[0]), -1)
    return bool((np.diff(lines, axis=1) * sign >= 0).all())


def rows_at_cuts(forest: Forest, rng: np.random.Generator, count: int = 300) -> Any:
    """Return rows with numbers at the cuts, next to them, between and beyond them, categories, and missing values."""
    kind: Any = np.float32 if forest.is_narrow else np.float64
    rows = np.zeros((count, forest.width))
    for one in range(forest.width):
        cuts = np.unique(forest.cut[forest.feature == one])
        cuts = cuts[np.abs(cuts) < 1e30].astype(kind)
        near = np.concatenate([cuts, np.nextafter(cuts, kind(np.inf)), np.nextafter(cuts, kind(-np.inf))])
        pool = np.concatenate([near, cuts - 1, cuts + 1, [0.0, 1.0]])
        rows[:, one] = rng.integers(0, 8, count) if one in forest.category_inputs else rng.choice(pool, count)
    if forest.takes_missing:
        rows[rng.random(rows.shape) < 0.15] = np.nan
    return rows


def added_up(start: float, leaves: Any, kind: Any = np.float64) -> Any:
    """Return the sum of leaves, tree by tree, in a float type."""
    total = np.full(len(leaves), start, dtype=kind)
    for tree in leaves.T:
        total = total + tree.astype(kind)
    return total


def in_batches(predict: Any, rows: Any) -> list[Any]:
    """Return the scores of rows that are asked one by one, a few at a time, and all together."""
    return [
        np.concatenate([np.asarray(predict(rows[i : i + size])) for i in range(0, len(rows), size)])
        for size in (1, 7, len(rows))
    ]


def draw_rows(seed: int = 0, count: int = 400) -> tuple[Any, Any]:
    """Return rows of three columns of numbers and one of categories, with missing values, and labels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4))
    rows[:, 3] = rng.integers(0, 8, size=count)
    margin = rows[:, 0] + (1 + rows[:, 1]) * np.isin(rows[:, 3], [1, 4, 6]) + rng.normal(scale=0.3, size=count)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows, (margin > 0).astype(np.int64)
