"""All sets of one size, numbered, for a search that goes through them in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from flipset.search.table.memory import as_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats32: TypeAlias = NDArray[np.float32]
    Words: TypeAlias = NDArray[np.uint64]

MOST_CANDIDATES = 150_000
"""The most sets of one size that are gone through. Sizes that have more are left to the guided search."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """All sets of some size out of `d` features: as flags, as numbers for matrix products, and as bitmasks."""

    members: Bools
    weights: Floats32
    words: Words


@lru_cache(maxsize=8)
def candidates_of(d: int, size: int) -> Candidates | None:
    """Return all sets of a size; None if there are too many of them."""
    count = comb(d, size)
    if count > MOST_CANDIDATES:
        return None
    listed = np.fromiter(combinations(range(d), size), dtype=np.dtype((np.intp, size)), count=count)
    members = np.zeros((count, d), dtype=bool)
    members[np.arange(count)[:, None], listed] = True
    return Candidates(members, members.astype(np.float32), as_words(members))


def lie_in(words: Words, zeros: Words) -> Bools:
    """Say for each zero, line by line, which of the sets lie in it."""
    inside: Bools = (words[None, :] & ~zeros[:, None]) == 0
    return inside
