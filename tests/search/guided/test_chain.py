"""Where a chain tips: found, and within how many rounds."""

from hypothesis import given
from hypothesis import strategies as st

from flipset import run
from flipset.protocol import Flips, Search, ask
from flipset.search.guided.chain import find_first_flip


@given(st.integers(1, 200), st.integers(0, 200), st.floats(0.001, 3), st.integers(1, 9))
def test_the_first_flip_is_found_within_twice_the_logarithm(length: int, tip: int, rate: float, width: int) -> None:
    rounds = 0

    def flips(queries: list[Flips]) -> Search[list[bool]]:
        nonlocal rounds
        rounds += 1
        return [margin >= 0 for margin in (yield from ask(queries))]

    found = run(find_first_flip(length, rate, lambda n: n, flips, width), lambda batch: [n >= tip > 0 for n in batch])  # type: ignore[arg-type]
    assert found == (tip if 0 < tip <= length else None)
    assert rounds <= 2 * length.bit_length() + 2
