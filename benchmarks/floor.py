"""The floor: the size of the smallest proof. No correct search asks fewer queries on that instance.

A proof holds every optimal flip set and enough zeros to cover all other sets of at most Δ features. The fewest zeros
are a minimum set cover by the maximal ones, found by integer programming. Everything is enumerated, so d is at most 16.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flipset.protocol import Flips


@dataclass(frozen=True, slots=True)
class Floor:
    """The optimal flip sets of a function, and how many queries its smallest proof has (at least, if not `exact`)."""

    optimal: tuple[Flips, ...]
    queries: int
    exact: bool

    @property
    def size(self) -> int:
        """Δ."""
        return self.optimal[0].bit_count()


def floor_of(flips: NDArray[np.bool_], seconds: float = 20.0) -> Floor | None:
    """Return the floor of a monotone function given by its table over all sets; None when nothing flips."""
    d = len(flips).bit_length() - 1
    masks = np.arange(1 << d)
    if not flips[-1]:
        return None
    sizes = np.array([int(mask).bit_count() for mask in masks])
    delta = sizes[flips].min()
    optimal = tuple(int(mask) for mask in masks[flips & (sizes == delta)])
    zeros = masks[_maximal(~flips, masks, d)]
    to_cover = masks[_maximal(~flips & (sizes <= delta), masks, d)]
    cover, exact = _smallest_cover(zeros, to_cover, seconds)
    return Floor(optimal, len(optimal) + cover, exact)


def _maximal(members: NDArray[np.bool_], masks: NDArray[np.int64], d: int) -> NDArray[np.bool_]:
    keep = members.copy()
    for i in range(d):
        keep &= ~members[masks | 1 << i] | (masks >> i & 1 == 1)
    return keep


def _smallest_cover(zeros: NDArray[np.int64], sets: NDArray[np.int64], seconds: float) -> tuple[int, bool]:
    """Return the fewest zeros such that each set lies in one."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not len(sets):
        return 0, True
    inside = (sets[:, None] & ~zeros[None, :]) == 0
    inside = np.unique(np.unique(inside, axis=1), axis=0)
    columns = inside.shape[1]
    found = milp(
        np.ones(columns),
        constraints=LinearConstraint(inside.astype(float), 1, np.inf),
        integrality=np.ones(columns),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds},
    )
    if found.status == 0:
        return round(found.fun), True
    return ceil(found.mip_dual_bound - 1e-6), False
