"""The plain loop: right, and within the bound that the guided search relies on."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.layers import Tally, count
from flipset.protocol import Flips, Search, does_flip, everything, flips_of
from flipset.search.guided.bound import worst_case
from flipset.search.guided.plain import flips_of_many, settle_size
from flipset.sets.known import Known
from flipset.testing import DRAWS, asking, is_minimal_certificate, smallest


def plain(d: int, size: int, certificates: list[Flips], known: Known) -> Search[None]:
    def flips(query: Flips) -> Search[bool]:
        settled = known.settle(query)
        if settled is None:
            settled = yield from does_flip(query)
            known.learn(query, settled)
        return settled

    yield from settle_size(size, d, certificates, flips)


@pytest.mark.parametrize("seed", range(120))
def test_every_set_up_to_the_size_is_settled_within_the_bound(seed: int) -> None:
    rng = Random(seed)
    d = rng.randint(1, 8)
    g = DRAWS[seed % len(DRAWS)](rng, d)
    truth = smallest(g, d)
    if not truth or not truth[0]:
        return
    size = truth[0].bit_count()
    certificates: list[Flips] = []
    known, tally = Known(), Tally()
    run(count(plain(d, size, certificates, known), tally), asking(g))
    for query in range(1 << d):
        if query.bit_count() <= size:
            assert known.settle(query) == g(query)
    assert all(is_minimal_certificate(g, certificate, d) for certificate in certificates)
    largest = max((certificate.bit_count() for certificate in certificates), default=1)
    in_any = flips_of(i for i in range(d) if any(certificate >> i & 1 for certificate in certificates)).bit_count()
    assert tally.queries <= worst_case(d, largest, max(in_any, 1), size, probes=1)


def test_it_stops_at_the_first_size_at_which_something_flips() -> None:
    known, certificates = Known(), list[Flips]()
    run(plain(6, 3, certificates, known), asking(lambda query: bool(query & 0b11)))
    assert sorted(known.ones) == [0b01, 0b10]
    assert certificates == [0b11]


@given(st.sets(st.integers(0, 2_000), min_size=1))
def test_bitmasks_of_many_features(features: set[int]) -> None:
    assert flips_of_many(sorted(features)) == flips_of(features)
    assert flips_of_many([]) == 0
    assert flips_of_many(list(range(100))) == everything(100)
