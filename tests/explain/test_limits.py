"""Limits are kept in every phase: search, proof, reasons, values, and what a stopped search says."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest

import flipset.protocol
import flipset.search.proving
from flipset import Explainer, Explanation, Feature, Flipsets, Proof, Space, find_flipsets, iter_flipsets
from flipset.answers import monotonicity
from flipset.drivers import abandon
from flipset.protocol import Flips, Flow, Steps, advance, checkpoint, flips_of, is_checkpoint
from flipset.search.proving import bound_below, partial_proof, proving
from flipset.search.reasons import find_reasons
from flipset.sets.known import Known
from flipset.testing import DRAWS, asking_sets, is_minimal_certificate, smallest
from flipset.values.best import Best
from flipset.values.cheapest import find_cheapest
from flipset.values.grid import Grid
from tests.strategies import draw


def at_least(k: int) -> Callable[[Sequence[frozenset[int]]], list[bool]]:
    return lambda sets: [len(s) >= k for s in sets]


class Clock:
    """A clock that advances by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)


# --- A7 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 8, 16, 32, 64, 256])
def test_a7_reasons_of_at_least_7_of_14_are_made_minimal(batch: int) -> None:
    found = find_flipsets(at_least(7), 14, batch=batch, max_flipsets=None, reasons="all")
    assert found.status == "optimal"
    assert set(found.flipsets) == {frozenset(c) for c in combinations(range(14), 7)}
    assert set(found.certificates) == {frozenset(c) for c in combinations(range(14), 8)}
    # 6,435 of them are in every proof. Large batches ask up to all 9,908 sets of at most 7 features, in few rounds.
    assert found.queries <= (8_100 if batch < 64 else 9_908)
    assert found.rounds <= 1_000 or batch == 1


def test_a7_a_default_explainer_on_12_flags() -> None:
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(12)])
    explainer = Explainer(lambda rows: rows.sum(axis=1), space, threshold=6)
    e = explainer.explain([0] * 12, max_flipsets=None, reasons="all")
    assert (e.status, e.size, len(e.flipsets), len(e.reasons)) == ("optimal", 6, comb(12, 6), comb(12, 7))


# --- answers are those of exhaustive enumeration ----------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3, 8, 16, 64])
def test_sets_and_minimal_reasons_are_right_at_every_batch(batch: int) -> None:
    for seed in range(250):
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(9))
        truth = smallest(g, d)
        for reasons in (True, "all"):
            found = find_flipsets(asking_sets(g), d, batch=batch, reasons=reasons)
            assert tuple(map(flips_of, found.flipsets)) == truth, seed
            assert found.proof.check(d), seed
            assert found.proof.confirm(asking_sets(g))
            assert all(is_minimal_certificate(g, flips_of(reason), d) for reason in found.certificates), seed


@pytest.mark.parametrize("batch", [1, 16, 64])
def test_no_more_is_asked_than_allowed_in_any_phase(batch: int) -> None:
    for seed in range(12):
        g, d, _ = draw(seed % len(DRAWS), seed, d=8)
        whole = find_flipsets(asking_sets(g), d, batch=batch)
        for limit in range(1, whole.queries + 1):
            asked = 0

            def flips(sets: Sequence[frozenset[int]], g: Callable[[Flips], bool] = g) -> list[bool]:
                nonlocal asked
                asked += len(sets)
                return [g(flips_of(s)) for s in sets]

            found = find_flipsets(flips, d, batch=batch, max_queries=limit)
            assert found.queries == asked <= limit
            assert found.status == "stopped" or found.flipsets == whole.flipsets


# --- checkpoints change nothing ---------------------------------------------------------------------------------------


def everything_found(g: Callable[[Flips], bool], d: int, batch: int) -> list[Any]:
    """Return what is found, and how, by every way to ask about a set function."""
    weights = [1 + i % 3 for i in range(d)]
    return [
        find_flipsets(asking_sets(g), d, batch=batch),
        find_flipsets(asking_sets(g), d, batch=batch, weights=weights),
        find_flipsets(asking_sets(g), d, batch=batch, max_queries=12),
        list(iter_flipsets(asking_sets(g), d, batch=batch)),
    ]


