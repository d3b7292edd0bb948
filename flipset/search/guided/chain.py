"""Growing a zero along a chain of features, and finding the few features that matter among many.

Add features to a set one after another, in some order, and the sets form a chain. On a monotone function there is a
first set of the chain that flips. If almost no feature matters, finding it by halving wastes queries. So each probe is
placed where the set is as likely to flip as not, given an estimate of how often a feature makes the set flip
(generalised binary splitting, Hwang 1972). After about log2 of such probes halving takes over, so that no feature costs
more than 2L + 1 probes, where L is the logarithm of the length.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Flips, Search


def grow_along(
    zero: Flips,
    order: Sequence[int],
    rate: Callable[[int, int], float],
    flips: Callable[[Sequence[Flips]], Search[list[bool]]],
) -> Search[tuple[Flips, int]]:
    """Add features to `zero` in this order, and leave out each that makes it flip; return the zero and their number.

    `rate` receives how many features were left out so far and how many are undecided. It returns how often the next
    ones are expected to be left out.
    """
    rest, left_out = list(order), 0
    # Invariant: `zero` does not flip, and every feature of `order` is in it, in `rest`, or makes it flip.
    while rest:
        chain = [zero]
        for i in rest:
            chain.append(chain[-1] | 1 << i)
        first = yield from find_first_flip(len(rest), rate(left_out, len(rest)), chain.__getitem__, flips)
        if first is None:
            return chain[-1], left_out
        left_out += 1
        zero, rest = chain[first - 1], rest[first:]
    return zero, left_out


def find_first_flip(
    length: int,
    rate: float,
    at: Callable[[int], Flips],
    flips: Callable[[Sequence[Flips]], Search[list[bool]]],
    width: int = 1,
) -> Search[int | None]:
    """Find the least n, 1 <= n <= length, for which `at(n)` flips; None if `at(length)` does not flip.

    `at(0)` is known not to flip. `rate` says how often a step is expected to be the first that flips. Up to `width`
    points are asked together.
    """
    # Invariant: at(low) does not flip; at(high) flips, if `flip_seen`.
    low, high, flip_seen = 0, length, False
    guesses_left = length.bit_length() + 1
    while low < high and not (flip_seen and high - low == 1):
        if guesses_left > 0:
            points = _even_chances(low, high, rate, flip_seen, width)
        else:
            points = [(low + high) // 2 if flip_seen else length]
        guesses_left -= 1
        for n, flipped in zip(points, (yield from flips([at(n) for n in points])), strict=True):
            if flipped:
                high, flip_seen = min(high, n), True
            else:
                low = max(low, n)
    return high if flip_seen else None


def _even_chances(low: int, high: int, rate: float, flip_seen: bool, width: int) -> list[int]:
    """Return up to `width` points between low and high that are equally likely to enclose the first flip."""
    # The distance to the first flip is taken to be exponentially distributed; if a flip was seen, up to high - low.
    beyond = exp(-rate * (high - low)) if flip_seen else 0.0
    points: list[int] = []
    for part in range(1, width + 1):
        share = part / (width + 1)
        n = low + round(-log(1.0 - share * (1.0 - beyond)) / rate)
        n = max(low + 1, min(n, high - 1 if flip_seen else high))
        if n not in points:
            points.append(n)
    return points
