"""Intervals of 95 % for shares, means, totals, differences and ratios.

- A share has the Wilson score interval. It stays within 0 and 1, and it is not empty where the share is 0 or 1.
- The difference of two shares has Newcombe's interval, which joins the Wilson intervals of both (Newcombe 1998, method
  10, without continuity correction).
- The ratio of two shares has the interval of Katz, on the scale of logarithms. It is not defined where one of the
  shares is 0 or 1: there, the formula takes the share for certain, however few rows it is of.
- A mean, and the difference of two means, has a percentile interval from bootstrap replicates. It is not defined where
  all values are equal: resampling them tells nothing about others.
- The total of a finite population, from a sample without replacement, has the bootstrap-t interval: replicates are
  divided by standard errors of their own, so that the interval is longer on the side of the longer tail (Efron and
  Tibshirani 1993, chapter 12). Its standard error has the finite population correction: it is 0 where the sample is the
  whole population.

Invariant: every interval is a function of how often each value occurs. It does not depend on the order of rows, on the
number of processes, or on the version of a library: replicates are drawn from a fixed stream of bits.
"""

from __future__ import annotations

from math import exp, fsum, log, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

Z = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of an interval of 95 %."""

REPLICATES = 2_000
"""Bootstrap replicates."""

MOST_RESAMPLED = 2_000
"""Values that are resampled one by one. The mean of more is normally distributed for all that 3 digits show."""

SEED = 20_220_717

TOTALS = 7
"""The stream of the replicates of totals, apart from those of means."""


class Interval(NamedTuple):
    """An interval; NaN where it is not defined."""

    low: float
    high: float


UNDEFINED = Interval(nan, nan)


# --- shares -----------------------------------------------------------------------------------------------------------


def wilson(part: int, whole: int) -> Interval:
    """Return the Wilson score interval of the share `part / whole`.

    Examples
    --------
    >>> low, high = wilson(81, 263)
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)
    """
    if not whole:
        return UNDEFINED
    share = part / whole
    middle = share + Z**2 / (2 * whole)
    half = Z * sqrt(share * (1 - share) / whole + Z**2 / (4 * whole**2))
    scale = 1 + Z**2 / whole
    # Exactly 0 and 1 at the ends, where rounding would leave a trace of the last bit.
    return Interval(0.0 if not part else (middle - half) / scale, 1.0 if part == whole else (middle + half) / scale)


def newcombe(part: int, whole: int, other_part: int, other_whole: int) -> Interval:
    """Return Newcombe's interval of the difference `part / whole - other_part / other_whole`.

    Examples
    --------
    >>> low, high = newcombe(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    if not whole or not other_whole:
        return UNDEFINED
    share, other = part / whole, other_part / other_whole
    (low, high), (other_low, other_high) = wilson(part, whole), wilson(other_part, other_whole)
    below = sqrt((share - low) ** 2 + (other_high - other) ** 2)
    above = sqrt((high - share) ** 2 + (other - other_low) ** 2)
    return Interval(share - other - below, share - other + above)


def katz(part: int, whole: int, other_part: int, other_whole: int) -> Interval:
    """Return the log interval of Katz for the ratio of the shares `part / whole` and `other_part / other_whole`.

    Examples
    --------
    >>> low, high = katz(189, 11034, 104, 11037)
    >>> round(low, 3), round(high, 3)
    (1.433, 2.306)
    """
    if part in (0, whole) or other_part in (0, other_whole):
        return UNDEFINED
    ratio = log(part / whole) - log(other_part / other_whole)
    half = Z * sqrt(1 / part - 1 / whole + 1 / other_part - 1 / other_whole)
    return Interval(exp(ratio - half), exp(ratio + half))


# --- means ------------------------------------------------------------------------------------------------------------


def mean(values: Mapping[float, int]) -> float:
    """Return the mean of values, given with how often each occurs; NaN if there are none.

    Examples
    --------
    >>> mean({1: 3, 2: 1})
    1.25
    """
    whole = sum(values.values())
    return fsum(value * n for value, n in values.items()) / whole if whole else nan


def replicate_means(values: Mapping[float, int], stream: int) -> Floats:
    """Return bootstrap replicates of the mean of values, given with how often each occurs.

    Replicates of different streams are independent of each other. Values that are all equal have no replicates: nothing
    is known about how far others lie from them.
    """
    n = sum(values.values())
    if len(values) < 2:
        return np.empty(0)
    bits = np.random.PCG64(np.random.SeedSequence([SEED, stream]))
    # Sorted, so that equal values give equal replicates, in whichever order they were counted.
    ordered = np.array(sorted(values), dtype=np.float64)
    counts = np.array([values[value] for value in sorted(values)])
    if n > MOST_RESAMPLED:
        return _normal_means(ordered, counts, bits)
    sample = np.repeat(ordered, counts)
    return np.concatenate([block.mean(axis=1) for block in _resamples(sample, bits)])


def _resamples(sample: Floats, bits: np.random.PCG64) -> Iterator[Floats]:
    """Yield resamples of a sample, one in each line, in blocks so that memory stays bounded."""
    n = len(sample)
    block = max(1, 1_000_000 // n)
    for start in range(0, REPLICATES, block):
        rows = min(block, REPLICATES - start)
        # The bits themselves: how a generator makes integers of them may change between versions of numpy.
        upper = bits.random_raw(rows * n).reshape(rows, n) >> np.uint64(32)
        yield sample[upper * np.uint64(n) >> np.uint64(32)]


def _normal_means(values: Floats, counts: NDArray[np.int_], bits: np.random.PCG64) -> Floats:
    """Return replicates of the mean of very many values, from the normal distribution that resampling tends to."""
    n = counts.sum()
    middle = float(values @ counts / n)
    error = sqrt(float((values - middle) ** 2 @ counts / n) / n)
    normal = NormalDist()
    # Shifted by a half, so that no draw is 0, where the inverse is not defined.
    draws = [(int(raw >> 11) + 0.5) / (1 << 53) for raw in bits.random_raw(REPLICATES)]
    return np.array([middle + error * normal.inv_cdf(draw) for draw in draws])


def percentiles(replicates: Floats) -> Interval:
    """Return the interval that holds the middle 95 % of replicates.

    Examples
    --------
    >>> percentiles(np.arange(41.0))
    Interval(low=1.0, high=39.0)
    """
    if not len(replicates):
        return UNDEFINED
    low, high = np.quantile(replicates, [0.025, 0.975])
    return Interval(float(low), float(high))


# --- totals -----------------------------------------------------------------------------------------------------------


def total_interval(values: Mapping[float, int], whole: int) -> Interval:
    """Return the interval of the total of `whole` values, from a sample of them, given with how often each occurs.

    It is the total itself where the sample is all there is, and not defined where all values of a smaller sample are
    equal.

    Examples
    --------
    >>> total_interval({10: 2, 20: 2}, 4)
    Interval(low=60.0, high=60.0)
    >>> low, high = total_interval({10: 50, 20: 50}, 1_000)
    >>> round(low), round(high)
    (14032, 15968)
    """
    n = sum(values.values())
    middle = mean(values)
    if n >= whole:
        return Interval(whole * middle, whole * middle)
    if len(values) < 2:
        return UNDEFINED
    sample = np.repeat(np.array(sorted(values), dtype=np.float64), [values[value] for value in sorted(values)])
    error = float(sample.std(ddof=1)) / sqrt(n)
    upper, lower = _studentized(sample, middle)
    # What the sample itself took is known. Only the rest is uncertain.
    scale = whole * error * sqrt(1 - n / whole)
    return Interval(whole * middle - upper * scale, whole * middle - lower * scale)


def _studentized(sample: Floats, middle: float) -> tuple[float, float]:
    """Return how many standard errors the means of samples lie above the mean of the population, and below it."""
    if len(sample) > MOST_RESAMPLED:
        return Z, -Z
    distances = []
    for block in _resamples(sample, np.random.PCG64(np.random.SeedSequence([SEED, TOTALS]))):
        errors = block.std(axis=1, ddof=1) / sqrt(len(sample))
        # A resample of equal values has no standard error.
        some = errors > 0
        distances.append((block.mean(axis=1)[some] - middle) / errors[some])
    low, high = np.quantile(np.concatenate(distances), [0.025, 0.975])
    return float(high), float(low)
