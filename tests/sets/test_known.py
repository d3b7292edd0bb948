"""What follows from answers, looked up in an index or one by one: the same."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipset.sets.known
from flipset.protocol import Flips
from flipset.sets.index import Index
from flipset.sets.known import Known

sets = st.integers(0, 255)


@given(st.lists(sets), sets, st.integers(0, 2**12))
def test_an_index_finds_what_looking_finds(members: list[Flips], query: Flips, dropped: int) -> None:
    index = Index(members)
    index.drop(dropped)
    kept = [(j, flips) for j, flips in enumerate(members) if not dropped >> j & 1]
    assert index.disjoint(query) == sum(1 << j for j, flips in kept if not flips & query)
    assert index.inside(query) == sum(1 << j for j, flips in kept if not flips & ~query)
    assert index.containing(query) == sum(1 << j for j, flips in kept if not query & ~flips)


def test_many_facts_are_known_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    # Answers in no order and from no monotone function, with sets of all sizes: also contradictions must be the same.
    for seed in range(300):
        rng = Random(seed)
        asked = [(rng.getrandbits(rng.choice([3, 8, 8])), rng.random() < 0.5) for _ in range(60)]
        told = []
        for start in (10**9, 1, 4):
            monkeypatch.setattr(flipset.sets.known, "INDEX_FROM", start)
            known = Known()
            conflicts = [known.learn(query, flips) for query, flips in asked]
            settled = [known.settle(query) for query in range(256)]
            largest = [known.largest_zero_above(query) for query in range(256)]
            above = [max((z for z in known.zeros if not q & ~z), key=int.bit_count, default=None) for q in range(256)]
            assert largest == above
            told.append((known.zeros, known.ones, conflicts, settled))
        assert told[0] == told[1] == told[2], seed
