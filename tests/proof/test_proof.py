import json
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError, NotDecided, OracleError, Proof
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
    with pytest.raises(OracleError, match="1 answer to 3 queries"):
        proof.confirm(lambda sets: [True])


def written(**changes: Any) -> str:
    return json.dumps({"format": "flipset-proof/1", "d": 3, "ones": [], "zeros_hold": []} | changes)


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
        ('{"format": "flipset-proof/1", "d": 3}', "proof has no 'ones'"),
        (written(d=0), r"proof\.d must be a whole number of at least 1, got 0"),
        (written(d=True), r"proof\.d must be a whole number of at least 1, got True"),
        (written(ones=1), r"proof\.ones must be a list, got 1"),
        (written(ones=[1]), r"proof\.ones\[0\] must be a list, got 1"),
        (written(ones=[[3]]), r"proof\.ones\[0\]\[0\] must be a feature, 0 to 2, got 3"),
        (written(ones=[[1, 1]]), r"proof\.ones\[0\]\[1\] must be different from the entries before it, got 1"),
        (written(zeros_hold=[["a"]]), r"proof\.zeros_hold\[0\]\[0\] must be a feature, 0 to 2, got 'a'"),
        (written(weights=[1, 2]), r"proof\.weights must be a list of 3 weights"),
        (written(weights=[1, 2, "1e100000000"]), r"proof\.weights\[2\] must be a number, got '1e100000000'"),
        (written(weights=[1, 2, 1e300]), r"proof\.weights\[2\] must be a positive number, between 1e-100 and 1e100"),
        (written(extra=1), "proof has 'extra', which is not one of its fields"),
        (written(d=4_000_000_000), r"proof\.d must be at most 1,000,000, got 4000000000"),
        (written(d=1_000_000, ones=[[]] * 1000), "proof has too many sets of 1,000,000 features: 1,000"),
        ("[" * 100_000, "not nested so deeply"),
        (f'{{"d": {"9" * 5000}}}', "must be JSON"),
        ('{"d": 1, "d": 1}', "with the name 'd' twice"),
        ('{"d": NaN}', "has no NaN"),
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


def test_a13_a_margin_of_zero_is_a_flip_whatever_kind_of_float_it_is() -> None:
    proof = Proof(1, (), (1,))
    for zero in (0.0, -0.0, np.float16(0.0), np.float32(0.0), np.float64(0.0)):
        assert proof.confirm(lambda sets, zero=zero: [zero])  # type: ignore[misc]
    for label in (0, np.int64(0), np.uint8(0)):
        with pytest.raises(OracleError, match="expected a bool or a float margin"):
            proof.confirm(lambda sets, label=label: [label])  # type: ignore[misc]


def hard(units: int = 100, reasons: int = 300) -> Proof:
    """Zeros as an attacker writes them: no check of them ends in a lifetime."""
    rng = Random(0)
    whole = (1 << units) - 1
    return Proof(units, tuple(whole & ~flips_of(rng.sample(range(units), 8)) for _ in range(reasons)), ())


def test_c2_a_check_ends_within_its_steps_as_not_decided() -> None:
    looks = 0

    def look() -> bool:
        nonlocal looks
        looks += 1
        return False

    proof = hard()
    assert proof.bound(steps=3_000_000, stop=look) == (proof.lower(steps=3_000_000), False)
    assert looks == 29  # every 100,000 steps, until there are none left
    assert 4 <= (proof.lower(steps=3_000_000) or 0) <= 20
    fewest = Proof(proof.d, proof.zeros, (flips_of(range(24)),))
    assert fewest.check(steps=0) is None
    with pytest.raises(NotDecided, match="not decided in 0 steps"):
        fewest.gap(steps=0)


def test_c2_a_check_can_be_stopped() -> None:
    asked = 0

    def gone() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    assert hard().bound(stop=gone)[1] is False
    assert asked == 3


def test_c2_a_deep_search_is_no_deep_recursion() -> None:
    # Two features for each of 3,000 reasons: a gap is 3,000 choices deep.
    whole = (1 << 6000) - 1
    proof = Proof(6000, tuple(whole & ~(0b11 << 2 * i) for i in range(3000)), ())
    assert proof.bound(steps=10_000_000) == (3000, False)
    gap = Proof(600, tuple(((1 << 600) - 1) & ~(0b11 << 2 * i) for i in range(300)), ()).gap()
    assert gap is not None
    assert gap.bit_count() == 300


@given(st.integers(1, 6), st.data())
def test_c2_what_few_steps_prove_is_right(d: int, data: st.DataObject) -> None:
    sets = st.integers(0, (1 << d) - 1)
    proof = Proof(d, tuple(data.draw(st.lists(sets, max_size=8))), ())
    exact = proof.lower()
    few, decided = proof.bound(steps=data.draw(st.integers(0, 60)))
    assert (few == exact) if decided or exact is None else few is not None and few <= exact
    words = proof.states(steps=0)
    assert exact is None or f"at least {proof.lower(steps=0)}" in words


@given(st.integers(1, 6), st.data())
def test_a_lower_bound_is_decided_as_the_best_bound_says(d: int, data: st.DataObject) -> None:
    sets = st.integers(0, (1 << d) - 1)
    weights = data.draw(st.none() | st.lists(st.sampled_from([1, 2, 0.5, 0.1, 1e-9, 1e50]), min_size=d, max_size=d))
    proof = Proof(d, tuple(data.draw(st.lists(sets, max_size=8))), (), None if weights is None else tuple(weights))
    best = proof.lower()
    for lower in {0, 1, 2, 0.3, *([] if best is None else [best, best + 0.05, best * 2, best / 2])}:
        found = proof.weight_below(lower)
        assert (found is None) == (best is None or float(best) >= float(lower)), (lower, best, found)
        assert found is None or (best is not None and float(best) <= float(found) < lower)


def test_c2_whether_a_bound_is_proved_takes_far_fewer_steps_than_the_best_bound() -> None:
    proof = hard()
    assert proof.weight_below(9, steps=1_000_000) is None
    assert (proof.weight_below(40, steps=1_000_000) or 0) < 40
    assert proof.bound(steps=1_000_000)[1] is False
    with pytest.raises(NotDecided):
        proof.weight_below(20, steps=1_000_000)


def test_c2_consistency_is_decided_within_its_steps() -> None:
    proof = Proof(4, (0b0111,) * 100, (0b1000,) * 100)
    assert proof.is_consistent() is True
    assert proof.is_consistent(steps=50) is None
    assert proof.is_consistent(stop=lambda: True) is True  # it ended before anybody was asked
    assert Proof(4, (0b0111,), (0b0001,)).is_consistent() is False
