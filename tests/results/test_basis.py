"""What a proof rests on: the weakest basis of the columns that move."""

from itertools import permutations

from flipset import Explainer, Feature, Group, Space
from flipset.results.basis import BASES, Fingerprints, Grounds, weakest
from flipset.space.moves import find_moves
from flipset.space.rows import read_row
from flipset.version import __version__


def test_the_weakest_of_all_orders_is_the_same() -> None:
    for some in permutations(BASES):
        assert weakest(some) == "assumed"
        assert weakest(some[:1]) == some[0]
    assert weakest([]) is None


def test_a_group_is_as_weak_as_its_weakest_column() -> None:
    features = [Feature(name, "binary", direction=1, group="both") for name in "ab"]
    space = Space([*features, Feature("c", "binary", direction=1)], [Group("both")])
    moves = find_moves(space, read_row([0, 0, 0], space.names), raise_score=True)
    grounds = Grounds({"a": "proved", "b": "audited", "c": "declared"})
    assert grounds.basis(moves, space.names) == {"both": "audited", "c": "declared"}


def test_a_column_that_is_not_listed_is_assumed() -> None:
    space = Space([Feature("a", "binary", direction=1)])
    moves = find_moves(space, read_row([0], space.names), raise_score=True)
    assert Grounds().basis(moves, space.names) == {"a": "assumed"}
    assert Grounds().fingerprints == Fingerprints(flipset=__version__)


def test_explanations_name_only_what_could_move() -> None:
    space = Space([Feature("a", "binary", direction=1), Feature("b", "binary", direction=1), Feature("c", fixed=True)])
    e = Explainer(lambda rows: rows[:, 0] + rows[:, 1] >= 2, space).explain([1, 0, 5])
    assert e.basis == {"b": "assumed"}
    assert e.audited_pairs is None
