from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError, OracleError, Proof
from flipset.protocol import flips_of
from flipset.testing import asking_sets, smallest
from tests.strategies import Function, functions


def forces_by_definition(d: int, zeros: list[int], ones: list[int]) -> bool:
    """Every monotone function that agrees has exactly these smallest flip sets: checked on the two extreme ones.

    Among functions that agree, the least flips only above the ones and the greatest wherever no zero forbids it.
    """
    if any(one & ~zero == 0 for one in ones for zero in zeros):
        return False

    def least(q: int) -> bool:
        return any(one & ~q == 0 for one in ones)

    def greatest(q: int) -> bool:
        return all(q & ~zero for zero in zeros)

    return smallest(least, d) == smallest(greatest, d) == tuple(sorted(ones, key=lambda q: _order(q, d)))


def _order(q: int, d: int) -> tuple[int, list[int]]:
    return q.bit_count(), [i for i in range(d) if q >> i & 1]


@given(st.integers(1, 5), st.data())
def test_check_is_the_definition(d: int, data: st.DataObject) -> None:
    sets = st.integers(0, (1 << d) - 1)
    zeros = data.draw(st.lists(sets, max_size=8))
    ones = data.draw(st.lists(sets, max_size=4, unique=True))
    assert Proof(d, tuple(zeros), tuple(ones)).check(d) == forces_by_definition(d, zeros, ones)


@given(st.integers(1, 4), st.data())
def test_check_with_weights_is_the_definition(d: int, data: st.DataObject) -> None:
    sets = st.integers(0, (1 << d) - 1)
    zeros = data.draw(st.lists(sets, max_size=6))
    ones = data.draw(st.lists(sets, max_size=3, unique=True))
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0]), min_size=d, max_size=d))

    def weigh(q: int) -> Fraction:
        return sum((Fraction(str(weights[i])) for i in range(d) if q >> i & 1), Fraction(0))

    def lightest(g: Callable[[int], bool]) -> set[int]:
        flipping = [q for q in range(1 << d) if g(q)]
        return {q for q in flipping if weigh(q) == min(map(weigh, flipping))}

    consistent = all(one & ~zero for one in ones for zero in zeros)
    least = lightest(lambda q: any(one & ~q == 0 for one in ones))
    greatest = lightest(lambda q: all(q & ~zero for zero in zeros))
    proof = Proof(d, tuple(zeros), tuple(ones), tuple(weights))
    assert proof.check(d) == (consistent and least == greatest == set(ones))
    assert Proof.from_json(proof.to_json()) == proof
    open_sets = [weigh(q) for q in range(1 << d) if all(q & ~zero for zero in zeros)]
    assert proof.lower() == (float(min(open_sets)) if open_sets else None)


def test_weights_of_a_proof_must_be_right() -> None:
    with pytest.raises(InputError, match="needs as many weights, got 1"):
        Proof(2, (), (), (1.0,))
    with pytest.raises(InputError, match=r"weights\[1\] of a proof is 0"):
        Proof(2, (), (), (1.0, 0))
    assert Proof(2, (0b10,), (0b01,), (1.5, 1)).states() == "the lightest flip sets have weight 1.5 and are exactly {0}"


@given(functions(max_d=6))
def test_all_zeros_and_the_answer_are_a_proof_and_losing_a_one_is_not(function: Function) -> None:
    g, d, _ = function
    zeros = tuple(q for q in range(1 << d) if not g(q))
    ones = smallest(g, d)
    proof = Proof(d, zeros, ones)
    assert proof.check(d)
    assert proof.check()
    assert not proof.check(d + 1)
    assert proof.confirm(asking_sets(g))
    if ones:
        assert not Proof(d, zeros, ones[1:]).check(d)


def test_the_gap_is_a_set_left_open() -> None:
    proof = Proof(4, (0b0011,), (0b1100,))
    gap = proof.gap()
    assert gap is not None
    assert gap.bit_count() == 1
    assert gap & ~0b0011
    assert Proof(4, (0b0111, 0b1011), (0b1100,)).gap() is None