def test_checkpoints_change_neither_answers_nor_queries_nor_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(60):
        g, d, _ = draw(seed % len(DRAWS), seed, d=1 + Random(seed).randrange(8))
        for batch in (1, 5, 16):
            told = []
            for apart in (10**9, 1, 7):
                monkeypatch.setattr(flipset.protocol, "STEPS_APART", apart)
                told.append(everything_found(g, d, batch))
            assert told[0] == told[1] == told[2], seed


def grid_explainer(features: int, points: int, threshold: float) -> Explainer:
    pulls = np.array([1.0 + i / 3 for i in range(features)])
    space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=points) for i in range(features)])
    return Explainer(lambda rows: (np.asarray(rows, float) ** 0.7) @ pulls, space, threshold=threshold)


WANTED: list[dict[str, Any]] = [
    {"value_queries": None},
    {"value_queries": None, "batch": 1},
    {"objective": "cost", "max_changes": 4},
    {"objective": "cost", "batch": 1},
    {"max_queries": 90},
]


def test_checkpoints_change_no_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    for features, points, threshold in ((3, 6, 9.0), (4, 5, 14.0), (2, 30, 15.0)):
        for how in WANTED:
            told: list[Explanation] = []
            for apart in (10**9, 1, 7):
                monkeypatch.setattr(flipset.protocol, "STEPS_APART", apart)
                told.append(grid_explainer(features, points, threshold).explain([0] * features, **how))
            assert told[0] == told[1] == told[2], (features, how)


# --- a clock that runs out somewhere ----------------------------------------------------------------------------------


def runs_out(monkeypatch: pytest.MonkeyPatch, find: Callable[[float], Any], samples: int) -> Iterator[Any]:
    """Run with limits spread over the time that the whole takes; yield the results."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(abandon, "GRACE", 3600.0)  # calls return at once, however busy the machine is
    compared = checkpoints_of_the_check(monkeypatch)
    find(1e9)
    whole = clock.looks
    assert whole > samples
    for k in range(samples):
        clock.looks = 0
        compared.clear()
        limit = 1 + k * whole // samples
        found = find(limit)
        # The look that starts the clock, the look of a call that was let through just in time, and the look that finds
        # the time over. The comparison of all answers comes after that and is not cut short: without it, a result
        # might rest on answers that contradict each other.
        # Where the time is over before values are sought, each of the two searches for the cheapest of all looks once.
        assert clock.looks - len(compared) <= limit + 4, "it went on after its time was over"
        yield found


def checkpoints_of_the_check(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list to which the check of monotonicity adds an entry for each of its checkpoints."""
    passed: list[None] = []

    def noted() -> Flow[Any, None]:
        passed.append(None)
        yield from checkpoint()

    monkeypatch.setattr(monotonicity, "checkpoint", noted)
    return passed


def test_time_runs_out_in_the_search_in_the_proof_and_in_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flipset.protocol, "STEPS_APART", 40)
    rng = Random(4)
    pulls = [rng.uniform(1, 1.6) for _ in range(10)]

    def flips(sets: Sequence[frozenset[int]]) -> list[float]:
        return [sum(pulls[i] for i in s) - 4.9 for s in sets]

    for batch in (1, 16):
        whole = find_flipsets(flips, 10, batch=batch, reasons="all")
        bare = find_flipsets(flips, 10, batch=batch, reasons=False)
        assert whole.size is not None

        def limited(seconds: float, batch: int = batch) -> Flipsets:
            return find_flipsets(flips, 10, batch=batch, max_seconds=seconds, reasons="all")

        phases = set()
        for found in runs_out(monkeypatch, limited, 25):
            assert found.proof.confirm(flips)
            if found.status == "stopped":
                assert found.lower <= whole.size
                assert found.upper is None or whole.size <= found.upper
                phases.add("search" if found.queries < bare.queries else "proof")
            else:
                assert found.flipsets == whole.flipsets
                assert found.proof.check(10)
                phases.add("reasons" if found.proof.zeros == bare.proof.zeros else "end")
        assert phases >= {"search", "proof", "reasons"}, phases


