"""Zeros of many rows grown side by side, each along its own chain of features.

On a chain, positions before `at` are decided; with all up to `low` nothing flips, with all up to `high` it does. When
the two meet, the feature between them is left out for good. As a rule most of those behind it then have to be left out
too: each is tried by itself, all in one round, and a new chain goes through those that are still possible. A zero is
maximal when its chain has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

TRY_FROM = 3
"""Features behind a turning point from which each is tried by itself."""


class Chains:
    """One chain at each place, with at most `batch` questions a round.

    `known_pairs` says which pairs are known to flip at some places.
    """

    def __init__(self, places: int, d: int, batch: int, known_pairs: Callable[[Ints], Bools]) -> None:
        self.d = d
        self.batch = batch
        self.zero = np.zeros((places, d), dtype=bool)
        self.rank = np.zeros((places, d), dtype=np.intp)  # the position of each feature
        self.reach = np.zeros((places, d + 1))  # what the features up to a position gain, if that adds up
        self.length, self.at, self.low, self.high = np.zeros((4, places), dtype=np.intp)
        self.below, self.above = np.zeros((2, places))  # margins at `low` and `high`, as far as they are known
        self.trying = np.zeros(places, dtype=bool)
        self.left, self.right = np.triu_indices(d, 1)
        self._known_pairs = known_pairs
        self._tried: tuple[Ints, Ints, Ints] | None = None
        self._asked: tuple[Ints, Bools] | None = None
        self._positions = np.arange(1, d + 1)

    def start(
        self, places: Ints, start: Bools, usable: Bools, key: Floats, gains: Floats, margin: Floats, with_one: Floats
    ) -> None:
        """Begin chains at `start`, a zero of this margin, through the usable features, least key first.

        `with_one` holds the margins with one more feature, where they were asked: usable ones do not flip.
        """
        order = np.argsort(np.where(usable, key, np.inf), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(self.d), order.shape), axis=1)
        rank[~usable] = self.d + 1
        self.zero[places] = start
        self.rank[places] = rank
        self.reach[places, 0] = 0.0
        self.reach[places, 1:] = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
        self.length[places] = usable.sum(axis=1)
        first = np.take_along_axis(with_one, order[:, :1], axis=1)[:, 0]
        known = (self.length[places] > 0) & ~np.isnan(first)
        self.at[places] = 0
        self.low[places] = known
        self.high[places] = self.length[places] + 1
        self.below[places] = np.where(known, first, margin)
        self.above[places] = np.nan
        self.trying[places] = False
        self._bound(places)
        self._close(places)

    def ended(self, places: Ints) -> Bools:
        """Say which chains have ended: their zeros are maximal."""
        return self.at[places] >= self.length[places]

    # --- questions ------------------------------------------------------------------------------------------------

    def probes(self, places: Ints, hurried: Bools) -> tuple[Ints, Bools]:
        """Return the next questions, and the chain each is about; a `hurried` one asks more, in fewer rounds."""
        trying = self.trying[places]
        if not trying.any():
            self._tried = None
            return self._turns(places, hurried)
        if trying.all():
            self._asked = None
            return self._tries(places)
        parts = self._tries(places[trying]), self._turns(places[~trying], hurried[~trying])
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _tries(self, places: Ints) -> tuple[Ints, Bools]:
        """Ask about features that are still possible, each by itself."""
        rank, at = self.rank[places], self.at[places]
        end = np.minimum(self.length[places], at + self.batch)
        which, feature = np.nonzero((rank >= at[:, None]) & (rank < end[:, None]))
        self._tried = places, which, feature
        flips = self.zero[places[which]]
        flips[np.arange(len(which)), feature] = True
        return places[which], flips

    def _turns(self, places: Ints, hurried: Bools) -> tuple[Ints, Bools]:
        """Ask about where a chain should turn, and in the middle; or, hurried, everywhere."""
        low = self.low[places]
        last = np.minimum(self.high[places] - 1, self.length[places])
        guess = self._guess(places)
        likely = np.clip(np.stack([guess - 1, guess, (low + last + 1) // 2]), low + 1, last)
        asked = np.zeros((len(places), self.d), dtype=bool)
        asked[np.arange(len(places)), likely - 1] = True
        ahead = (self._positions > low[:, None]) & (self._positions <= np.minimum(last, low + self.batch)[:, None])
        asked = np.where(hurried[:, None], ahead, asked)
        self._asked = places, asked
        which, position = np.nonzero(asked)
        chains = places[which]
        rank = self.rank[chains]
        added = (rank >= self.at[chains][:, None]) & (rank <= position[:, None])
        return chains, self.zero[chains] | added

    def _guess(self, places: Ints) -> Ints:
        """Return where each chain should turn, if gains add up; scaled to what both ends say, once they are known."""
        reach = self.reach[places]
        each = np.arange(len(places))
        here = reach[each, self.low[places]]
        there = reach[each, np.minimum(self.high[places], self.d)]
        gap = np.nan_to_num(self.above[places] - self.below[places], nan=0.0, posinf=0.0)
        scale = np.divide(there - here, gap, out=np.ones(len(places)), where=(gap > 0) & (there > here))
        target = here - self.below[places] * scale
        found: Ints = (reach < target[:, None]).sum(axis=1)
        return found

    # --- answers --------------------------------------------------------------------------------------------------

    def learn(self, margins: Floats) -> None:
        """Take the answers to the last questions."""
        count = 0 if self._tried is None else len(self._tried[1])
        if self._asked is not None:
            self._turned(*self._asked, margins[count:])
        if self._tried is not None:
            self._tried_out(*self._tried, margins[:count])

    def _tried_out(self, places: Ints, which: Ints, feature: Ints, margins: Floats) -> None:
        """Go on through the features that can be added by themselves, or were not tried."""
        rank = self.rank[places]
        usable = (rank >= self.at[places][:, None]) & (rank < self.length[places][:, None])
        usable[which, feature] = margins < 0
        with_one = np.full(usable.shape, np.nan)
        with_one[which, feature] = margins
        gains = np.nan_to_num(np.maximum(with_one - self.below[places][:, None], 0.0))
        self.start(places, self.zero[places], usable, rank.astype(np.float64), gains, self.below[places], with_one)

    def _turned(self, places: Ints, asked: Bools, margins: Floats) -> None:
        """Move the ends of the stretch in which each chain turns."""
        told = np.full(asked.shape, np.nan)
        told[asked] = margins
        each = np.arange(len(places))
        flips = (told >= 0) & (self._positions < self.high[places][:, None])
        first = flips.argmax(axis=1)
        some = flips[each, first]
        self.high[places] = np.where(some, first + 1, self.high[places])
        self.above[places] = np.where(some, told[each, first], self.above[places])
        stays = (told < 0) & (self._positions < self.high[places][:, None])
        last = self.d - 1 - stays[:, ::-1].argmax(axis=1)
        some = stays[each, last] & (last + 1 > self.low[places])
        self.low[places] = np.where(some, last + 1, self.low[places])
        self.below[places] = np.where(some, told[each, last], self.below[places])
        self._close(places)

    def _close(self, places: Ints) -> None:
        """Where the turning point is found, take what lies before it, and go on behind it."""
        while True:
            found = (self.high[places] <= self.low[places] + 1) & ~self.ended(places)
            places = places[found]
            if not places.size:
                return
            rank = self.rank[places]
            low = self.low[places]
            self.zero[places] |= (rank >= self.at[places][:, None]) & (rank < low[:, None])
            self.at[places] = self.low[places] = low + 1
            self.high[places] = self.length[places] + 1
            self.above[places] = np.nan
            self.trying[places] = self.length[places] - self.at[places] >= TRY_FROM
            places = places[~self.trying[places]]
            self._bound(places)

    def _bound(self, places: Ints) -> None:
        """Lower `high` to where a pair known to flip is complete."""
        known = self._known_pairs(places)
        some = known.any(axis=1)
        if not some.any():
            return
        places, known = places[some], known[some]
        # Where each feature comes: those of the zero are there already, those left out never come.
        place = np.where(self.rank[places] < self.at[places][:, None], self.d + 1, self.rank[places])
        place = np.where(self.zero[places], -1, place)
        complete = np.maximum(place[:, self.left], place[:, self.right]) + 1
        nearest = np.where(known, complete, self.d + 2).min(axis=1)
        self.high[places] = np.minimum(self.high[places], nearest)
