"""The comparison of leaves says exactly what trying every row says."""

import numpy as np
import pytest

from flipset.models.monotone import order
from flipset.models.monotone.order import judge
from flipset.models.monotone.trees import Tree, plant
from tests.models.monotone.forests import grid_of, in_order, leaves_of, random_forest


@pytest.mark.parametrize(
    "seeds",
    [range(250), *(pytest.param(range(k, k + 500), marks=pytest.mark.campaign) for k in range(250, 2_250, 500))],
    ids=str,
)
def test_trees_are_judged_as_trying_every_row_does(seeds: range) -> None:
    shown = refused = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        forest, wanted = random_forest(rng)
        grid = grid_of(forest)
        verdict = judge(forest, wanted)
        for one, sign in wanted.items():
            expected = in_order(lambda rows, forest=forest: leaves_of(forest, rows), grid, one, sign)
            assert (one not in verdict.failed) == expected, (seed, one)
            shown, refused = shown + expected, refused + (not expected)
    assert min(shown, refused) > len(seeds) / 5


def test_trees_in_several_chunks_are_judged_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [random_forest(np.random.default_rng(seed)) for seed in range(60)]
    whole = [set(judge(forest, wanted).failed) for forest, wanted in cases]
    monkeypatch.setattr(order, "BOX_CELLS_AT_ONCE", 1)
    assert [set(judge(forest, wanted).failed) for forest, wanted in cases] == whole


def stump(low: float, high: float, one: int = 0) -> Tree:
    return Tree([one, -1, -1], [0.5, 0, 0], [True] * 3, [1, 0, 0], [2, 0, 0], [0, low, high])


def test_the_reason_names_a_tree() -> None:
    forest = plant([stump(1, 2), stump(1, 1), stump(2, 1)], 2, is_narrow=False)
    assert judge(forest, {0: +1, 1: +1}).failed == {0: "tree 3 of 3 is out of order"}
    assert judge(forest, {0: -1, 1: -1}).failed == {0: "tree 1 of 3 is out of order"}


def wide_tree(rng: np.random.Generator, depth: int) -> Tree:
    """A full tree whose splits take turns, with leaves of any value."""
    inner = (1 << depth) - 1
    count = 2 * inner + 1
    feature = np.where(np.arange(count) < inner, rng.integers(4, size=count), -1)
    children = np.where(np.arange(count) < inner, 2 * np.arange(count) + 1, 0)
    return Tree(feature, rng.random(count), np.zeros(count), children, children + 1, rng.random(count))


@pytest.mark.parametrize("limit", ["MOST_LEAF_PAIRS", "MOST_BOX_CELLS"])
def test_beyond_the_limit_nothing_is_claimed(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    forest = plant([wide_tree(rng, 6), stump(1, 2, one=4)], 5, is_narrow=False)
    monkeypatch.setattr(order, limit, 3)
    failed = judge(forest, dict.fromkeys(range(5), +1)).failed
    assert set(failed) == {0, 1, 2, 3}  # the tree with input 4 needs no comparison
    assert set(failed.values()) <= {"its trees have too many leaves to compare", "tree 1 of 2 is out of order"}
    assert "its trees have too many leaves to compare" in failed.values()
