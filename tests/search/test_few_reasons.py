"""The few reasons that are reported: a function of the set function alone, against the rule written out naively."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random

from flipset import find_flipsets, run
from flipset.paper import ball_search, find_optimal
from flipset.proof import Proof
from flipset.protocol import Flips, ask, compute, everything, features_of
from flipset.search.few_reasons import find_few_reasons, with_reasons_first
from flipset.search.guided import guided_search
from flipset.search.result import Flipsets
from flipset.search.solve import FindAll, Limits, solving
from flipset.search.table.one import search_one
from flipset.sets.known import Known
from flipset.testing import DRAWS, Predicate, is_minimal_certificate, labels, margins, smallest

Oracle = Callable[[Sequence[Flips]], list[float]]


def draw(seed: int, most: int = 8) -> tuple[Predicate, int, Oracle]:
    """Draw a function that does not flip for nothing, and its margins; half are labels."""
    rng = Random(f"few reasons/{seed}")
    while True:
        d = rng.randint(1, most)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if not g(0):
            return g, d, labels(g) if seed // len(DRAWS) % 2 else margins(g, d, rng)


def by_the_rule(g: Predicate, d: int, oracle: Oracle, most: int, fewest: int | None) -> list[Flips]:
    """The rule, as its description says it; `fewest` is the number of features of a smallest flip set."""
    whole = everything(d)
    if not g(whole):
        return [whole]
    order = list(range(d))
    if oracle([whole])[0] != 1.0:
        order.sort(key=lambda i: (oracle([1 << i])[0], i))
    zeros: list[Flips] = []
    for _ in range(most if fewest is None else min(most, fewest)):
        zero = 0
        for i in sorted(order, key=lambda i: (sum(one >> i & 1 for one in zeros), order.index(i))):
            if not g(zero | 1 << i):
                zero |= 1 << i
        if zero in zeros:
            break
        zeros.append(zero)
    return zeros


def solved(d: int, oracle: Oracle, search: FindAll = guided_search, **limits: int | str | bool | None) -> Flipsets:
    return run(solving(d, search, Limits(**limits), answer=ask), oracle)  # type: ignore[arg-type]


def reported(found: Flipsets) -> list[Flips]:
    return list(found.proof.zeros[: found.reasons])


def test_the_zeros_are_those_of_the_rule_for_every_search_and_batch() -> None:
    numbers = Counter[int]()
    for seed in range(400):
        g, d, oracle = draw(seed)
        ones = smallest(g, d)
        most = 1 + seed % 5
        expected = by_the_rule(g, d, oracle, most, ones[0].bit_count() if ones else None)
        for search, batch in ((guided_search, 1), (guided_search, 32), (ball_search, 4), (find_optimal, 2)):
            found = solved(d, oracle, search, batch=batch, reasons=most)
            assert reported(found) == expected, (seed, search, batch)
            assert found.proof.check(d)
            assert all(is_minimal_certificate(g, everything(d) & ~zero, d) for zero in expected)
        numbers[len(expected)] += 1
    assert min(numbers[k] for k in (1, 2, 3)) > 30


def test_the_table_search_reports_the_same_zeros() -> None:
    compared = Counter[int]()
    for seed in range(400):
        _, d, oracle = draw(seed)
        most = 1 + seed % 5
        outcome = run(search_one(d, oracle([0])[0], reasons=most), oracle)
        if outcome.ones is not None:
            found = solved(d, oracle, batch=(1, 32)[seed % 2], reasons=most)
            assert list(outcome.zeros[: outcome.reported]) == reported(found), seed
            compared[outcome.reported] += 1
    assert min(compared[k] for k in (1, 2, 3)) > 25


def test_larger_numbers_add_reasons_and_keep_the_others() -> None:
    for seed in range(60):
        _, d, oracle = draw(seed)
        lists = [reported(solved(d, oracle, reasons=most)) for most in (1, 2, 3, 8)]
        assert all(longer[: len(shorter)] == shorter for shorter, longer in pairwise(lists))


def test_budgets_cut_the_reasons_short_and_change_none() -> None:
    cut = Counter[str]()
    for seed in range(30):
        _, d, oracle = draw(seed)
        full = solved(d, oracle, reasons=3)
        for limit in range(full.queries):
            found = solved(d, oracle, reasons=3, max_queries=limit)
            zeros = reported(found)
            assert zeros == reported(full)[: len(zeros)]
            assert found.status != "stopped" or not zeros
            assert found.status == "stopped" or found.proof.check(d)
            cut[found.status] += 1
    assert cut["optimal"] > 30


def test_none_are_reported_if_none_are_wanted() -> None:
    for seed in range(40):
        _, d, oracle = draw(seed)
        found = solved(d, oracle, reasons=False)
        assert (found.reasons, found.certificates) == (0, ())
        assert found.proof.check(d)
        assert found.queries <= solved(d, oracle, reasons=1).queries


def test_where_no_small_set_flips_there_may_be_one_more_than_the_limit() -> None:
    def flips(query: Flips) -> bool:
        return query.bit_count() >= 5

    for at_most in (1, 2, 3):
        limited = partial(guided_search, at_most=at_most)
        search = solving(9, limited, Limits(reasons=8), answer=ask, at_most=at_most)
        found = run(search, labels(flips))
        assert found.status == "none"
        assert reported(found) == by_the_rule(flips, 9, labels(flips), 8, at_most + 1)
    alone = find_few_reasons(Proof(9, (), ()), Known(), {}, 1, 8, at_most=1)
    assert run(alone, labels(flips)) == tuple(by_the_rule(flips, 9, labels(flips), 8, 2))


def test_weights_count_features_of_the_flip_sets() -> None:
    def flips(query: Flips) -> bool:
        return query & 0b111 == 0b111 or query & 0b11000 == 0b11000

    found = run(
        solving(6, guided_search, Limits(reasons=8), answer=ask, weights=[1.0, 1.0, 1.0, 9.0, 9.0, 1.0]), labels(flips)
    )
    assert found.flipsets == (frozenset({0, 1, 2}),)
    assert reported(found) == by_the_rule(flips, 6, labels(flips), 8, 3)


def test_the_rule_counts_only_flip_sets_that_are_listed() -> None:
    found = find_flipsets(lambda sets: [sum(s) >= 12 for s in sets], 12, max_flipsets=2, reasons=9)
    assert found.status == "incomplete"
    zeros = by_the_rule(lambda q: sum(features_of(q)) >= 12, 12, labels(lambda q: sum(features_of(q)) >= 12), 9, 2)
    assert reported(found) == zeros
    assert found.proof.check_size(12)


def test_many_features_keep_the_order_of_the_columns() -> None:
    for d in (64, 3_000):
        rng = Random(f"many/{d}")
        places = rng.sample(range(d), 9)
        weights = {place: 1.0 + rng.random() for place in places}

        def margin(query: Flips, weights: dict[int, float] = weights) -> float:
            return sum(weight for place, weight in weights.items() if query >> place & 1) - 3.0

        sign: Oracle = labels(lambda query, margin=margin: margin(query) >= 0)  # type: ignore[misc]
        expected = by_the_rule(lambda q, margin=margin: margin(q) >= 0, d, sign, 5, 2)  # type: ignore[misc]
        for batch in (1, 64):
            found = solved(d, lambda batch, margin=margin: [margin(q) for q in batch], batch=batch)  # type: ignore[misc]
            assert found.size == 2
            assert reported(found) == expected


def test_only_what_is_not_known_is_asked() -> None:
    for seed in range(60):
        g, d, oracle = draw(seed, most=6)
        known = Known()
        for query in range(1 << d):
            known.learn(query, g(query))
        answers = {everything(d): oracle([everything(d)])[0]} | {1 << i: oracle([1 << i])[0] for i in range(d)}
        rule = find_few_reasons(Proof(d, (), smallest(g, d)), known, answers, 1, 5)
        assert all(not one & ~everything(d) for one in compute(rule))  # it would raise if anything was asked


def test_nothing_keeps_the_decision_if_nothing_need_change() -> None:
    found = find_flipsets(lambda sets: [True for _ in sets], 3)
    assert (found.size, found.certificates, found.reasons) == (0, (), 0)


def test_reasons_come_first_and_what_they_contain_is_dropped() -> None:
    proof = with_reasons_first(Proof(4, (0b0011, 0b0110, 0b1000), (0b1111,)), (0b0111,))
    assert proof == Proof(4, (0b0111, 0b1000), (0b1111,))
