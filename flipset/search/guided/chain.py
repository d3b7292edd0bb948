"""Growing a zero along a chain of features, and finding among many the few that matter.

Along a chain of growing sets there is one place after another where the balance tips. Where almost no feature matters,
halving is wasteful; so each probe is placed where the chance that the balance has tipped by then is one half, for
features that tip at an estimated rate (generalised binary splitting, Hwang 1972). After about log2 probes of that kind
halving takes over, so that no feature costs more than 2L + 1.
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
    """Add features to `zero` in this order, leaving out each that tips the balance; return the result and their number.

    `rate` is told how many tipped so far and how many are left, and says how often the next ones are expected to.
    """
    rest, tips = list(order), 0
    while rest:
        chain = [zero]
        for i in rest:
            chain.append(chain[-1] | 1 << i)
        tip = yield from next_tip(len(rest), rate(tips, len(rest)), chain.__getitem__, flips)
        if tip is None:
            return chain[-1], tips
        tips += 1
        zero, rest = chain[tip - 1], rest[tip:]
    return zero, tips


def next_tip(
    length: int,
    rate: float,
    at: Callable[[int], Flips],
    flips: Callable[[Sequence[Flips]], Search[list[bool]]],
    width: int = 1,
) -> Search[int | None]:
    """Find the least n with `at(n)` flipping, 1 <= n <= length; None when `at(length)` does not flip.

    `at(0)` is known not to flip; `rate` is how often a step is expected to tip the balance; `width` points are asked
    together.
    """
    # Invariant: at(low) does not flip; at(high) does, if `tipped`.
    low, high, tipped = 0, length, False
    patience = length.bit_length() + 1
    while low < high and not (tipped and high - low == 1):
        if patience > 0:
            points = _even_chances(low, high, rate, tipped, width)
        else:
            points = [(low + high) // 2 if tipped else length]
        patience -= 1
        for n, flipped in zip(points, (yield from flips([at(n) for n in points])), strict=True):
            if flipped:
                high, tipped = min(high, n), True
            else:
                low = max(low, n)
    return high if tipped else None


def _even_chances(low: int, high: int, rate: float, tipped: bool, width: int) -> list[int]:
    """Return points between low and high that cut the chance of where the balance tips into equal parts."""
    beyond = exp(-rate * (high - low)) if tipped else 0.0
    points: list[int] = []
    for part in range(1, width + 1):
        share = part / (width + 1)
        n = low + round(-log(1.0 - share * (1.0 - beyond)) / rate)
        n = max(low + 1, min(n, high - 1 if tipped else high))
        if n not in points:
            points.append(n)
    return points
