import subprocess
import sys
import time
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipset
from flipset import BudgetExhausted, InputError, NotMonotone, OracleError, Search, find_flipsets, iter_flipsets
from flipset.drivers import abandon
from flipset.errors import NotReturned
from flipset.paper import ball_search, find_optimal
from flipset.protocol import Flips, flips_of
from flipset.search.guided import guided_search
from flipset.search.solve import FindAll
from flipset.testing import DRAWS, asking_sets, is_minimal_certificate, smallest
from tests.patience import PATIENCE
from tests.strategies import Function, draw, functions

SEARCHES: list[FindAll] = [guided_search, find_optimal, ball_search]


def check_everything(function: Function, search: FindAll, batch: int = 1) -> None:
    """Compare with exhaustive enumeration, and the proof with the model."""
    g, d, _ = function
    truth = smallest(g, d)
    found = find_flipsets(asking_sets(g), d, search=search, batch=batch)
    assert found.flipsets == tuple(frozenset(i for i in range(d) if q >> i & 1) for q in truth)
    assert found.status == ("optimal" if truth else "none")
    size = truth[0].bit_count() if truth else None
    assert found.size == found.lower == found.upper == size
    assert found.proof.check(d)
    assert found.proof.confirm(asking_sets(g))
    for certificate in found.certificates:
        assert is_minimal_certificate(g, flips_of(certificate), d)
        assert all(certificate & s for s in found.flipsets)


@given(functions(max_d=8), st.integers(1, 10))
def test_every_search_agrees_with_exhaustive_enumeration(function: Function, batch: int) -> None:
    for search in SEARCHES:
        check_everything(function, search, batch)


@pytest.mark.parametrize("chunk", range(20))
def test_twenty_thousand_seeded_functions(chunk: int) -> None:
    for seed in range(chunk * 1000, (chunk + 1) * 1000):
        function = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(10))
        for search in SEARCHES:
            check_everything(function, search, batch=(1, 8, 64)[seed % 3])


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", range(200))
def test_long_campaign(chunk: int) -> None:
    for seed in range(10**6 + chunk * 1000, 10**6 + (chunk + 1) * 1000):
        function = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(10))
        for search in SEARCHES:
            check_everything(function, search, batch=(1, 2, 3, 5, 8, 16, 24, 64, 100)[seed % 9])


@pytest.mark.parametrize("batch", [1, 7, 16, 24, 64])
def test_no_round_is_larger_than_the_batch_also_when_reasons_are_made_minimal(batch: int) -> None:
    for seed in range(300):
        g, d, _ = draw(seed % len(DRAWS), seed, d=4 + Random(seed).randrange(9))
        sizes: list[int] = []

        def noted(sets: Sequence[frozenset[int]], g: Any = g, sizes: list[int] = sizes) -> list[bool]:
            sizes.append(len(sets))
            return [bool(g(flips_of(s))) for s in sets]

        find_flipsets(noted, d, batch=batch, reasons="all" if seed % 2 else True)
        assert max(sizes) <= batch


@given(functions(max_d=7), st.permutations(range(7)))
def test_renaming_features_renames_the_answer(function: Function, order: list[int]) -> None:
    g, d, _ = function
    order = [i for i in order if i < d]

    def renamed(sets: Sequence[frozenset[int]]) -> list[bool]:
        return [g(flips_of(order[i] for i in s)) for s in sets]

    found = find_flipsets(renamed, d)
    assert {frozenset(order[i] for i in s) for s in found.flipsets} == set(find_flipsets(asking_sets(g), d).flipsets)


@given(functions(max_d=6))
def test_irrelevant_features_change_no_answer(function: Function) -> None:
    g, d, _ = function
    padded = find_flipsets(asking_sets(lambda q: g(q & (1 << d) - 1)), d + 50)
    assert padded.flipsets == find_flipsets(asking_sets(g), d).flipsets


