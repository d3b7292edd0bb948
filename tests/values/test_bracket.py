"""The first position that flips is found whatever the margins say, and they make it quicker where they are right."""

from collections.abc import Callable, Sequence
from math import log
from random import Random

import pytest

from flipset.values.bracket import Bracket


def search(margin: Callable[[int], float], length: int, before: float | None, known: bool = True) -> tuple[int, int]:
    """Return the first position that flips, and how many positions were asked about."""
    bracket = Bracket(0, length, before, margin(length) if known else None)
    asked = []
    while bracket.is_open:
        position = bracket.guess()
        assert bracket.low < position < bracket.high
        asked.append(position)
        bracket.learn(position, margin(position) >= 0, margin(position))
    assert len(asked) == len(set(asked))
    return bracket.high, len(asked)


def test_the_first_that_flips_is_found_whatever_the_margins() -> None:
    for seed in range(500):
        rng = Random(seed)
        length, first = rng.randint(1, 300), 0
        first = rng.randint(1, length)
        sizes = [rng.choice([5e-324, 1e-9, 1.0, rng.random(), 1e100]) for _ in range(length + 1)]

        def margin(j: int, first: int = first, sizes: Sequence[float] = sizes) -> float:
            return sizes[j] if j >= first else -sizes[j]

        found, asked = search(margin, length, rng.choice([None, -1e100, -5e-324, -1.0]), rng.random() < 0.7)
        assert found == first
        assert asked <= 1 + log(length) / log(1 / 0.7) + 3, seed


@pytest.mark.parametrize("first", [1, 2, 3_141, 999_999, 1_000_000])
def test_labels_are_halved(first: int) -> None:
    found, asked = search(lambda j: 1.0 if j >= first else -1.0, 1_000_000, -1.0)
    assert found == first
    assert asked <= 20


def test_margins_make_it_quicker() -> None:
    total = {True: 0, False: 0}
    for seed in range(100):
        first = Random(seed).randint(1, 50)  # near one end, as the margins say
        for margins in total:
            scale = (lambda x: x) if margins else (lambda x: 1.0 if x >= 0 else -1.0)
            total[margins] += search(lambda j, f=first, s=scale: s(float(j - f)), 1_000, scale(float(-first)))[1]  # type: ignore[misc]
    assert total[True] < 0.85 * total[False], total


def test_what_follows_from_other_answers_has_no_margin() -> None:
    bracket = Bracket(0, 100, -1.0, 3.0)
    assert bracket.guess() == 30
    bracket.learn(40, flips=True)
    assert (bracket.high, bracket.high_margin) == (40, None)
    assert bracket.guess() == 20
