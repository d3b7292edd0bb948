"""Intervals against published values, other implementations, computation by hand, and exact enumeration."""

from itertools import product
from math import isnan, log, sqrt
from random import Random
from statistics import NormalDist

import numpy as np
import pytest

from flipset.results.statistics import (
    MOST_RESAMPLED,
    REPLICATES,
    UNDEFINED,
    Z,
    katz,
    mean,
    newcombe,
    percentiles,
    replicate_means,
    total_interval,
    wilson,
)


# Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, the score method.
@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_has_the_published_values(part: int, whole: int, low: float, high: float) -> None:
    assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


# Newcombe 1998, "Interval estimation for the difference between independent proportions", table II, method 10.
@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_has_the_published_values(given: tuple[int, int, int, int], low: float, high: float) -> None:
    assert newcombe(*given) == pytest.approx((low, high), abs=5e-5)


def test_katz_has_the_published_value() -> None:
    # Heart attacks with placebo and with aspirin: Agresti, "Categorical Data Analysis".
    assert katz(189, 11034, 104, 11037) == pytest.approx((1.43, 2.31), abs=5e-3)


def test_wilson_is_where_the_score_test_turns() -> None:
    """Both ends p solve |share - p| = z sqrt(p (1 - p) / n), by definition."""
    for part, whole in ((3, 17), (50, 60), (1, 4), (999, 1000)):
        for end in wilson(part, whole):
            assert abs(part / whole - end) == pytest.approx(Z * sqrt(end * (1 - end) / whole))


def test_shares_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    contingency = pytest.importorskip("scipy.stats.contingency")
    rng = Random(1)
    for _ in range(200):
        whole, other_whole = rng.randint(1, 90), rng.randint(1, 90)
        part, other = rng.randint(0, whole), rng.randint(0, other_whole)
        theirs = stats.binomtest(part, whole).proportion_ci(method="wilson")
        assert wilson(part, whole) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        if 0 < part < whole and 0 < other < other_whole:
            ratio = contingency.relative_risk(part, whole, other, other_whole).confidence_interval(0.95)
            assert katz(part, whole, other, other_whole) == pytest.approx((ratio.low, ratio.high))


def test_what_is_not_defined_is_nan() -> None:
    assert all(map(isnan, UNDEFINED))
    assert wilson(0, 0) is UNDEFINED
    assert newcombe(0, 0, 1, 2) is UNDEFINED
    assert newcombe(1, 2, 0, 0) is UNDEFINED
    for given in ((0, 5, 3, 5), (3, 5, 0, 5), (5, 5, 3, 9), (3, 9, 5, 5), (0, 0, 3, 5)):
        assert katz(*given) is UNDEFINED
    assert isnan(mean({}))
    for few in ({}, {1.5: 1}, {1.5: 40}):
        assert percentiles(replicate_means(few, 0)) is UNDEFINED


def test_resampling_tends_to_the_exact_bootstrap() -> None:
    """All resamples of a few values, each equally likely, have these percentiles."""
    values = [1.0, 2.0, 4.0, 4.0]
    exact = sorted(sum(resample) / 4 for resample in product(values, repeat=4))
    replicates = replicate_means({1.0: 1, 2.0: 1, 4.0: 2}, 0)
    assert len(replicates) == REPLICATES
    assert set(replicates.tolist()) <= set(exact)
    for q in (0.025, 0.1, 0.5, 0.9, 0.975):
        # Within what chance allows of a share of replicates at or below the exact percentile.
        at = exact[int(q * len(exact))]
        expected = sum(one <= at for one in exact) / len(exact)
        assert (replicates <= at).mean() == pytest.approx(expected, abs=4 * sqrt(0.25 / REPLICATES))


def test_many_values_have_the_normal_interval() -> None:
    rng = Random(2)
    for n in (MOST_RESAMPLED, MOST_RESAMPLED + 1):  # resampled, and drawn from the limit
        values = [log(1 + rng.random() * 9) for _ in range(n)]
        middle = sum(values) / n
        error = sqrt(sum((value - middle) ** 2 for value in values) / n / n)
        low, high = percentiles(replicate_means(dict.fromkeys(values, 1), 0))
        assert low == pytest.approx(middle - Z * error, abs=0.2 * error)
        assert high == pytest.approx(middle + Z * error, abs=0.2 * error)


def test_replicates_depend_on_the_values_alone() -> None:
    forward, backward = {1.0: 3, 2.0: 5, 7.5: 2}, {7.5: 2, 2.0: 5, 1.0: 3}
    assert replicate_means(forward, 0).tolist() == replicate_means(backward, 0).tolist()
    # Streams are independent: the correlation is within what chance allows.
    one, other = replicate_means(forward, 0), replicate_means(forward, 1)
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / sqrt(REPLICATES)
    # The bits of the generator never change, so neither do the replicates.
    assert replicate_means(forward, 0)[:3].tolist() == pytest.approx(FIRST)


FIRST = [2.9, 2.35, 2.05]


def test_the_level_is_95_percent() -> None:
    assert NormalDist().cdf(Z) - NormalDist().cdf(-Z) == pytest.approx(0.95)


# --- totals -----------------------------------------------------------------------------------------------------------


def test_the_total_of_everything_is_certain() -> None:
    assert total_interval({3: 2, 5: 1}, 3) == (11, 11)


def test_equal_values_say_nothing_about_others() -> None:
    assert all(map(isnan, total_interval({4: 20}, 21)))


def test_the_interval_shrinks_as_the_sample_becomes_the_whole_population() -> None:
    values: dict[float, int] = {1: 30, 2: 15, 9: 5}
    lengths = [(high - low) / whole for whole in (51, 60, 100, 10_000) for low, high in [total_interval(values, whole)]]
    assert lengths == sorted(lengths)
    low, high = total_interval(values, 51)
    assert 0 < low < 51 * mean(values) < high


def test_the_interval_is_longer_towards_the_longer_tail() -> None:
    values: dict[float, int] = {1: 30, 2: 15, 9: 5}
    middle = 1_000 * mean(values)
    low, high = total_interval(values, 1_000)
    assert high - middle > middle - low


def test_the_total_of_a_large_sample_has_the_normal_interval() -> None:
    half = MOST_RESAMPLED
    low, high = total_interval({0: half, 1: half}, 10 * half)
    error = sqrt(0.25 * 2 * half / (2 * half - 1) / (2 * half)) * sqrt(1 - 2 / 10)
    assert (low, high) == pytest.approx((10 * half * (0.5 - Z * error), 10 * half * (0.5 + Z * error)))


def test_intervals_of_samples_hold_the_total_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    population = np.round(rng.gamma(1.5, 40.0, 400))
    held = 0
    for _ in range(100):
        sample = rng.permutation(population)[:40].tolist()
        low, high = total_interval({value: sample.count(value) for value in sample}, len(population))
        held += low <= population.sum() <= high
    assert 90 <= held <= 99
