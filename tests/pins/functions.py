"""Set functions with labels and with margins, drawn from seeds: all monotone, but for one that is meant not to be."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from flipset.testing import DRAWS

Answer: TypeAlias = bool | float
Function: TypeAlias = Callable[[int], Answer]


def draw_labels(rng: Random, d: int) -> Function:
    """Draw a function of the kinds that `flipset.testing` has."""
    return DRAWS[rng.randrange(len(DRAWS))](rng, d)


def draw_planted(rng: Random, d: int) -> Function:
    """Draw a few small sets that flip, among many features that do nothing."""
    relevant = rng.sample(range(d), min(d, rng.randint(5, 10)))
    terms = [_mask(rng.sample(relevant, rng.randint(1, 4))) for _ in range(rng.randint(1, 5))]
    return lambda query: any(not term & ~query for term in terms)


def draw_additive(rng: Random, d: int) -> Function:
    """Draw gains that add up; some features gain nothing, and ties are common."""
    gains = [rng.choice((0, 0, 1, 1, 2, 3, 5, 8)) / 4 for _ in range(d)]
    best = sorted(gains, reverse=True)
    needed = sum(best[: rng.randint(1, min(5, d))]) - rng.choice((0.0, 0.25, 0.5))
    return lambda query: _sum(gains, query) - needed


def draw_least(rng: Random, d: int) -> Function:
    """Draw the least of two sums, over features that they share in part."""
    parts = [[rng.choice((0.0, 0.0, 0.5, 1.0, 1.25)) for _ in range(d)] for _ in range(2)]
    needed = rng.choice((0.5, 1.0, 1.5, 2.0, 3.0))
    return lambda query: min(_sum(part, query) for part in parts) - needed


def draw_noisy_or(rng: Random, d: int) -> Function:
    """Draw chances that something happens by any of the features."""
    chances = [rng.choice((0.0, 0.0, 0.1, 0.2, 0.3, 0.5)) for _ in range(d)]
    needed = rng.choice((0.3, 0.45, 0.6, 0.75, 0.85))

    def margin(query: int) -> float:
        left = 1.0
        for i, chance in enumerate(chances):
            if query >> i & 1:
                left *= 1 - chance
        return 1 - left - needed

    return margin


def draw_trees(rng: Random, d: int) -> Function:
    """Draw a small ensemble: each tree gives its value where all of its two or three features are flipped."""
    trees = [(_mask(rng.sample(range(d), min(d, rng.randint(1, 3)))), rng.randint(1, 4) / 2) for _ in range(10)]
    needed = rng.choice((1.5, 2.0, 3.0, 4.5, 6.0))
    return lambda query: sum(value for term, value in trees if not term & ~query) - needed


MARGINS: Sequence[Callable[[Random, int], Function]] = (draw_additive, draw_least, draw_noisy_or, draw_trees)


def draw_margins(rng: Random, d: int) -> Function:
    """Draw any of the functions with margins."""
    return MARGINS[rng.randrange(len(MARGINS))](rng, d)


def draw_either(rng: Random, d: int) -> Function:
    """Draw a function with labels or with margins."""
    return draw_labels(rng, d) if rng.random() < 0.5 else draw_margins(rng, d)


def draw_wrong(rng: Random, d: int) -> Function:
    """Draw a function that is not monotone: some features do harm, or some sets are answered by their opposite."""
    inner, key = draw_margins(rng, d), rng.randrange(1 << 30)
    if key % 3 == 0:
        return lambda query: (inner(query) >= 0) != (Random(f"{key}/{query}").random() < 0.2)
    harmful = _mask(rng.sample(range(d), 2))
    return lambda query: inner(query) - _harm(query & harmful)


def _harm(flipped: int) -> float:
    return 0.4 * flipped.bit_count()


def _sum(gains: Sequence[float], query: int) -> float:
    total = 0.0
    for i, gain in enumerate(gains):
        if query >> i & 1:
            total += gain
    return total


def _mask(features: Sequence[int]) -> int:
    return sum(1 << i for i in features)
