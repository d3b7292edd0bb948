"""How far `max_seconds` is exceeded, phase by phase: python -m benchmarks.limits [seconds ...].

Each case is hard enough to run into its limit, in the phase that its name says, or to end well before. "Over" is the
time beyond the limit. The promise is 5 % or 0.2 seconds, whichever is larger.
"""

from __future__ import annotations

import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset import Explainer, Feature, Space, find_flipsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Case = Callable[[float], tuple[str, int]]
    Sets = Sequence[frozenset[int]]

LIMITS = (0.5, 1.0, 3.0)


def sets_of(flips: Callable[[Sets], Any], d: int, **how: Any) -> Case:
    """Return a case that finds flip sets of a set function."""

    def case(seconds: float) -> tuple[str, int]:
        found = find_flipsets(flips, d, max_seconds=seconds, **how)
        return found.status, found.queries

    return case


def rows_of(score: Callable[[Any], Any], space: Space, threshold: float, **how: Any) -> Case:
    """Return a case that explains a row of zeros."""

    def case(seconds: float) -> tuple[str, int]:
        explainer = Explainer(score, space, threshold=threshold)
        found = explainer.explain([0] * len(space.names), max_seconds=seconds, **how)
        return found.status, found.queries

    return case


def at_least(k: int) -> Callable[[Sets], list[bool]]:
    return lambda sets: [len(s) >= k for s in sets]


def additive(d: int, needed: int, seed: int) -> Callable[[Sets], list[float]]:
    """Weights that are nearly alike, and a threshold that `needed` of them reach."""
    rng = Random(seed)
    pulls = [rng.uniform(1.0, 1.2) for _ in range(d)]
    threshold = 1.08 * (needed - 0.5)
    return lambda sets: [sum(pulls[i] for i in s) - threshold for s in sets]


def random_terms(d: int, terms: int, size: int, seed: int) -> Callable[[Sets], list[bool]]:
    rng = Random(seed)
    chosen = [frozenset(rng.sample(range(d), size)) for _ in range(terms)]
    return lambda sets: [any(term <= s for term in chosen) for s in sets]


def grid_of(features: int, points: int) -> tuple[Callable[[Any], Any], Space]:
    rng = Random(3)
    pulls = np.array([rng.uniform(0.5, 2.0) for _ in range(features)])
    space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=points) for i in range(features)])
    return lambda rows: (np.asarray(rows, dtype=float) ** 0.7) @ pulls / pulls.sum() / points**0.7, space


def cases() -> Iterator[tuple[str, Case]]:
    for batch in (1, 8, 32, 256):
        yield f"at least 7 of 14, batch {batch}", sets_of(at_least(7), 14, batch=batch)
        yield f"at least 8 of 18, batch {batch}", sets_of(at_least(8), 18, batch=batch)
        yield f"at least 10 of 24, batch {batch}", sets_of(at_least(10), 24, batch=batch)
    for batch in (1, 64):
        yield f"additive, 5 of 30, batch {batch}", sets_of(additive(30, 5, 1), 30, batch=batch)
        yield f"additive, 5 of 30, no reasons, {batch}", sets_of(additive(30, 5, 1), 30, batch=batch, reasons=False)
        yield f"additive, 6 of 60, batch {batch}", sets_of(additive(60, 6, 1), 60, batch=batch)
        yield f"dnf of 2,000, 60 terms of 6, batch {batch}", sets_of(random_terms(2_000, 60, 6, 2), 2_000, batch=batch)
        yield (
            f"dnf of 2,000, 400 terms of 4, batch {batch}",
            sets_of(random_terms(2_000, 400, 4, 2), 2_000, batch=batch),
        )
        weights = [Random(i).choice([0.5, 0.7, 1.0, 1.3, 2.0]) for i in range(24)]
        yield f"weights, 8 of 24, batch {batch}", sets_of(at_least(8), 24, batch=batch, weights=weights)
    flags = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(20)])
    yield "rows, 8 of 20 flags", rows_of(lambda rows: rows.sum(axis=1), flags, 8)
    yield "rows, 8 of 20 flags, batch 1", rows_of(lambda rows: rows.sum(axis=1), flags, 8, batch=1)
    few = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(14)])
    yield "rows, 7 of 14 flags: values", rows_of(lambda rows: rows.sum(axis=1), few, 7, reasons=False)
    for features in (5, 6, 8):
        score, space = grid_of(features, 100)
        yield f"values of {features} features", rows_of(score, space, 0.8, value_queries=None)
        yield f"values of {features} features, batch 1", rows_of(score, space, 0.8, value_queries=None, batch=1)
        yield f"cheapest of all, {features} features", rows_of(score, space, 0.6, objective="cost", batch=32)
        yield (
            f"cheapest of all, {features} features, 5 changes",
            rows_of(score, space, 0.5, objective="cost", max_changes=5),
        )


def main(limits: Sequence[float]) -> None:
    print(f"{'case':<44}{'limit':>7}{'seconds':>9}{'over':>8}  {'status':<9}{'queries':>9}")
    worst = 0.0
    for name, case in cases():
        for limit in limits:
            started = time.perf_counter()
            status, queries = case(limit)
            seconds = time.perf_counter() - started
            over = max(0.0, seconds - limit)
            worst = max(worst, over / max(0.05 * limit, 0.2))
            print(f"{name:<44}{limit:>7g}{seconds:>9.2f}{over:>8.3f}  {status:<9}{queries:>9,}", flush=True)
    print(f"\nThe largest excess is {worst:.0%} of what is allowed.")


if __name__ == "__main__":
    main([float(text) for text in sys.argv[1:]] or LIMITS)
