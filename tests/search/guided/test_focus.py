"""Features in play and the block of all others: translated without loss."""

from hypothesis import given
from hypothesis import strategies as st

from flipset.protocol import flips_of
from flipset.search.guided.focus import Focus


@given(st.sets(st.integers(0, 29), min_size=1), st.integers(0, 2**30 - 1))
def test_focus_translates_back_and_forth(features: set[int], flips: int) -> None:
    focus = Focus.on_none(30).widened(sorted(features, reverse=True))
    inner = focus.inner(flips)
    assert focus.outer(inner) == flips & flips_of(features)
    assert focus.block == flips_of(set(range(30)) - features)
    assert Focus.on_all(30).inner(flips) == Focus.on_all(30).outer(flips) == flips