@given(functions(max_d=7), st.integers(0, 30))
def test_a_stopped_search_brackets_the_size(function: Function, limit: int) -> None:
    g, d, _ = function
    truth = smallest(g, d)
    found = find_flipsets(asking_sets(g), d, max_queries=limit)
    assert found.queries <= limit
    if found.status != "stopped":
        return
    assert found.size is None
    assert found.proof.is_consistent()
    assert found.proof.confirm(asking_sets(g))
    assert all(g(flips_of(s)) and len(s) == found.upper for s in found.flipsets)
    if truth:
        assert found.lower is not None
        assert found.lower <= truth[0].bit_count()
        assert found.upper is None or truth[0].bit_count() <= found.upper
    else:
        assert found.upper is None


def test_a_budget_of_seconds_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0

    def flips(sets: Sequence[frozenset[int]]) -> list[bool]:
        nonlocal seconds
        seconds += 1  # a call takes a second, and nothing else takes any time
        return [len(s) >= 3 for s in sets]

    monkeypatch.setattr(time, "monotonic", lambda: float(seconds))
    monkeypatch.setattr(abandon, "GRACE", 3600.0)  # calls return at once, however busy the machine is
    found = find_flipsets(flips, 8, max_seconds=5)
    assert (found.status, found.queries) == ("stopped", 5)


def test_margins_and_labels_give_the_same() -> None:
    def margin(sets: Sequence[frozenset[int]]) -> list[float]:
        return [float(len(s) - 2) for s in sets]

    labels = find_flipsets(lambda sets: [len(s) >= 2 for s in sets], 5)
    with_margins = find_flipsets(margin, 5)
    assert with_margins.flipsets == labels.flipsets
    assert with_margins.size == labels.size == 2


def test_where_nothing_needs_to_flip_the_empty_set_is_the_answer() -> None:
    found = find_flipsets(lambda sets: [True] * len(sets), 3)
    assert (found.status, found.size, found.flipsets, found.certificates) == ("optimal", 0, (frozenset(),), ())
    assert found.proof.check(3)


def test_where_nothing_flips_one_question_proves_it() -> None:
    found = find_flipsets(lambda sets: [False] * len(sets), 1000)
    assert (found.status, found.queries, found.size, found.flipsets) == ("none", 1, None, ())
    assert found.certificates == (frozenset(),)
    assert found.proof.states() == "no flip set exists"


MILLION = """
import pathlib, re, flipset
found = flipset.find_flipsets(lambda sets: [777_777 in s for s in sets], 1_000_000)
status = pathlib.Path("/proc/self/status")  # where there is none, as on macOS, memory is not looked at
peak = int(re.search(r"VmHWM:\\s+([0-9]+)", status.read_text())[1]) // 1024 if status.exists() else 0
assert found.flipsets == found.certificates == (frozenset({777_777}),), found.flipsets
assert found.proof.check(1_000_000)
print(found.queries, peak)
"""