@pytest.mark.parametrize("how", [{"value_queries": None, "reasons": False}, {"objective": "cost", "max_changes": 3}])
def test_time_runs_out_while_values_are_sought(monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]) -> None:
    monkeypatch.setattr(flipset.protocol, "STEPS_APART", 40)
    explainer = grid_explainer(4, 10, 18.0)
    whole = explainer.explain([0] * 4, batch=4, **how)
    cut = 0
    for e in runs_out(monkeypatch, lambda s: explainer.explain([0] * 4, batch=4, max_seconds=s, **how), 20):
        if e.status == "stopped":
            continue
        assert e.flipsets == whole.flipsets
        for mine, best in zip(e.counterfactuals, whole.counterfactuals, strict=True):
            assert mine.cost_at_least <= best.cost <= mine.cost
            assert mine.score >= 18.0
            cut += mine.cost_at_least < mine.cost
    assert cut, "time never ran out while values were sought"


def test_all_minimal_sets_in_order_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flipset.protocol, "STEPS_APART", 40)
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    sets = iter_flipsets(at_least(5), 11, max_seconds=100)
    with pytest.raises(flipset.BudgetExhausted, match="100 seconds"):
        list(sets)
    assert clock.looks == 101  # from the first look, 100 seconds on


# --- work between two checkpoints -------------------------------------------------------------------------------------


class CountingSteps(Steps):
    """Steps that are counted over all computations."""

    total = 0
    __slots__ = ()

    def due(self, steps: int = 1) -> bool:
        CountingSteps.total += steps
        return super().due(steps)


def stretches(flow: Flow[Any, Any], answer: Callable[[Any], float], looks: list[int]) -> list[int]:
    """Run a flow; return how often it looked things up between one batch or checkpoint and the next."""
    done: list[int] = []
    step = advance(flow)
    while True:
        done.append(len(looks))
        looks.clear()
        if isinstance(step, flipset.protocol.Done):
            return done
        step = advance(flow, () if is_checkpoint(step) else [answer(query) for query in step])


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, looks: list[int]) -> None:
    """Note every call of a function."""
    before = getattr(owner, name)

    def noted(*given: Any, **named: Any) -> Any:
        looks.append(1)
        return before(*given, **named)

    monkeypatch.setattr(owner, name, noted)


def full_knowledge(n: int, k: int) -> Known:
    known = Known()
    for size, flips in ((k - 1, False), (k, True)):
        for c in combinations(range(n), size):
            known.learn(flips_of(c), flips)
    return known


def test_proof_and_reasons_pass_checkpoints_while_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    n, k = 13, 6
    known = full_knowledge(n, k)
    claim = Proof(n, (), tuple(known.ones))
    looks: list[int] = []
    counted(monkeypatch, flipset.search.gap_walk, "tightest", looks)
    counted(monkeypatch, Known, "settle", looks)
    counted(monkeypatch, Known, "largest_zero_above", looks)
    proof = Proof(n, tuple(known.zeros), tuple(known.ones))
    for flow in (proving(claim, known), find_reasons(proof, known, {}, 1), find_reasons(proof, known, {}, 16)):
        parts = stretches(flow, lambda q: 1.0 if q.bit_count() >= k else -1.0, looks)
        assert sum(parts) > 3_000
        assert max(parts) <= flipset.protocol.STEPS_APART
        assert len(parts) > 3


