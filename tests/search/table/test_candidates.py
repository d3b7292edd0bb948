"""All sets of one size, and which of them lie in zeros."""

from itertools import combinations
from random import Random

import numpy as np
import pytest

from flipset.protocol import flips_of
from flipset.search.table import candidates as module
from flipset.search.table.candidates import MOST_CANDIDATES, candidates_of, lie_in


@pytest.mark.parametrize(("d", "size"), [(2, 2), (5, 2), (7, 3), (8, 8), (12, 4), (63, 2), (5, 6)])
def test_every_set_of_a_size_is_listed_once(d: int, size: int) -> None:
    found = candidates_of(d, size)
    assert found is not None
    expected = list(combinations(range(d), size))
    assert found.words.tolist() == [flips_of(features) for features in expected]
    assert [tuple(np.flatnonzero(line).tolist()) for line in found.members] == expected
    assert found.weights.tolist() == found.members.astype(float).tolist()


def test_of_too_many_there_is_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    assert candidates_of(63, 4) is None  # 595,665
    assert MOST_CANDIDATES < 595_665
    candidates_of.cache_clear()
    monkeypatch.setattr(module, "MOST_CANDIDATES", 9)
    assert candidates_of(5, 2) is None  # 10
    assert candidates_of(9, 1) is not None
    candidates_of.cache_clear()


def test_a_set_lies_in_a_zero_if_all_its_features_do() -> None:
    rng = Random(2)
    words = [rng.getrandbits(10) for _ in range(40)]
    zeros = [rng.getrandbits(10) for _ in range(15)]
    inside = lie_in(np.array(words, dtype=np.uint64), np.array(zeros, dtype=np.uint64))
    assert inside.tolist() == [[word & ~zero == 0 for word in words] for zero in zeros]
