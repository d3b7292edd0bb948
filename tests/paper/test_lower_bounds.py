"""The lower bounds, measured: no algorithm succeeds more often than the lemmas allow, and some meet them."""

from collections.abc import Callable
from itertools import combinations

import pytest

from flipset import Search, ask, run
from flipset.layers import Tally, count, remember
from flipset.paper import ball_search, find_optimal, local, walk_search
from flipset.paper.experiments import bound_local, bound_log, bound_power, success_probability
from flipset.paper.families import Member, hidden_features, hidden_set, hidden_sets
from flipset.paper.measures import sensitivity
from flipset.protocol import Flips, does_flip, flips_of
from flipset.testing import asking, smallest


def every_set_of_the_sphere(S: int, delta: int) -> Search[tuple[Flips, ...]]:
    """Ask just the sets that may be hidden: the best that Lemma "S^Ω(Δ)" allows."""
    for features in combinations(range(S), delta):
        if (yield from does_flip(flips_of(features))):
            return (flips_of(features),)
    return ()


def halving(d: int) -> Search[tuple[Flips, ...]]:
    """Ask for the bits of the hidden feature's number: the best that Lemma "log d" allows."""
    low, high = 0, d
    while high - low > 1:
        middle = (low + high) // 2
        if (yield from does_flip(flips_of(range(low, middle)))):
            high = middle
        else:
            low = middle
    return (1 << low,)


def singles(d: int) -> Search[tuple[Flips, ...]]:
    """A local search that asks feature after feature."""
    yield from ask((0,))
    for i in range(d):
        if (yield from does_flip(1 << i)):
            return (1 << i,)
    return ()


@pytest.mark.parametrize("member", [*hidden_sets(7, 5, 2), *hidden_features(6), hidden_set(4, 4, 0b1111)])
def test_members_are_what_they_say(member: Member) -> None:
    assert smallest(member.flips, member.d) == (member.optimal,)


def test_families_have_the_sensitivity_they_claim() -> None:
    assert all(sensitivity(member.flips, 7) <= 5 for member in hidden_sets(7, 5, 2))
    assert all(sensitivity(member.flips, 6) == 1 for member in hidden_features(6))


@pytest.mark.parametrize(("S", "delta"), [(5, 1), (5, 2), (6, 3), (7, 2)])
def test_power_lower_bound(S: int, delta: int) -> None:
    family = list(hidden_sets(S + 1, S, delta))
    for q in range(0, len(family) + 6, 3):
        allowed = bound_power(S, delta, q)
        assert success_probability(find_optimal, family, q) <= allowed
        assert success_probability(ball_search, family, q) <= allowed
        best = success_probability(lambda d: every_set_of_the_sphere(S, delta), family, q)
        assert best == min(1, allowed)


@pytest.mark.parametrize("d", [2, 8, 32, 64])
def test_log_lower_bound(d: int) -> None:
    family = list(hidden_features(d))
    for q in range(d.bit_length() + 3):
        allowed = bound_log(d, q)
        assert success_probability(find_optimal, family, q) <= allowed
        assert success_probability(halving, family, q) == min(1, allowed)


@pytest.mark.parametrize("d", [2, 8, 30])
def test_local_lower_bound(d: int) -> None:
    family = list(hidden_features(d))
    for q in range(1, d + 2):
        allowed = bound_local(d, q)
        assert success_probability(lambda d: local(ball_search(d)), family, q) <= allowed
        assert success_probability(lambda d: local(singles(d)), family, q) == min(1, allowed)


def cost(search: Search[object], member: Member) -> int:
    tally = Tally()
    run(count(search, tally), asking(member.flips))
    return tally.queries


@pytest.mark.parametrize("make", [ball_search, walk_search, singles])
def test_local_search_needs_a_share_of_d_queries(make: Callable[[int], Search[object]]) -> None:
    """To succeed on a share ε of the family any local search asks ε·d queries: the n-th cheapest member costs n."""
    d = 200
    costs = sorted(cost(local(make(d)), member) for member in hidden_features(d))
    assert all(queries >= n for n, queries in enumerate(costs, start=1))


def test_the_papers_search_needs_the_logarithm() -> None:
    d = 200
    assert max(cost(remember(find_optimal(d)), member) for member in hidden_features(d)) <= 8 + 4
