"""Set functions, by `find_flipsets` and `iter_flipsets`."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from flipset import find_flipsets, iter_flipsets
from tests.pins.functions import (
    Answer,
    Function,
    draw_either,
    draw_labels,
    draw_margins,
    draw_planted,
    draw_trees,
    draw_wrong,
)
from tests.pins.transcripts import Case, Seen, Transcript, numbered, of_flipsets, transcript, watched

Draw = Callable[[Random, int], Function]
BATCHES = (1, 8, 64)
TAKEN = 20


def seen_sets(g: Function) -> Seen:
    """Return the function of sets that the library takes, watched."""

    def answer(sets: Sequence[frozenset[int]]) -> list[Answer]:
        return [g(sum(1 << i for i in features)) for features in sets]

    return Seen(answer, lambda sets: [sorted(features) for features in sets])


def draw_weights(rng: Random, d: int) -> list[float]:
    return [rng.choice((0.5, 1, 1, 2, 3, 2.5)) for _ in range(d)]


def find(family: str, draw: Draw, least: int, most: int, batch: int, i: int) -> Transcript:
    """Find all smallest flip sets of a function, with what the family asks for."""
    rng = Random(f"{family}/{i}")
    d = rng.randint(least, most)
    g = seen_sets(draw(rng, d))
    how: dict[str, Any] = {"batch": batch}
    if family == "budget":
        how["max_queries"] = rng.randint(0, 40)
    elif family == "weights":
        how["weights"] = draw_weights(rng, d)
        how["max_queries"] = rng.choice((None, None, None, 25))
    elif family == "quick":
        how["reasons"] = False
    elif family == "seconds":
        how["max_seconds"] = 3600
    return watched(lambda: of_flipsets(find_flipsets(g, d, **how)), g)


def iterate(batch: int, i: int) -> Transcript:
    """Read some minimal flip sets."""
    rng = Random(f"iter/{i}")
    d = rng.randint(3, 9)
    g = seen_sets(draw_either(rng, d))
    how: dict[str, Any] = {"batch": batch}
    if rng.random() < 0.3:
        how["weights"] = draw_weights(rng, d)
    if rng.random() < 0.3:
        how["max_queries"] = rng.randint(5, 40)
    taken: list[list[int]] = []

    def work() -> Transcript:
        taken.extend(sorted(one) for one in islice(iter_flipsets(g, d, **how), TAKEN))
        return transcript()

    done = watched(work, g)
    done["answer"] = {"error": done["answer"], "taken": taken}
    return done


# Name, how to draw, least and most features, cases for each batch.
FAMILIES: Sequence[tuple[str, Draw, int, int, int]] = (
    ("labels", draw_labels, 3, 11, 65),
    ("margins", draw_margins, 3, 18, 65),
    ("wide", draw_planted, 12, 40, 35),
    ("trees", draw_trees, 12, 24, 20),
    ("budget", draw_either, 3, 14, 40),
    ("weights", draw_either, 3, 10, 35),
    ("quick", draw_either, 3, 12, 15),
    ("wrong", draw_wrong, 6, 12, 12),
    ("seconds", draw_either, 3, 10, 10),
)


def cases() -> Iterator[tuple[str, Case]]:
    for batch in BATCHES:
        for family, draw, least, most, count in FAMILIES:
            yield from numbered(f"sets/{family}/batch{batch}", count, partial(find, family, draw, least, most, batch))
        yield from numbered(f"sets/iter/batch{batch}", 25, partial(iterate, batch))
