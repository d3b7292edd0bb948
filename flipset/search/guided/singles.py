"""All single features that flip, once it is known that some do.

Then no certificate is needed, and nothing has to be known of features that matter only together: it is enough to cover
all others by sets that do not flip. Take the features piece by piece. A piece that does not flip is done with. One that
does is halved: to the feature that flips, as a rule, and where it holds none, until the parts do not flip either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import everything

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips, Search

FIRST_PIECE, STRIDE = 1 / 8, 1.5
"""The first piece is this share of the whole; one that did not flip is followed by one longer by this factor."""


def sweep(
    start: int, stop: int, flips: Callable[[Flips], Search[bool]], go_on: Callable[[], Search[bool]]
) -> Search[bool]:
    """Ask until all single features from `start` to `stop` are settled; False if `go_on` said no before that.

    Each feature that flips costs about log2 of a piece's length.
    """
    piece = FIRST_PIECE * (stop - start)
    low, high = start, start  # features from low to high flip together; nothing is suspected where the two are equal
    lone = True  # so far, pieces that flipped held a feature that flips alone
    while low < stop:
        if not (yield from go_on()):
            return False
        if low == high:
            high = min(stop, low + max(1, round(piece)))
            if not (yield from flips(_between(low, high))):
                piece = max(piece, high - low) * STRIDE
                low = high
        elif high - low == 1:
            lone = yield from flips(1 << low)
            low = high
        else:
            middle = (low + high) // 2
            if (yield from flips(_between(low, middle))):
                high = middle
            else:
                low = middle
                # Where features flip together rather than alone, the other half may well not flip by itself.
                if not lone and not (yield from flips(_between(low, high))):
                    piece = high - low
                    low = high
    return True


def _between(low: int, high: int) -> Flips:
    return everything(high - low) << low
