"""Every query and answer about the rows of a table search."""

from random import Random

import numpy as np

from flipset.search.table.log import Log, as_words


def test_sets_are_bitmasks_up_to_the_last_bit_of_a_word() -> None:
    flips = np.zeros((2, 63), dtype=bool)
    flips[0, [0, 2]] = True
    flips[1, 62] = True
    assert as_words(flips).tolist() == [0b101, 1 << 62]


def test_a_log_remembers_what_a_list_does() -> None:
    rng = Random(3)
    places = 4
    log, lists = Log(places), [[] for _ in range(places)]  # type: ignore[var-annotated]
    rounds = [0] * places
    for _ in range(60):
        some = [rng.randrange(places) for _ in range(rng.randint(1, 9))]
        words = [rng.randrange(64) for _ in some]
        scores = [rng.random() for _ in some]
        margins = [score - 0.5 for score in scores]
        log.add(np.array(some), np.array(words, dtype=np.uint64), np.array(scores), np.array(margins))
        for place, word, score, margin in zip(some, words, scores, margins, strict=True):
            lists[place].append((word, score, margin))
        for place in set(some):
            rounds[place] += 1
        if rng.random() < 0.1:
            gone = rng.randrange(places)
            log.clear(np.array([gone]))
            lists[gone], rounds[gone] = [], 0
        for place in range(places):
            flips, told, beyond, count = log.of(place)
            assert list(zip(flips.tolist(), told.tolist(), beyond.tolist(), strict=True)) == lists[place]
            assert count == rounds[place]


def test_only_what_was_asked_of_the_row_that_is_there_is_recalled() -> None:
    log = Log(2)
    word = np.array([5], dtype=np.uint64)
    log.add(np.array([0]), word, np.array([0.9]), np.array([0.4]))
    recalled = log.recall(np.array([0, 1, 0]), np.array([5, 5, 6], dtype=np.uint64))
    assert recalled[0] == 0.4
    assert np.isnan(recalled[1:]).all()
    log.add(np.array([1]), word, np.array([0.8]), np.array([0.3]))
    log.clear(np.array([0]))
    assert log.recall(np.array([1]), word).tolist() == [0.3]
    assert np.isnan(log.recall(np.array([0]), word)).all()  # its entry is left over, and the row there is another


def test_what_was_taken_out_stays_as_it_was() -> None:
    log = Log(1)
    log.add(np.array([0]), np.array([1], dtype=np.uint64), np.array([0.1]), np.array([-0.4]))
    flips, scores, _, _ = log.of(0)
    log.clear(np.array([0]))
    log.add(np.array([0]), np.array([2], dtype=np.uint64), np.array([0.2]), np.array([-0.3]))
    assert (flips.tolist(), scores.tolist()) == ([1], [0.1])


def test_a_row_with_more_queries_than_there_is_room_for_makes_more() -> None:
    log = Log(2)
    words = np.arange(200, dtype=np.uint64)
    log.add(np.ones(200, dtype=np.intp), words, np.arange(200.0), np.arange(200.0) - 50)
    assert log.of(1)[0].tolist() == list(range(200))
    assert log.of(0)[0].tolist() == []