def test_one_relevant_feature_among_a_million() -> None:
    out = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True).stdout
    queries, peak = out.split()
    assert int(queries) <= 24
    assert int(peak) < 500  # MB, interpreter and all, but nothing of the process that started it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": [1, 2]}, "weights must have one entry per feature: 3, got 2"),
        ({"weights": [1, 2, 0]}, r"weights\[2\] is 0"),
        ({"weights": [1, 2, 3], "search": find_optimal}, "find_optimal finds smallest sets only"),
        ({"d": 0}, "d must be a whole number of at least 1, got 0"),
        ({"d": -3}, "d must be .* got -3"),
        ({"d": 2.0}, r"d must be .* got 2\.0"),
        ({"d": True}, "d must be .* got True"),
        ({"batch": 0}, "batch must be a whole number of at least 1, got 0"),
        ({"max_queries": -1}, "max_queries must be a number of at least 0"),
        ({"max_queries": "5"}, "max_queries must be .* got '5'"),
        ({"max_queries": 2.5}, r"max_queries must be .* got 2\.5"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number of at least 0"),
        ({"weights": 5}, "weights must be one number per feature, got 5"),
        ({"weights": ["1/0", 1, 1]}, r"weights\[0\] is '1/0'"),
        ({"search": "paper"}, "search must be a function .* got 'paper'"),
    ],
)
def test_arguments_that_cannot_be_right(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_flipsets(lambda sets: [True] * len(sets), **{"d": 3, **arguments})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda sets: [True], "1 answer to 7 queries"),
        (lambda sets: [float("nan")] * len(sets), "NaN"),
        (lambda sets: [0] * len(sets), "integer 0"),
        (lambda sets: None, "must return a sequence"),
    ],
)
def test_answers_that_cannot_be_read(answer: Any, message: str) -> None:
    with pytest.raises(OracleError, match=message):
        find_flipsets(answer, 3, search=seven_at_once)


def seven_at_once(d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
    yield from flipset.ask(range(1, 8))
    return ()


def test_a_predicate_that_is_not_monotone_is_named_with_its_witness() -> None:
    # Flips with feature 0, but not when 1 and 2 join it.
    with pytest.raises(NotMonotone) as caught:
        find_flipsets(lambda sets: [0 in s and s != {0, 1, 2} for s in sets], 4, search=ball_of_everything)
    assert 0 in caught.value.smaller
    assert caught.value.larger == {0, 1, 2}


def ball_of_everything(d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
    for query in range(1 << d):
        yield from flipset.ask((query,))
    return ()


@pytest.mark.parametrize(("asked", "claimed"), [((0,), (0b001,)), ((0b111,), (0b111,)), ((0b001, 0b100), (0b001,))])
def test_a_search_that_concludes_too_early_is_caught(asked: tuple[Flips, ...], claimed: tuple[Flips, ...]) -> None:
    def hasty(d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        yield from flipset.ask(asked)
        return claimed

    with pytest.raises(flipset.ProtocolError, match="not proved"):
        find_flipsets(lambda sets: [0 in s or 1 in s for s in sets], 3, search=hasty)


def weigh(features: frozenset[int], weights: list[float]) -> Fraction:
    return sum((Fraction(str(weights[i])) for i in features), Fraction(0))


@given(functions(max_d=6), st.data())
def test_weights_make_lightest_of_smallest(function: Function, data: st.DataObject) -> None:
    g, d, _ = function
    weights = data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.0]), min_size=d, max_size=d))
    found = find_flipsets(asking_sets(g), d, weights=weights, batch=data.draw(st.sampled_from([1, 8])))
    every = [frozenset(i for i in range(d) if q >> i & 1) for q in range(1 << d) if g(q)]
    least = min((weigh(s, weights) for s in every), default=None)
    assert set(found.flipsets) == {s for s in every if weigh(s, weights) == least}
    assert found.size == (None if least is None else float(least))
    assert found.proof.check(d)
    assert found.proof.confirm(asking_sets(g))


@given(functions(max_d=6), st.integers(1, 9))
def test_iter_flipsets_yields_all_minimal_sets_in_order(function: Function, batch: int) -> None:
    g, d, _ = function
    found = list(iter_flipsets(asking_sets(g), d, batch=batch))
    truth = {
        frozenset(i for i in range(d) if q >> i & 1)
        for q in range(1 << d)
        if g(q) and not any(g(q & ~(1 << i)) for i in range(d) if q >> i & 1)
    }
    assert set(found) == truth
    assert len(found) == len(truth)
    assert [len(s) for s in found] == sorted(len(s) for s in found)


