"""The short cut for features that flip alone."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.layers import Tally, count
from flipset.protocol import Flips, Search, ask
from flipset.search.guided import guided_search
from flipset.search.guided.singles import sweep
from flipset.sets.known import Known
from flipset.testing import asking
from tests.strategies import Function, functions


def saying(go_on: bool) -> Search[bool]:
    return go_on
    yield ()


@given(functions(max_d=10), st.integers(0, 4))
def test_every_single_feature_is_settled(function: Function, start: int) -> None:
    g, d, _ = function
    known = Known()

    def flips(query: Flips) -> Search[bool]:
        (margin,) = yield from ask([query])
        known.learn(query, margin >= 0)
        return margin >= 0

    assert run(sweep(start, d, flips, lambda: saying(True)), asking(g))
    for i in range(start, d):
        assert known.settle(1 << i) is g(1 << i)
        assert not g(1 << i) or g(0) or 1 << i in known.ones


def test_it_stops_when_told_to() -> None:
    left = iter([True, True, False])

    def flips(query: Flips) -> Search[bool]:
        (margin,) = yield from ask([query])
        return margin >= 0

    asked: list[Flips] = []

    def oracle(batch: Sequence[Flips]) -> list[float]:
        asked.extend(batch)
        return [1.0] * len(batch)

    assert not run(sweep(0, 64, flips, lambda: saying(next(left))), oracle)
    assert len(asked) == 2


@pytest.mark.parametrize("d", [1_000, 10_000])
def test_no_certificate_is_sought_where_one_feature_flips_alone(d: int) -> None:
    # Feature 0, or 20 of the 40 that come last: each certificate has 22 features, which must be told from the others.
    late = ((1 << 40) - 1) << d - 40
    tally = Tally()
    found = run(count(guided_search(d), tally), asking(lambda q: bool(q & 1) or (q & late).bit_count() >= 20))
    assert found == (1,)
    assert tally.queries <= 60
