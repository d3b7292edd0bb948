"""The common form of trees: joined, checked, and walked level by level."""

import numpy as np
import pytest

from flipset.models.monotone import trees
from flipset.models.monotone.shown import NotRead
from flipset.models.monotone.trees import CategorySplit, Tree, levels_of, next_below, plant, rounded_down

STUMP = Tree([1, -1, -1], [0.5, 0, 0], [True, False, False], [1, 0, 0], [2, 0, 0], [0, 3, 4])


def test_trees_are_joined_with_their_nodes_renumbered() -> None:
    one = Tree(
        [0, -1, -1], [0, 0, 0], [False] * 3, [2, 7, 7], [1, 7, 7], [9, 5, 6], {0: CategorySplit(frozenset({1}), True)}
    )
    forest = plant([STUMP, one], 2, is_narrow=False)
    assert forest.trees == 2
    assert forest.roots.tolist() == [0, 3]
    assert forest.left.tolist() == [1, -1, -1, 5, -1, -1]
    assert forest.right.tolist() == [2, -1, -1, 4, -1, -1]
    assert forest.value.tolist() == [0, 3, 4, 0, 5, 6]
    assert list(forest.categories) == [3]
    assert forest.category_inputs == {0}
    assert [level.tolist() for level in levels_of(forest)] == [[0, 3], [1, 5, 2, 4]]


def test_more_nodes_than_the_limit_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_TREE_NODES", 5)
    assert plant([STUMP], 2, is_narrow=False).trees == 1
    with pytest.raises(NotRead, match="6 nodes, more than the 5"):
        plant([STUMP, STUMP], 2, is_narrow=False)


def test_a_model_without_trees_is_a_forest() -> None:
    assert plant([], 3, is_narrow=True).trees == 0


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (Tree([0, -1], [0, 0], [0, 0], [1, 0], [2, 0], [0, 1]), "leads nowhere"),
        (Tree([0, -1], [0, 0], [0, 0], [1, 0], [-5, 0], [0, 1]), "leads nowhere"),
        (Tree([2, -1, -1], [0, 0, 0], [0] * 3, [1, 0, 0], [2, 0, 0], [0, 1, 1]), "does not have"),
        (Tree([0, -1, -1], [np.nan, 0, 0], [0] * 3, [1, 0, 0], [2, 0, 0], [0, 1, 1]), "not a number"),
        (Tree([0, -1, -1], [0, 0, 0], [0] * 3, [1, 0, 0], [2, 0, 0], [0, np.inf, 1]), "too large"),
        (Tree([0, -1, -1], [0, 0, 0], [0] * 3, [1, 0, 0], [2, 0, 0], [0, np.nan, 1]), "not a number"),
        (
            Tree([0, 0, -1, -1, -1], [0] * 5, [0] * 5, [1, 3, 0, 0, 0], [2, 4, 0, 0, 0], [0] * 5,
                 {1: CategorySplit(frozenset({1}), True)}),
            "a category in others",
        ),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused(tree: Tree, words: str) -> None:
    with pytest.raises(NotRead, match=words):
        plant([tree], 2, is_narrow=False)


def test_a_branch_that_leads_back_is_refused() -> None:
    loop = plant([Tree([0, -1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1])], 1, is_narrow=False)
    with pytest.raises(NotRead, match="leads back"):
        levels_of(loop)


def test_cuts_say_the_same_about_every_float32() -> None:
    rng = np.random.default_rng(0)
    cuts = np.concatenate([rng.normal(size=200), [0.0, 1.0, 1e300, -1e300, 3.4028235677973366e38, 1e-46]])
    near = cuts[np.abs(cuts) < 1e38].astype(np.float32)
    up, down = np.float32(np.inf), np.float32(-np.inf)
    numbers = np.concatenate([near, np.nextafter(near, up), np.nextafter(near, down), [up, down]]).astype(np.float32)
    wide = numbers.astype(np.float64)[:, None]
    assert ((wide <= rounded_down(cuts)) == (wide <= cuts)).all()
    narrow = cuts[np.abs(cuts) < 1e38].astype(np.float32)
    assert ((wide <= next_below(narrow)) == (numbers[:, None] < narrow)).all()


def test_cuts_that_are_not_finite_have_no_next_below() -> None:
    with pytest.raises(NotRead, match="not finite"):
        next_below([np.inf])
