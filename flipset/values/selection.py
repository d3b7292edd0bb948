"""Which options are shown where only some are wanted: the cheapest, or some that share few features.

The rule for diverse options is greedy, and follows from the options alone. The first is the cheapest. Each next one is
the option whose largest number of features in common with one of those chosen is least. Among equals the one with the
fewest features in common with all of them together wins, then the cheaper one, then the one that is listed first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


def select(flipsets: Sequence[AbstractSet[str]], most: int, *, diverse: bool) -> list[int]:
    """Return the places of the options to show, in order; `flipsets` are those of the options, cheapest first.

    Examples
    --------
    >>> select([{"a", "b"}, {"a", "c"}, {"c", "d"}], 2, diverse=False)
    [0, 1]
    >>> select([{"a", "b"}, {"a", "c"}, {"c", "d"}], 2, diverse=True)
    [0, 2]
    """
    if not diverse:
        return list(range(min(most, len(flipsets))))
    # For each option that is not chosen, what it has in common with those chosen: at most with one, and with all.
    common = dict.fromkeys(range(len(flipsets)), (0, 0))
    chosen: list[int] = []
    while common and len(chosen) < most:
        # Places are in order of cost, so the last criterion is the place itself.
        best = min(common, key=lambda i: (*common[i], i))
        del common[best]
        chosen.append(best)
        for i, (largest, total) in common.items():
            shared = len(flipsets[i] & flipsets[best])
            common[i] = max(largest, shared), total + shared
    return sorted(chosen)
