"""The margins of sets that were asked: what is added is recalled, and nothing else."""

from random import Random
from typing import Any

import numpy as np
import pytest

from flipset.search.table import memory as module
from flipset.search.table.memory import Memory, as_words


def words_of(words: list[int]) -> Any:
    return np.array(words, dtype=np.uint64)


def test_sets_are_bitmasks_up_to_the_last_bit_of_a_word() -> None:
    flips = np.zeros((3, 64), dtype=bool)
    flips[0, [0, 2]] = True
    flips[1, 63] = True
    assert as_words(flips).tolist() == [0b101, 1 << 63, 0]
    assert as_words(np.zeros((0, 5), dtype=bool)).tolist() == []


@pytest.mark.parametrize("merged_from", [1, 30, module.LEAST_MERGED])
def test_it_recalls_what_a_dictionary_does(merged_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_MERGED", merged_from)
    rng = Random(merged_from)
    memory, kept = Memory(), dict[tuple[int, int], float]()
    for _ in range(60):
        new = {
            (rng.randrange(6), rng.choice((rng.randrange(64), rng.getrandbits(63)))) for _ in range(rng.randint(0, 20))
        }
        pairs = sorted(new - kept.keys())
        margins = [rng.uniform(-1, 1) for _ in pairs]
        memory.add(
            np.array([row for row, _ in pairs], dtype=np.intp), words_of([w for _, w in pairs]), np.array(margins)
        )
        kept |= dict(zip(pairs, margins, strict=True))
        wanted = [*kept, *((rng.randrange(7), rng.randrange(80)) for _ in range(30))]
        rng.shuffle(wanted)
        recalled = memory.recall(np.array([row for row, _ in wanted]), words_of([word for _, word in wanted]))
        expected = [kept.get(pair, float("nan")) for pair in wanted]
        np.testing.assert_array_equal(recalled, expected)


def test_sets_that_share_a_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_keys", lambda rows, words: np.zeros(len(rows), dtype=np.uint64))
    memory = Memory()
    memory.add(np.array([0, 0, 1]), words_of([5, 6, 5]), np.array([0.1, 0.2, 0.3]))
    memory.add(np.array([2]), words_of([6]), np.array([0.4]))
    recalled = memory.recall(np.array([1, 0, 2, 0, 1, 2]), words_of([5, 6, 6, 5, 6, 7]))
    np.testing.assert_array_equal(recalled, [0.3, 0.2, 0.4, 0.1, np.nan, np.nan])


def test_an_infinite_margin_is_a_margin() -> None:
    memory = Memory()
    memory.add(np.array([0, 0]), words_of([1, 2]), np.array([np.inf, -np.inf]))
    assert memory.recall(np.array([0, 0]), words_of([1, 2])).tolist() == [np.inf, -np.inf]
