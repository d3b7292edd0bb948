"""Growing the zeros of many rows at once, each along its own chain of features.

A chain starts from nothing and puts the usable features in an order, at positions 0, 1, ..., length - 1. Its *prefix* n
is the zero so far together with the undecided features at positions below n. Prefixes grow with n, so on a monotone
model there is one shortest prefix that flips. The feature that completes it is left out for good; all features before
it join the zero. The chain then continues behind that feature. When all positions are decided, no feature can be added
to the zero: it is maximal.

A chain is in one of three states:

    searching   The next round asks a few prefixes (`_probe_prefixes`). Their answers move `low` and `high` towards each
                other until they are neighbours. `_decide` then decides the positions up to `high`.
    one by one  A feature was just left out, and at least `TRY_FROM` features are undecided. Usually most of them must
                be left out too. So the next round asks each of them alone with the zero (`_probe_singles`).
                Features that flip are dropped, and the chain goes on through the rest: back to searching.
    ended       All positions are decided. The zero is maximal.

Invariants of a chain that has not ended, between two rounds:

- `0 <= decided <= low < high <= length + 1`.
- Prefix `low` does not flip. Prefix `high` flips, or `high` is length + 1 and no prefix is known to flip.
- If the chain is searching, `low + 1 < high`: some prefix is open, so there is something to ask.
- Every feature at a position below `decided` is in the zero, or makes it flip and is left out.

The answers of a model that is not monotone may break the second and the fourth invariant, but not the others, so the
chain still ends. The contradiction is found later, when all answers about a row are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

TRY_FROM = 3
"""The number of undecided features from which each is asked alone after one was left out."""


class Chains:
    """One chain for each row."""

    def __init__(self, rows: int, d: int) -> None:
        self.d = d
        self.zero = np.zeros((rows, d), dtype=bool)  # which features are in the zero so far
        self.rank = np.zeros((rows, d), dtype=np.intp)  # the position of each feature; d + 1 if it is not usable
        # Entry n is the sum of the gains of the features at positions below n: what prefix n gains if gains add up.
        self.gain_of_prefix = np.zeros((rows, d + 1))
        self.length = np.zeros(rows, dtype=np.intp)  # the number of positions
        self.decided = np.zeros(rows, dtype=np.intp)  # positions below this one are decided
        self.low = np.zeros(rows, dtype=np.intp)  # this prefix does not flip
        self.high = np.zeros(rows, dtype=np.intp)  # this prefix flips; length + 1 if none is known to
        self.low_margin = np.zeros(rows)  # the margin of prefix `low`, or a forecast of it
        self.high_margin = np.zeros(rows)  # the margin of prefix `high`; NaN if it was not asked
        self.one_by_one = np.zeros(rows, dtype=bool)  # the state "one by one"
        # The probes that wait for answers. Singles: the rows, then for each probe the index of its row and its
        # feature. Prefixes: the rows, and for each of them which prefixes are asked; column n - 1 is prefix n.
        self._single_probes: tuple[Ints, Ints, Ints] | None = None
        self._prefix_probes: tuple[Ints, Bools] | None = None
        self._prefixes = np.arange(1, d + 1)

    def start(self, rows: Ints, usable: Bools, key: Floats, gains: Floats, margin: Floats, least: int) -> None:
        """Start chains from nothing, through the usable features in the order of `key`.

        `margin` is that of the row itself, and `gains` are how far each feature alone raises it. It is known that no
        `least` of the usable features flip together. So no chain ever probes a set of that size or of a smaller one.
        """
        self.zero[rows] = False
        self._lay(rows, usable, key, gains)
        low = self.low[rows] = np.minimum(self.length[rows], least)
        self.low_margin[rows] = margin + self.gain_of_prefix[rows, low]
        self._decide(rows)

    def _lay(self, rows: Ints, usable: Bools, key: Floats, gains: Floats) -> None:
        """Put the usable features in the order of `key`, at the first positions; all of them are undecided."""
        order = np.argsort(np.where(usable, key, np.inf), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(self.d), order.shape), axis=1)
        rank[~usable] = self.d + 1
        self.rank[rows] = rank
        self.gain_of_prefix[rows, 0] = 0.0
        self.gain_of_prefix[rows, 1:] = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
        self.length[rows] = usable.sum(axis=1)
        self.decided[rows] = 0
        self.high[rows] = self.length[rows] + 1
        self.high_margin[rows] = np.nan
        self.one_by_one[rows] = False

    def ended(self, places: Ints) -> Bools:
        """Say which chains have ended: their zeros are maximal."""
        return self.decided[places] >= self.length[places]

    # --- queries --------------------------------------------------------------------------------------------------

    def probes(self, places: Ints, *, thorough: bool) -> tuple[Ints, Bools]:
        """Return the next queries of chains that have not ended: the place of each, and the features it flips.

        `thorough` asks more prefixes in a round, to need fewer rounds. Queries about single features come before those
        about prefixes; `learn` relies on that order.
        """
        one_by_one = self.one_by_one[places]
        if not one_by_one.any():
            self._single_probes = None
            return self._probe_prefixes(places, thorough=thorough)
        if one_by_one.all():
            self._prefix_probes = None
            return self._probe_singles(places)
        searching = places[~one_by_one]
        parts = self._probe_singles(places[one_by_one]), self._probe_prefixes(searching, thorough=thorough)
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _probe_singles(self, places: Ints) -> tuple[Ints, Bools]:
        """Ask the zero with each of the undecided features alone."""
        rank = self.rank[places]
        undecided = (rank >= self.decided[places][:, None]) & (rank < self.length[places][:, None])
        which, feature = np.nonzero(undecided)
        self._single_probes = places, which, feature
        flips = self.zero[places[which]]
        flips[np.arange(len(which)), feature] = True
        return places[which], flips

    def _probe_prefixes(self, places: Ints, *, thorough: bool) -> tuple[Ints, Bools]:
        """Ask the prefixes around the expected first flip; a thorough chain, all open ones."""
        low = self.low[places]
        last = np.minimum(self.high[places] - 1, self.length[places])  # prefixes low + 1 to last are open
        assert (low < last).all(), "a chain that is searching has an open prefix"
        if thorough:
            asked = (self._prefixes > low[:, None]) & (self._prefixes <= last[:, None])
        else:
            guess = self._expected_first_flip(places)
            likely = np.clip(np.stack([guess - 1, guess]), low + 1, last)
            asked = np.zeros((len(places), self.d), dtype=bool)
            asked[np.arange(len(places)), likely - 1] = True
        self._prefix_probes = places, asked
        which, position = np.nonzero(asked)
        chains = places[which]
        rank = self.rank[chains]
        added = (rank >= self.decided[chains][:, None]) & (rank <= position[:, None])
        return chains, self.zero[chains] | added

    def _expected_first_flip(self, places: Ints) -> Ints:
        """Return the shortest prefix that should flip if gains add up.

        Once the margins at both `low` and `high` are known, gains between them are scaled to fit.
        """
        gains = self.gain_of_prefix[places]
        each = np.arange(len(places))
        at_low = gains[each, self.low[places]]
        at_high = gains[each, np.minimum(self.high[places], self.d)]
        gap = np.nan_to_num(self.high_margin[places] - self.low_margin[places], nan=0.0, posinf=0.0)
        scale = np.divide(at_high - at_low, gap, out=np.ones(len(places)), where=(gap > 0) & (at_high > at_low))
        target = at_low - self.low_margin[places] * scale  # the gain at which the margin reaches 0
        shortest: Ints = (gains < target[:, None]).sum(axis=1)
        return shortest

    # --- answers --------------------------------------------------------------------------------------------------

    def learn(self, margins: Floats) -> None:
        """Take the answers to the last probes, in their order."""
        count = 0 if self._single_probes is None else len(self._single_probes[1])
        if self._prefix_probes is not None:
            self._learn_prefixes(*self._prefix_probes, margins[count:])
        if self._single_probes is not None:
            self._learn_singles(*self._single_probes, margins[:count])

    def _learn_singles(self, places: Ints, which: Ints, feature: Ints, margins: Floats) -> None:
        """Go on from the zero through the features that do not flip alone with it."""
        rank = self.rank[places]
        with_one = np.full(rank.shape, np.nan)
        with_one[which, feature] = margins
        gains = np.nan_to_num(np.maximum(with_one - self.low_margin[places][:, None], 0.0))
        # The features keep their order: the rule for reasons depends on it.
        usable = with_one < 0
        self._lay(places, usable, rank.astype(np.float64), gains)
        # The first of them was asked alone with the zero: it is a prefix that does not flip.
        self.low[places] = self.length[places] > 0
        first = np.where(usable, rank, self.d + 1).argmin(axis=1)
        margin_of_first = with_one[np.arange(len(places)), first]
        self.low_margin[places] = np.where(self.length[places] > 0, margin_of_first, self.low_margin[places])
        self._decide(places)

    def _learn_prefixes(self, places: Ints, asked: Bools, margins: Floats) -> None:
        """Move `high` down to the shortest prefix that flips, and `low` up to the longest below it that does not."""
        answers = np.full(asked.shape, np.nan)
        answers[asked] = margins
        each = np.arange(len(places))
        flips = (answers >= 0) & (self._prefixes < self.high[places][:, None])
        first = flips.argmax(axis=1)
        some = flips[each, first]
        self.high[places] = np.where(some, first + 1, self.high[places])
        self.high_margin[places] = np.where(some, answers[each, first], self.high_margin[places])
        stays = (answers < 0) & (self._prefixes < self.high[places][:, None])
        last = self.d - 1 - stays[:, ::-1].argmax(axis=1)
        some = stays[each, last] & (last + 1 > self.low[places])
        self.low[places] = np.where(some, last + 1, self.low[places])
        self.low_margin[places] = np.where(some, answers[each, last], self.low_margin[places])
        self._decide(places)

    def _decide(self, places: Ints) -> None:
        """Where `low` and `high` are neighbours: add prefix `low` to the zero, and leave out the feature behind it.

        Afterwards every chain here has ended, is one by one, or has an open prefix.
        """
        while True:
            neighbours = (self.high[places] <= self.low[places] + 1) & ~self.ended(places)
            places = places[neighbours]
            if not places.size:
                return
            rank = self.rank[places]
            low = self.low[places]
            self.zero[places] |= (rank >= self.decided[places][:, None]) & (rank < low[:, None])
            # If nothing flips up to the last position, this decides one position too many: the chain has ended.
            self.decided[places] = self.low[places] = low + 1
            self.high[places] = self.length[places] + 1
            self.high_margin[places] = np.nan
            self.one_by_one[places] = self.length[places] - self.decided[places] >= TRY_FROM
            places = places[~self.one_by_one[places]]
