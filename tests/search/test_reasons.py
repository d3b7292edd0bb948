"""Which reasons are reported: a function of the set function alone, against the rule written out naively."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random

import pytest

from flipset import run
from flipset.paper import ball_search, find_optimal
from flipset.proof import Proof
from flipset.protocol import Flips, everything, features_of, flips_of
from flipset.search.gap_walk import GapWalk
from flipset.search.growing import ORDERED_UP_TO
from flipset.search.guided import guided_search
from flipset.search.reasons import SIDE_BY_SIDE, find_reasons
from flipset.sets.known import Known
from flipset.sets.weights import read_weights
from flipset.testing import DRAWS, Predicate, is_minimal_certificate, labels, margins, smallest

Margin = Callable[[Flips], float]


def draw(seed: int, most: int = 8) -> tuple[Predicate, int, Margin]:
    """Draw a function that flips for something, not for nothing, and its margins; half are labels."""
    rng = Random(f"reasons/{seed}")
    while True:
        d = rng.randint(1, most)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if not g(0) and g(everything(d)):
            return g, d, labels_of(g) if seed % 2 else first_of(margins(g, d, rng))


def first_of(oracle: Callable[[Sequence[Flips]], list[float]]) -> Margin:
    return lambda query: oracle([query])[0]


def labels_of(g: Predicate) -> Margin:
    return first_of(labels(g))


def reasons_of(
    claim: Proof, margin: Margin, asked: Sequence[Flips], batch: int, at_most: int | None = None
) -> tuple[tuple[Flips, ...], int]:
    """Return the zeros that the rule names, and how many queries that took."""
    known, answers = Known(), {}
    for query in {everything(claim.d), *claim.ones, *asked}:
        answers[query] = margin(query)
        known.learn(query, margin(query) >= 0)
    new = 0

    def oracle(queries: Sequence[Flips]) -> list[float]:
        nonlocal new
        new += len(queries)
        assert len(queries) <= batch
        return [margin(query) for query in queries]

    return run(find_reasons(claim, known, answers, batch, at_most), oracle)[0].zeros, new


# --- the rule, as its description says it ----------------------------------------------------------------------------


def by_the_rule(g: Predicate, d: int, margin: Margin, ones: Sequence[Flips], limit: int) -> list[Flips]:
    """For flip sets of one or two features: grow zeros feature by feature, look at every set."""
    order = list(range(d))
    if margin(everything(d)) != 1.0:
        order.sort(key=lambda i: (margin(1 << i), i))

    def grown(start: Flips, first: Flips) -> Flips:
        for i in sorted(order, key=lambda i: not first >> i & 1):
            if not g(start | 1 << i):
                start |= 1 << i
        return start

    zeros = [grown(0, 0)]
    if any(one.bit_count() > 1 for one in ones):
        zeros.append(grown(0, everything(d) & ~zeros[0]))
    for size in range(1, limit + 1):
        while True:
            sets = [flips_of(c) for c in combinations(range(d), size)]
            left = [s for s in sets if not g(s) and not any(s & ~zero == 0 for zero in zeros)]
            if not left:
                break
            last = max(left, key=lambda s: sorted((order.index(i) for i in features_of(s)), reverse=True))
            zeros.append(grown(last, flips_of(i for one in left for i in features_of(one))))
    return without_idle(list(dict.fromkeys(zeros)), d, limit)


def without_idle(kept: list[Flips], d: int, limit: int) -> list[Flips]:
    """Leave out zeros, the first first, that cover no set within the limit which the others do not."""
    small = [flips_of(c) for size in range(limit + 1) for c in combinations(range(d), size)]
    for zero in list(kept):
        others = [other for other in kept if other != zero]
        own = [s for s in small if s & ~zero == 0 and not any(s & ~other == 0 for other in others)]
        if others and not own:
            kept.remove(zero)
    return kept


def test_the_zeros_are_those_of_the_rule() -> None:
    sizes = Counter[int]()
    for seed in range(400):
        g, d, margin = draw(seed)
        ones = smallest(g, d)
        limit = ones[0].bit_count()
        if limit <= 2:
            zeros, _ = reasons_of(Proof(d, (), ones), margin, [], batch=(1, 16)[seed % 2])
            assert list(zeros) == by_the_rule(g, d, margin, ones, limit), seed
            sizes[limit] += 1
    assert min(sizes[1], sizes[2]) > 80


def larger_by_the_rule(g: Predicate, d: int, margin: Margin, ones: Sequence[Flips], limit: int) -> list[Flips]:
    """For larger flip sets: the same with gaps, several at a time, each behind the zero that is expected before it."""
    has_labels = margin(everything(d)) == 1.0
    order = list(range(d)) if has_labels else sorted(range(d), key=lambda i: (margin(1 << i), i))

    def grown(start: Flips, first: Flips, flips: Predicate) -> Flips:
        for i in sorted(order, key=lambda i: not first >> i & 1):
            if not start >> i & 1 and not flips(start | 1 << i):
                start |= 1 << i
        return start

    zeros = [grown(0, 0, g)]
    zeros.append(grown(0, everything(d) & ~zeros[0], g))
    walk = GapWalk(Proof(d, (), tuple(ones)), limit, zeros, [order.index(i) for i in range(d)])
    while (gap := run(walk.next_gap(), lambda _: [])) is not None:
        expected = expected_from_zeros(zeros, d) if has_labels else expected_from_margins(margin, d)
        starts, ahead = [gap], walk.copy()
        for _ in range(SIDE_BY_SIDE - 1):
            ahead.add(grown(starts[-1], everything(d) & ~near(starts[-1], zeros), expected))
            if (further := run(ahead.next_gap(), lambda _: [])) is None:
                break
            starts.append(further)
        zeros += [grown(start, everything(d) & ~near(start, zeros), g) for start in starts]
        for zero in zeros[-len(starts) :]:
            walk.add(zero)
    return without_idle(list(dict.fromkeys(zeros)), d, limit)


def expected_from_margins(margin: Margin, d: int) -> Predicate:
    """Whether a set flips if margins add up, and the feature with the least margin adds nothing."""
    alone = [margin(1 << i) for i in range(d)]
    return lambda s: min(alone) + sum(alone[i] - min(alone) for i in features_of(s)) >= 0


def expected_from_zeros(zeros: Sequence[Flips], d: int) -> Predicate:
    """Whether a set has more of what zeros leave out than any zero has."""
    often = [sum(not zero >> i & 1 for zero in zeros) for i in range(d)]
    most = max(sum(often[i] for i in features_of(zero)) for zero in zeros)
    return lambda s: sum(often[i] for i in features_of(s)) > most


def near(start: Flips, zeros: Sequence[Flips]) -> Flips:
    """All features that share a zero with the start, or with all of it but one feature."""
    return flips_of(i for zero in zeros if (start & ~zero).bit_count() <= 1 for i in features_of(zero))


def test_the_zeros_for_larger_flip_sets_are_those_of_the_rule() -> None:
    compared = Counter[bool]()
    for seed in range(900):
        g, d, margin = draw(seed)
        ones = smallest(g, d)
        limit = ones[0].bit_count()
        if limit >= 3:
            zeros, _ = reasons_of(Proof(d, (), ones), margin, [], batch=(1, 16)[seed // 2 % 2])
            assert list(zeros) == larger_by_the_rule(g, d, margin, ones, limit), seed
            compared[margin(everything(d)) == 1.0] += 1
    assert min(compared[True], compared[False]) > 25


# --- what holds for all -----------------------------------------------------------------------------------------------


def asked_by_searches(g: Predicate, d: int, margin: Margin, rng: Random) -> list[list[Flips]]:
    """What several searches ask, and some queries by chance."""
    found: list[list[Flips]] = [[], rng.sample(range(1 << d), min(1 << d, 12))]
    for search in (find_optimal(d), ball_search(d, batch=4), guided_search(d, batch=1), guided_search(d, batch=32)):
        asked: list[Flips] = []

        def oracle(batch: Sequence[Flips], asked: list[Flips] = asked) -> list[float]:
            asked.extend(batch)
            return [margin(query) for query in batch]

        run(search, oracle)
        rng.shuffle(asked)
        found.append(asked)
    return found


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2_000), marks=pytest.mark.campaign)], ids=str)
def test_neither_batches_nor_what_was_asked_before_changes_them(seeds: range) -> None:
    sizes = Counter[int]()
    for seed in seeds:
        g, d, margin = draw(seed)
        claim = Proof(d, (), smallest(g, d))
        expected, most = reasons_of(claim, margin, [], batch=1)
        for asked in asked_by_searches(g, d, margin, Random(seed)):
            for batch in (1, 4, 16, 64):
                zeros, new = reasons_of(claim, margin, asked, batch)
                assert zeros == expected, (seed, batch)
                if batch == 1:
                    assert new <= most  # what is known is not asked again
        sizes[claim.ones[0].bit_count()] += 1
    assert min(sizes[1], sizes[2], sum(sizes[size] for size in (3, 4, 5, 6))) > 4, sizes


@pytest.mark.parametrize("batch", [1, 16])
def test_zeros_are_maximal_and_prove_the_answer(batch: int) -> None:
    for seed in range(150):
        g, d, margin = draw(seed)
        claim = Proof(d, (), smallest(g, d))
        zeros, _ = reasons_of(claim, margin, [], batch)
        assert Proof(d, zeros, claim.ones).check(d), seed
        for zero in zeros:
            assert is_minimal_certificate(g, everything(d) & ~zero, d), seed
        for zero in zeros:  # each covers a set that the others do not
            rest = tuple(other for other in zeros if other != zero)
            assert len(zeros) == 1 or not Proof(d, rest, claim.ones).check(d), seed


@pytest.mark.parametrize("batch", [1, 4, 16, 64])
def test_with_weights_they_prove_the_lightest_sets_and_depend_on_nothing_else(batch: int) -> None:
    for seed in range(60):
        g, d, margin = draw(seed, most=6)
        rng = Random(seed)
        weights = tuple(rng.choice([1.0, 2.0, 2.5]) for _ in range(d))
        weigh = read_weights(weights, d).of
        flipping = [query for query in range(1 << d) if g(query)]
        ones = tuple(query for query in flipping if weigh(query) == min(map(weigh, flipping)))
        claim = Proof(d, (), ones, weights)
        expected, _ = reasons_of(claim, margin, [], batch=1)
        zeros, _ = reasons_of(claim, margin, rng.sample(range(1 << d), d), batch)
        assert zeros == expected, seed
        assert Proof(d, zeros, ones, weights).check(d), seed
        assert all(is_minimal_certificate(g, everything(d) & ~zero, d) for zero in zeros), seed


def test_with_a_limit_they_prove_that_nothing_within_it_flips() -> None:
    def four(query: Flips) -> bool:
        return query.bit_count() >= 4

    for at_most in (1, 2, 3):
        zeros, _ = reasons_of(Proof(6, (), ()), labels_of(four), [], 8, at_most)
        assert all(zero.bit_count() == 3 for zero in zeros)
        for size in range(at_most + 1):
            for some in combinations(range(6), size):
                assert any(flips_of(some) & ~zero == 0 for zero in zeros)


def test_where_nothing_flips_the_whole_is_the_zero_and_nothing_is_asked() -> None:
    assert reasons_of(Proof(4, (), ()), lambda query: -1.0, [], 1) == ((0b1111,), 0)


def test_where_nothing_needs_to_change_there_is_no_reason() -> None:
    assert reasons_of(Proof(4, (), (0,)), lambda query: 1.0, [], 1) == ((), 0)


def test_many_features_keep_the_order_of_the_columns() -> None:
    d = ORDERED_UP_TO + 1

    def margin(query: Flips) -> float:  # alone, the first column gains most: by margins it would come last
        return (2.5 if query & 0b11 == 0b11 else -2.0) + 0.1 * (query & 1)

    alone: list[Flips] = []

    def oracle(batch: Sequence[Flips]) -> list[float]:
        alone.extend(query for query in batch if query.bit_count() == 1)
        return [margin(query) for query in batch]

    known = Known()
    known.learn(everything(d), True)
    known.learn(0b011, True)
    claim = Proof(d, (), (0b011,))
    zeros = run(find_reasons(claim, known, {everything(d): margin(everything(d))}, 8), oracle)[0].zeros
    assert zeros == (everything(d) & ~0b10, everything(d) & ~0b01)
    assert len(alone) < d
