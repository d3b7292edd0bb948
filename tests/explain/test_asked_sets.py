"""All sets that were asked about rows: put together by row, found again, and compared."""

from random import Random
from typing import Any

import numpy as np
import pytest

from flipset.explain import asked_sets as module
from flipset.explain.asked_sets import AskedSets


def words_of(words: list[int]) -> Any:
    return np.array(words, dtype=np.uint64)


def draw(rng: Random, rows: int) -> tuple[AskedSets, list[dict[int, tuple[float, float]]]]:
    """Draw answers that arrive in several calls, some of them NaN."""
    asked = AskedSets(rows)
    kept: list[dict[int, tuple[float, float]]] = [{} for _ in range(rows)]
    for _ in range(rng.randint(1, 5)):
        calls = [(rng.randrange(rows), rng.randrange(16)) for _ in range(rng.randint(0, 12))]
        new = sorted({(k, word) for k, word in calls if word not in kept[k]})
        rng.shuffle(new)
        scores = [rng.choice((rng.random(), rng.random(), float("nan"))) for _ in new]
        margins = [score - 0.5 for score in scores]
        given = np.array([k for k, _ in new], dtype=np.intp), words_of([word for _, word in new])
        asked.add(*given, np.array(scores), np.array(margins))
        for (k, word), score, margin in zip(new, scores, margins, strict=True):
            if score == score:
                kept[k][word] = score, margin
    asked.sort()
    return asked, kept


def test_answers_are_put_together_by_row_and_found_again() -> None:
    for seed in range(100):
        rng = Random(seed)
        asked, kept = draw(rng, rng.randint(1, 5))
        for k, answers in enumerate(kept):
            own = asked.of(k)
            found = zip(asked.words[own].tolist(), asked.scores[own].tolist(), asked.margins[own].tolist(), strict=True)
            assert {word: (score, margin) for word, score, margin in found} == answers, seed
        for flips in (True, False):
            some = [(k, word) for k, answers in enumerate(kept) for word in answers if (answers[word][1] >= 0) == flips]
            rng.shuffle(some)
            rows, words = np.array([k for k, _ in some], dtype=np.intp), words_of([word for _, word in some])
            assert asked.score_of(rows, words, flips=flips).tolist() == [kept[k][word][0] for k, word in some]
            if flips:
                assert asked.margin_of(rows, words).tolist() == [kept[k][word][1] for k, word in some]


@pytest.mark.parametrize("pairs", [1, 20, module.PAIRS])
def test_contradictions_are_found_in_each_row_by_itself(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAIRS", pairs)
    some = 0
    for seed in range(150):
        asked, kept = draw(Random(seed), 4)
        found = asked.contradictions()
        for k, answers in enumerate(kept):
            ones, zeros = ([word for word in answers if (answers[word][1] >= 0) == flips] for flips in (True, False))
            expected = {(one, zero) for one in ones for zero in zeros if one & ~zero == 0}
            assert (k in found) == bool(expected), (seed, k)
            assert k not in found or found[k] in expected
            some += bool(expected)
    assert some > 100


def test_nothing_asked_is_nothing_to_find() -> None:
    asked = AskedSets(3)
    asked.sort()
    assert asked.contradictions() == {}
    assert [asked.of(k) for k in range(3)] == [slice(0, 0)] * 3
    assert asked.score_of(np.zeros(0, dtype=np.intp), words_of([])).tolist() == []
