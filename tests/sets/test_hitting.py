"""Sets that meet every reason, against all sets."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.protocol import Flips
from flipset.sets.hitting import hitting_sets, listing, tightest
from flipset.sets.weights import read_weights


def asks_nothing(batch: Sequence[Flips]) -> list[float]:
    raise AssertionError(f"asked {batch}")


@given(st.lists(st.integers(1, 63), max_size=8), st.lists(st.integers(1, 63), max_size=3), st.integers(-1, 12))
def test_hitting_sets_leave_nothing_out_and_repeat_nothing(reasons: list[int], ones: list[int], limit: int) -> None:
    weights = [1, 2, 3, 1, 2, 3]
    for each in (None, weights):
        weigh = read_weights(each, 6).of
        found = run(listing(hitting_sets(reasons, ones, each, limit)), asks_nothing)
        assert len(set(found)) == len(found)
        assert all(weigh(h) <= limit and all(h & r for r in reasons) for h in found)
        assert all(one & ~h for h in found for one in ones)
        for candidate in range(64):
            if weigh(candidate) <= limit and all(candidate & r for r in reasons):
                above_one = any(not one & ~candidate for one in ones)
                assert above_one or any(not h & ~candidate for h in found)


def test_a_listing_stops_where_it_is_told_and_passes_checkpoints() -> None:
    reasons = [1 << i | 1 << i + 1 for i in range(0, 24, 2)]
    flow = listing(hitting_sets(reasons, (), None, 12), most=3_000)
    checkpoints = 0
    try:
        next(flow)
        while True:
            checkpoints += 1
            flow.send(())
    except StopIteration as stop:
        assert len(stop.value) == 3_000
    assert checkpoints > 0


def test_the_reason_with_the_fewest_features_left_is_branched_on() -> None:
    assert tightest([0b0111, 0b1100], 0, 5, None) == 0b1100
    assert tightest([0b0111, 0b1100], 0b0011, 5, None) == 0b0100
    assert tightest([0b0111, 0b1100], 0b1100, 5, None) == 0  # one of them cannot be met
    assert tightest([0b0011, 0b1100], 0, 1, None) == 0  # two that share nothing need two
    assert tightest([0b0011, 0b1100], 0, 4, [1, 1, 9, 4]) == 0  # and here five
    assert tightest([0b0011, 0b1100], 0, 5, [1, 1, 9, 4]) == 0b0011