def test_a_cheapest_point_passes_checkpoints_while_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flipset.protocol, "STEPS_APART", 300)
    rng = Random(1)
    costs = [[0, *sorted(rng.randrange(1, 10**6) for _ in range(40))] for _ in range(4)]
    grid, best = Grid((40,) * 4, costs, batch=2), Best()
    looks: list[int] = []
    counted(monkeypatch, flipset.values.cheapest, "_tighten", looks)
    parts = stretches(find_cheapest(grid, (0,) * 4, best), lambda p: sum(p) - 70.5, looks)
    assert sum(parts) > 500
    assert max(parts) <= 300


@pytest.mark.parametrize("batch", [1, 16])
def test_proof_and_reasons_take_time_about_linear_in_the_queries(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(flipset.search.proving, "Steps", CountingSteps)
    queries, each = [], []
    for n in (8, 10, 12, 14):
        CountingSteps.total = 0
        found = find_flipsets(at_least(n // 2), n, batch=batch, max_flipsets=None, reasons="all")
        queries.append(found.queries)
        each.append(CountingSteps.total / found.queries)
    # The queries grow from 139 to 6,585 and more. Were the proof built again and again, the steps for each of them
    # would grow as much.
    assert queries[-1] > 40 * queries[0]
    assert each[-1] < 8 * each[0], each


# --- what a stopped search says ---------------------------------------------------------------------------------------


def lightest_left(proof: Proof, weights: Sequence[int]) -> int | None:
    """Return by enumeration what the lightest set weighs that lies in no zero."""
    left = [q for q in range(1 << proof.d) if all(q & ~zero for zero in proof.zeros)]
    return min((sum(w for i, w in enumerate(weights) if q >> i & 1) for q in left), default=None)


def test_the_bound_of_a_stopped_search_is_exact_where_that_is_quick_and_right_where_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = fewer = 0
    for seed in range(400):
        rng = Random(seed)
        d = rng.randrange(1, 8)
        weights = [rng.choice([1, 2, 5]) for _ in range(d)] if seed % 2 else [1] * d
        zeros = tuple(rng.getrandbits(d) for _ in range(rng.randrange(8)))
        proof = Proof(d, zeros, (), tuple(weights) if seed % 2 else None)
        best = lightest_left(proof, weights)
        assert bound_below(proof) == best, seed
        with monkeypatch.context() as patch:
            patch.setattr(flipset.protocol, "STEPS_APART", 1)
            patch.setattr(flipset.search.proving, "BOUND_TICKS", 1)
            bound = bound_below(proof)
        if best is None or bound is None:
            assert bound is best is None
            continue
        assert bound <= best
        exact += bound == best
        fewer += bound < best
    assert exact
    assert fewer


def test_a_stopped_search_keeps_the_bound_that_it_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search has settled all sets of three features; no time is left to find that out from the zeros again."""
    monkeypatch.setattr(flipset.search.proving, "BOUND_TICKS", 1)
    monkeypatch.setattr(flipset.protocol, "STEPS_APART", 1)
    whole = find_flipsets(at_least(5), 12, reasons=False)
    found: Flipsets | None = None
    for limit in range(300, whole.queries, 20):
        found = find_flipsets(at_least(5), 12, reasons=False, max_queries=limit)
        if found.lower is not None and found.lower >= 4:
            break
    assert found is not None
    assert found.lower is not None
    assert found.lower >= 4
    packed = 12 // max(12 - zero.bit_count() for zero in found.proof.zeros)
    assert found.lower > packed


def test_a_stopped_search_lists_so_many_flip_sets_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    known = full_knowledge(12, 5)
    proof = partial_proof(Proof(12, (), ()), known)
    assert len(proof.ones) == comb(12, 5)
    monkeypatch.setattr(flipset.search.proving, "STOPPED_MOST", 10)
    assert partial_proof(Proof(12, (), ()), known).ones == proof.ones[:10]
    found = find_flipsets(at_least(5), 12, reasons=False, max_queries=900)
    assert (found.status, found.upper, len(found.flipsets)) == ("stopped", 5, 10)
