"""Find all single features that flip, once it is known that some do.

No reasons are needed then, and features that matter only together can be ignored: it is enough to cover all other
features by sets that do not flip. The features are taken piece by piece. A piece that does not flip is finished. A
piece that flips is halved. Usually this leads to a feature that flips alone; otherwise, it ends when the parts do not
flip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import everything

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips, Search

FIRST_PIECE, STRIDE = 1 / 8, 1.5
"""The first piece is this share of all features. After one that does not flip, the next is longer by this factor."""


def sweep(
    start: int, stop: int, flips: Callable[[Flips], Search[bool]], go_on: Callable[[], Search[bool]]
) -> Search[bool]:
    """Settle all single features from `start` to `stop`; return False if `go_on` says no before that is done.

    Each feature that flips costs about log2 of the length of a piece.
    """
    piece = FIRST_PIECE * (stop - start)
    # Invariant: features before `low` are settled. If low < high, the features from low to high flip together.
    low, high = start, start
    lone = True  # the last piece that flipped contained a feature that flips alone
    while low < stop:
        if not (yield from go_on()):
            return False
        if low == high:  # take a new piece
            high = min(stop, low + max(1, round(piece)))
            if not (yield from flips(_between(low, high))):
                piece = max(piece, high - low) * STRIDE
                low = high
        elif high - low == 1:  # one feature is left of a piece that flips; it may still need others to flip
            lone = yield from flips(1 << low)
            low = high
        else:
            middle = (low + high) // 2
            if (yield from flips(_between(low, middle))):
                high = middle
            else:
                low = middle
                # If the last piece flipped only as a whole, the second half of this one may not flip by itself.
                if not lone and not (yield from flips(_between(low, high))):
                    piece = high - low
                    low = high
    return True


def _between(low: int, high: int) -> Flips:
    return everything(high - low) << low