def test_bracket_of_an_incomplete_proof() -> None:
    assert Proof(4, (0b0111, 0b1011), (0b1111,)).lower() == 2
    assert Proof(4, (0b0111, 0b1011), (0b1111,)).upper() == 4
    assert Proof(4, (), ()).lower() == 0
    assert Proof(4, (0b1111,), ()).lower() is None
    assert Proof(4, (0b1111,), ()).upper() is None


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (Proof(3, (0b110,), (0b001,)), "the smallest flip sets have size 1 and are exactly {0}"),
        (Proof(3, (0b111,), ()), "no flip set exists"),
        (Proof(3, (0b110,), ()), "every flip set has size at least 1"),
        (Proof(3, (0b110,), (0b011,)), "every flip set has size at least 1, and one has size 2"),
        (Proof(3, (0b111,), (0b011,)), "nothing: no monotone function agrees with these zeros and ones"),
    ],
)
def test_states_in_words_what_is_proved(proof: Proof, words: str) -> None:
    assert proof.states() == words


def test_disagreements_name_the_questions() -> None:
    proof = Proof(3, (0b110, 0b010), (0b001,))
    assert proof.disagreements(lambda sets: [1 in s or 0 in s for s in sets]) == (0b110, 0b010)
    assert proof.disagreements(lambda sets: [-1.0 for s in sets]) == (0b001,)
    assert proof.disagreements(lambda sets: [0.0 if 0 in s else -0.5 for s in sets]) == ()
    for garbage in (float("nan"), 0, None, "yes"):
        with pytest.raises(OracleError, match="expected a bool or a float margin"):
            proof.confirm(lambda sets, garbage=garbage: [garbage] * len(sets))  # type: ignore[misc]
    with pytest.raises(OracleError, match="1 answer to 3 questions"):
        proof.confirm(lambda sets: [True])


@given(st.integers(1, 70), st.data())
def test_json_round_trip(d: int, data: st.DataObject) -> None:
    sets = st.lists(st.integers(0, (1 << d) - 1), max_size=5).map(tuple)
    proof = Proof(d, data.draw(sets), data.draw(sets))
    assert Proof.from_json(proof.to_json()) == proof


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be JSON"),
        ("[]", '"format": "flipset-proof/1"'),
        ('{"format": "flipset-proof/2"}', '"format": "flipset-proof/1"'),
        ('{"format": "flipset-proof/1", "d": 0}', '"d" of a proof .* got 0'),
        ('{"format": "flipset-proof/1", "d": true}', '"d" of a proof .* got True'),
        ('{"format": "flipset-proof/1", "d": 3, "ones": 1}', '"ones" of a proof must be a list'),
        ('{"format": "flipset-proof/1", "d": 3, "ones": [1]}', '"ones" of a proof must be a list'),
        (
            '{"format": "flipset-proof/1", "d": 3, "ones": [[3]], "zeros_hold": []}',
            '"ones" .* feature 3; expected 0 to 2',
        ),
        ('{"format": "flipset-proof/1", "d": 3, "ones": [], "zeros_hold": [["a"]]}', "names feature 'a'"),
    ],
)
def test_a_file_that_is_no_proof_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Proof.from_json(text)


@pytest.mark.parametrize("flips", [-1, 0b1000])
def test_sets_outside_the_features_are_refused(flips: int) -> None:
    with pytest.raises(InputError, match="outside 0 to 2"):
        Proof(3, (flips,), ())


def test_a_large_proof_is_checked_quickly_enough_to_be_checked_at_all() -> None:
    # At least 4 of 12: 495 optimal sets, and each zero is one of the 220 sets of 3.
    ones = tuple(flips_of(c) for c in combinations(range(12), 4))
    zeros = tuple(flips_of(c) for c in combinations(range(12), 3))
    assert Proof(12, zeros, ones).check(12)
    assert not Proof(12, zeros[1:], ones).check(12)


def test_a_long_chain_of_forced_features_is_no_deep_recursion() -> None:
    everything = (1 << 2000) - 1
    proof = Proof(2000, tuple(everything & ~(1 << i) for i in range(2000)), (everything,))
    assert proof.check(2000)
    assert not Proof(2000, proof.zeros[1:], proof.ones).check(2000)


def test_features_that_stand_for_each_other_are_tried_once() -> None:
    # One feature flips; the others are covered by pieces. Feature by feature a check would take minutes.
    d = 300_000
    pieces = [(1 << hi) - (1 << lo) for lo, hi in ((1, 90_000), (90_000, 200_000), (200_000, d))]
    assert Proof(d, tuple(pieces), (1,)).check()
    open_feature = 1 << 123_456
    assert Proof(d, tuple(piece & ~open_feature for piece in pieces), (1,)).gap() == open_feature
