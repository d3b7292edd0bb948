"""Equal parts of explanations are one object, and parts that only look equal stay apart."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Feature, Space
from flipset.proof import Proof
from flipset.space import shared as module
from flipset.space.identity import cell_key
from flipset.space.moves import Moves, Unit, find_moves
from flipset.space.rows import read_row
from flipset.space.shared import Shared
from flipset.space.unit_options import Option
from flipset.space.words import Decision, FeatureWords, Words

SPACE = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=100),
        Feature("debt", direction=-1, lower=0.0, upper=50.0),
        Feature("home", "categorical", options=("flat", "house", "none")),
        Feature("age", fixed=True),
    ]
)


def moves_of(*cells: object) -> Moves:
    return find_moves(SPACE, read_row(list(cells), SPACE.names), raise_score=True)


def test_names_texts_and_proofs_are_kept_once() -> None:
    shared = Shared()
    names = shared.names(("a", "b"))
    assert shared.names(tuple("ab")) is names
    sets = shared.names((("a",), ("b",)))
    assert shared.names(tuple((name,) for name in "ab")) is sets
    assert shared.names(()) == ()
    texts = shared.texts({"a": "its levels"})
    assert shared.texts({"a": "its levels"}) is texts
    assert shared.texts({"a": "other"}) == {"a": "other"}
    assert shared.texts({}) == {}
    proof = shared.proof(Proof(2, (1,), (2,)))
    assert shared.proof(Proof(2, (1,), (2,))) is proof
    assert shared.proof(Proof(2, (1,), ())) is not proof


def test_weights_of_other_types_stay_apart() -> None:
    shared = Shared()
    whole, broken = (shared.proof(Proof(1, (), (1,), weights)) for weights in ((1,), (1.0,)))
    assert whole == broken
    assert [repr(json.loads(one.to_json())["weights"]) for one in (whole, broken)] == ["[1]", "[1.0]"]


def test_words_are_kept_once_and_other_thresholds_stay_apart() -> None:
    shared = Shared()
    words = shared.words(Words(Decision(0.5), {"a": FeatureWords("income", "USD")}))
    assert shared.words(Words(Decision(0.5), {"a": FeatureWords("income", "USD")})) is words
    assert shared.words(Words(Decision(0.5), {"a": FeatureWords("income")})) is not words
    thresholds = (None, 1, 1.0, 0, 0.0, -0.0)
    kept = [shared.words(Words(Decision(threshold))).decision.threshold for threshold in thresholds]
    assert list(map(repr, kept)) == list(map(repr, thresholds))


def test_moves_lose_their_paths_and_nothing_else() -> None:
    moves = moves_of(40, 12.5, "flat", 30)
    kept = Shared().moves(moves)
    assert kept.held_fixed == moves.held_fixed
    for one, other in zip(kept.units, moves.units, strict=True):
        assert (one.name, one.columns) == (other.name, other.columns)
        assert (one.ordered, one.weight) == (other.ordered, other.weight)
        assert [option.end for option in one.options] == [option.end for option in other.options]
        assert not any(option.paths for option in one.options)
    assert [kept.rows(flips) for flips in range(8)] == [moves.rows(flips) for flips in range(8)]
    assert Shared().moves(kept) == kept


def test_rows_that_can_go_as_far_have_the_same_moves() -> None:
    shared = Shared()
    first = shared.moves(moves_of(40, 12.5, "flat", 30))
    assert shared.moves(moves_of(41, 3.25, "flat", 80)) is first
    other = shared.moves(moves_of(41, 0.0, "flat", 80))  # debt is at its best: it is no unit
    assert [unit.name for unit in other.units] == ["income", "home"]
    assert other.units[0] is first.units[0]
    assert shared.moves(moves_of(40, 12.5, "house", 30)) != first


ALIKE = (0, 0.0, -0.0, 1, 1.0, True, False, None, "a", float("nan"))
ends = st.one_of(st.sampled_from(ALIKE), st.floats(), st.integers())


@given(ends, ends)
def test_moves_are_one_exactly_when_their_values_and_types_are(a: object, b: object) -> None:
    shared = Shared()
    first, second = (shared.moves(Moves((Unit("x", (0,), (Option(((0, end),)),), True, 1),), ())) for end in (a, b))
    assert (first is second) == (cell_key(a) == cell_key(b))
    assert repr(second.units[0].end) == repr((0, b))


def test_c8_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    shared = Shared()
    for i in range(50):
        assert shared.names((str(i),)) == (str(i),)
        assert len(shared._parts) <= 3


def test_shared_parts_survive_pickling() -> None:
    shared = Shared()
    parts = [shared.moves(moves_of(40, 12.5, "flat", 30)), shared.moves(moves_of(1, 12.5, "flat", 30))]
    first, second = pickle.loads(pickle.dumps(parts))
    assert first is second
    assert first == parts[0]
