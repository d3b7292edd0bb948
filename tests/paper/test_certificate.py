from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.layers import Tally, count
from flipset.paper import find_certificate
from flipset.paper.families import hidden_feature
from flipset.protocol import everything
from flipset.testing import asking
from tests.strategies import Function, functions


def bound(p: int, d: int) -> int:
    return p * ceil(log2(d)) + p + 1


@given(functions(max_d=8), st.integers(0, 255))
def test_certificate_is_minimal_and_within_the_bound(function: Function, start: int) -> None:
    g, d, _ = function
    start &= everything(d)
    free = everything(d) & ~start
    if g(start):
        return
    tally = Tally()
    certificate = run(count(find_certificate(start, free), tally), asking(g))
    assert certificate & ~free == 0
    rest = everything(d) & ~certificate
    assert not g(rest)
    assert all(g(rest | 1 << i) for i in range(d) if certificate >> i & 1)
    assert tally.queries == tally.rounds <= bound(certificate.bit_count(), d)


@pytest.mark.parametrize(("p", "d"), [(p, d) for p in (1, 2, 5) for d in (1, 2, 3, 10, 1000, 4096) if p <= d])
def test_the_bound_on_spread_features(p: int, d: int) -> None:
    # Flips when any of p spread features does: the one certificate is all p of them.
    relevant = sum(1 << (i * d // p) for i in range(p))
    tally = Tally()
    certificate = run(count(find_certificate(0, everything(d)), tally), asking(lambda q: q & relevant != 0))
    assert certificate == relevant
    assert tally.queries <= bound(p, d)


@pytest.mark.parametrize("i", [0, 1, 511, 512, 1023])
def test_one_relevant_feature_costs_exactly_one_binary_search(i: int) -> None:
    tally = Tally()
    assert run(count(find_certificate(0, everything(1024)), tally), asking(hidden_feature(1024, i).flips)) == 1 << i
    assert tally.queries == 1 + 10 + (1 if i < 1023 else 0)  # behind the last feature there is nothing to ask
