"""When a rule that holds says something: it would not hold if the columns had nothing to do with each other.

Most rules that hold in a table say nothing. `children <= income` holds because the ranges are far apart, and a rule
about ten rows may hold by chance. So a rule is compared with what happens by chance, when the values of one column are
shuffled. It is suggested if all of these are true:

1. By chance, at least `LEAST_EXPECTED` rows would break it. If 20 are expected, none is found with a probability of 2
   in 10^9. Where a share of the rows may break a rule, at most `OF_EXPECTED` times that share of those expected may.
2. The rule is at stake. An order `a <= b` can be broken only in rows in which `a` is above the smallest `b`. A row like
   this must keep it by chance with a probability below `MOST_KEPT`; or else the columns touch: in at least
   `LEAST_TOUCHING` of these rows, and in at least `FEWEST_TOUCHING`, `a` equals `b`. The second is how a part of a few
   behaves, such as mortgages among all loans.
3. Both columns are on one scale. Of the rows at stake, at least `LEAST_INSIDE` have an `a` within the middle nine
   tenths of `b`, of the values of `b` that are above its smallest. A number of loans is at most the sum of their
   balances in dollars, but nobody would say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flipset.space.suggestions.columns import every

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_EXPECTED = 20
OF_EXPECTED = 10
MOST_OF_EXPECTED = 0.2
MOST_KEPT = 0.95
LEAST_TOUCHING = 0.002
FEWEST_TOUCHING = 5
LEAST_INSIDE = 0.01


def is_rare(broken: float, expected: float, most_broken: float) -> bool:
    """Say whether a rule is broken far more seldom than by chance.

    Examples
    --------
    >>> is_rare(0, 20, 0.001), is_rare(1, 20, 0.001), is_rare(1, 100, 0.001), is_rare(0, 19, 0.001)
    (True, False, True, False)
    """
    return expected >= LEAST_EXPECTED and broken <= min(OF_EXPECTED * most_broken, MOST_OF_EXPECTED) * expected


def says_something(a: NDArray[np.float64], b: NDArray[np.float64], broken: int, most_broken: float) -> bool:
    """Say whether the order a <= b, which holds in rows with these values, would not hold by chance."""
    x, y = every(a), every(b)
    kept, expected = _by_chance(x, y)
    if not is_rare(broken, expected * len(a), most_broken):
        return False
    return (kept < MOST_KEPT or _touch(a, b)) and _on_one_scale(x, y)


def _by_chance(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return with which probability a row at stake keeps x <= y by chance, and with which one any row breaks it."""
    below = np.searchsorted(np.sort(y), x, "left") / len(y)  # for each x, the share of y that it is above
    at_stake = x > y.min()
    kept = 1 - float(below[at_stake].mean()) if at_stake.any() else 1.0
    return kept, float(below.mean())


def _touch(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Say whether a equals b in some of the rows at stake."""
    at_stake = a > max(a.min(), b.min())
    touching = int(((a == b) & at_stake).sum())
    return touching >= max(FEWEST_TOUCHING, LEAST_TOUCHING * int(at_stake.sum()))


def _on_one_scale(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Say whether some of x that are above the smallest y lie among most of y."""
    at_stake = x[x > y.min()]
    above = y[y > y.min()]
    if not len(at_stake) or not len(above):
        return False
    low, high = np.quantile(above, (0.05, 0.95))
    return float(((at_stake >= low) & (at_stake <= high)).mean()) >= LEAST_INSIDE