def test_weights_of_any_kind_of_number_end_in_a_proof_that_can_be_written() -> None:
    def flips(sets: Sequence[frozenset[int]]) -> list[bool]:
        return [len(s) >= 2 for s in sets]

    for weights in (np.array([1, 2, 3]), [Decimal("1"), 2, 3.0], (w for w in (1, 2, 3))):
        found = find_flipsets(flips, np.int64(3), weights=weights)  # type: ignore[arg-type]
        assert found.flipsets == (frozenset({0, 1}),)
        assert flipset.Proof.from_json(found.proof.to_json()).check(3)


def test_the_proof_of_a_long_search_is_built_in_one_walk() -> None:
    rng = Random(2)
    weights = [rng.random() for _ in range(18)]
    found = find_flipsets(lambda sets: [sum(weights[i] for i in s) - 3.0 for s in sets], 18, reasons=False)
    assert found.status == "optimal"
    assert found.proof.check(18)


def test_iter_flipsets_asks_only_as_needed_and_says_when_it_must_stop() -> None:
    asked = 0

    def flips(sets: Sequence[frozenset[int]]) -> list[bool]:
        nonlocal asked
        asked += len(sets)
        return [0 in s or len(s) >= 6 for s in sets]

    sets = iter_flipsets(flips, 12)
    assert asked == 0
    assert next(sets) == {0}
    first = asked
    assert len(next(sets)) == 6
    assert asked > first
    with pytest.raises(BudgetExhausted, match="20 queries"):
        list(iter_flipsets(flips, 12, max_queries=20))


def test_an_interrupt_ends_in_a_bracket() -> None:
    asked = 0

    def flips(sets: Sequence[frozenset[int]]) -> list[bool]:
        nonlocal asked
        asked += len(sets)
        if asked > 60:
            raise KeyboardInterrupt
        return [len(s) >= 4 for s in sets]

    found = find_flipsets(flips, 10)
    assert found.status == "stopped"
    assert found.lower is not None
    assert 1 <= found.lower <= 4
    assert found.upper is not None
    assert found.upper >= 4
    assert found.proof.confirm(lambda sets: [len(s) >= 4 for s in sets])


def test_a_budget_that_ends_while_reasons_are_polished_keeps_the_answer() -> None:
    def flips(sets: Sequence[frozenset[int]]) -> list[float]:
        return [2.0 * (0 in s) + 0.3 * len(s) - 2.2 for s in sets]

    bare = find_flipsets(flips, 12, reasons=False)
    whole = find_flipsets(flips, 12, reasons="all")
    assert bare.status == whole.status == "optimal"
    assert bare.flipsets == whole.flipsets
    assert bare.queries < whole.queries
    cut = find_flipsets(flips, 12, max_queries=bare.queries + 1, reasons="all")
    assert (cut.status, cut.flipsets) == ("optimal", whole.flipsets)
    assert cut.proof.check(12)


def test_a_batch_needs_fewer_rounds() -> None:
    def flips(sets: Sequence[frozenset[int]]) -> list[float]:
        return [sum(1.0 / (i + 2) for i in s) - 1.1 for s in sets]

    frugal, fast = (find_flipsets(flips, 16, batch=batch, reasons=False) for batch in (1, 64))
    assert frugal.flipsets == fast.flipsets
    assert fast.rounds * 4 < frugal.rounds
    assert fast.queries < 2 * frugal.queries


def test_c6_a_blocked_call_of_iter_flipsets_is_abandoned() -> None:
    release, calls = Event(), []

    def flips(sets: Sequence[frozenset[int]]) -> list[bool]:
        calls.append(len(sets))
        if len(calls) == 3:
            release.wait(PATIENCE)
        return [bool(s) for s in sets]

    try:
        with pytest.warns(RuntimeWarning, match="did not return"), pytest.raises(NotReturned) as stopped:
            list(iter_flipsets(flips, 5, max_seconds=0.5))
    finally:
        release.set()
    assert len(calls) == 3
    assert stopped.value.known is not None
    assert len(stopped.value.known.zeros) + len(stopped.value.known.ones) > 0
