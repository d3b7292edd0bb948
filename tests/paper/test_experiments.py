"""How often an algorithm with q queries succeeds, counted over whole families."""

from fractions import Fraction

from flipset.paper import ball_search, find_optimal
from flipset.paper.experiments import bound_local, bound_log, bound_power, success_probability
from flipset.paper.families import hidden_features, hidden_sets
from flipset.protocol import Flips, Search, ask


def halving(d: int) -> Search[tuple[Flips, ...]]:
    """Find the only feature that matters by halving: as good as it gets."""
    low, high = 0, d
    while high - low > 1:
        middle = (low + high) // 2
        (margin,) = yield from ask([((1 << middle) - 1) & ~((1 << low) - 1)])
        low, high = (low, middle) if margin >= 0 else (middle, high)
    return (1 << low,)


def test_the_best_algorithm_meets_the_bound_exactly() -> None:
    for q in range(5):
        assert success_probability(halving, hidden_features(16), q) == min(Fraction(1), bound_log(16, q))


def test_asking_one_by_one_gains_one_member_a_query() -> None:
    for q in range(6):
        found = success_probability(lambda d: ball_search(d, batch=1), hidden_sets(5, 5, 1), q + 1)
        # one query is spent on the empty set; the last member need not be asked: it is what is left
        assert found == min(Fraction(1), Fraction(q + 1, 5))
        assert found <= bound_power(5, 1, q + 1)


def test_no_search_beats_the_bounds() -> None:
    for q in range(9):
        assert success_probability(find_optimal, hidden_sets(6, 5, 2), q) <= bound_power(5, 2, q)
        assert success_probability(find_optimal, hidden_features(8), q) <= bound_log(8, q)
        local = success_probability(lambda d: ball_search(d, batch=1), hidden_features(8), q)
        assert local <= max(Fraction(1, 8), bound_local(8, q))  # with no query left one is guessed


def test_unlimited_queries_always_succeed() -> None:
    assert success_probability(find_optimal, hidden_sets(6, 5, 3), 10**6) == 1
