"""A zero grows to the same maximal one, however the next feature that flips is found."""

from collections.abc import Sequence
from random import Random

import pytest

from flipset import run
from flipset.protocol import Flips, everything
from flipset.search.forecast import Forecast
from flipset.search.growing import grow, grow_by_forecast
from flipset.testing import DRAWS, Predicate, asking


def draw(seed: int) -> tuple[Predicate, list[int], Flips]:
    """Draw a function, an order, and the zero that grows from nothing, feature by feature."""
    rng = Random(f"growing/{seed}")
    while True:
        d = rng.randint(1, 9)
        g = DRAWS[seed % len(DRAWS)](rng, d)
        if not g(0):
            break
    order = list(range(d))
    rng.shuffle(order)
    zero = 0
    for i in order:
        if not g(zero | 1 << i):
            zero |= 1 << i
    return g, order, zero


@pytest.mark.parametrize("batch", [1, 15, 16, 64])
def test_growing_takes_what_it_can_in_order(batch: int) -> None:
    for seed in range(60):
        g, order, expected = draw(seed)
        assert run(grow(0, order, batch), asking(g)) == expected


def test_a_forecast_however_bad_does_not_change_the_zero() -> None:
    for seed in range(200):
        g, order, expected = draw(seed)
        rng = Random(seed)
        gains = [rng.choice([0.0, 0.5, 1.0, 5.0, float("inf"), float("nan")]) for _ in order]
        forecast = Forecast(rng.choice([-3.0, -0.5, 0.0, 2.0, float("-inf")]), gains)
        assert run(grow_by_forecast(0, order, forecast), asking(g)) == expected


def test_a_good_forecast_takes_one_round_and_a_query_for_each_feature_left_out() -> None:
    d, rounds, asked = 12, 0, 0

    def oracle(batch: Sequence[Flips]) -> list[float]:
        nonlocal rounds, asked
        rounds, asked = rounds + 1, asked + len(batch)
        return [query.bit_count() - 4.5 for query in batch]

    zero = run(grow_by_forecast(0, range(d), Forecast(-4.5, [1.0] * d)), oracle)
    assert zero == everything(4)
    assert (rounds, asked) == (1, 1 + 8)
