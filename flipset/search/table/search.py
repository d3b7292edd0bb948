"""The smallest flip sets of many rows at once, in arrays. It finds flip sets of one and two features.

A fast local model answers thousands of rows in milliseconds, and the search itself becomes the bottleneck. So this
search works on arrays and does nothing row by row. Each row first asks its single features. It then grows zeros along
chains (`flipset.search.table.chains`). If no single feature flips, it also asks the pairs that no zero covers. A row
is finished when every set that does not flip and is no larger than its flip sets lies in a zero: that is the proof. A
row without flip sets of one or two features is given up, and the guided search continues with its answers.

Every row has a *place* in the arrays. Rows are in different stages at the same time, and a new row takes the place of
one that is done, so that every round has about the same number of queries. The steps of a row depend only on its own
answers: a row has the same queries and the same result in any company.

The *candidates* are the sets that may be asked directly. They are numbered alike for all rows: first all pairs, then
all single features, then the set of all features. Only candidates of movable features count.

The stages of a place, and where each transition is made:

    FREE --enter--> ASKING the single features and everything
    ASKING singles --_after_singles-->  done       nothing flips, or a single feature flips and no reasons are wanted
                                        GROWING    the first zero
    GROWING        --_after_growth-->   GROWING    the second zero, if no single feature flips
                                        ASKING     the pairs that the first two zeros do not cover
                                        given up   there are no such pairs, or too many
                                        (then as `_cover_or_finish`)
    ASKING pairs   --_after_pairs-->    given up   no pair flips
                                        (then as `_cover_or_finish`)
    _cover_or_finish                    GROWING    a zero for a candidate that none covers
                                        done       every candidate that does not flip is covered
    done, given up                      FREE       the outcome waits in `done` until `leave`

Invariants, at every place that is not FREE, between two rounds:

- An ASKING place has a pending candidate. A GROWING place has a chain that has not ended.
- `uncovered` is `to_cover` without the candidates that lie in a zero of the row.
- Everything is decided by the signs of margins. Their sizes only order features and choose which prefixes are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from flipset.search.growing import ORDERED_UP_TO
from flipset.search.reasons import LABEL
from flipset.search.table.chains import Chains
from flipset.search.table.log import Log, Outcome, as_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

MOST_FEATURES = ORDERED_UP_TO
"""The most features of a row: the rule for reasons orders as many, and a set of them fits into one machine word."""

MOST_PAIRS = 128
"""The most pairs that a row asks; a row with more uncovered pairs is given up."""

HURRY_FROM = 8
"""The round from which a row asks more prefixes at a time. Few rows take so long, but the last row ends the table."""

FREE, ASKING, GROWING = range(3)
"""The stages of a place: it has no row, it asks candidates, or it grows a zero."""


@dataclass(frozen=True, slots=True, eq=False)
class SetQueries:
    """Queries about several rows: the place of each, and the features it flips."""

    places: Ints
    flips: Bools


class TableSearch:
    """The search about the rows at a number of places; each row asks at most `batch` queries in a round.

    To use it: `enter` rows at `free` places; then ask the model the `queries` and pass the answers to `learn`, again
    and again; `leave` returns the rows that are done. Without `reasons`, zeros are grown only where they help to find
    flip sets.
    """

    def __init__(self, places: int, d: int, *, batch: int, reasons: bool = True) -> None:
        self.d = d
        self.batch = batch
        self.reasons = reasons

        # The candidates. Pair number j is (left[j], right[j]); `members` has the features of every candidate as flags.
        self.left, self.right = np.triu_indices(d, 1)
        self.pairs = len(self.left)
        self.members = np.zeros((self.pairs + d + 1, d), dtype=bool)
        self.members[np.arange(self.pairs), self.left] = self.members[np.arange(self.pairs), self.right] = True
        self.members[self.pairs : -1] = np.eye(d, dtype=bool)
        self.members[-1] = True
        self._incidence = self.members[:-1].T.astype(np.float32)  # features by candidates; floats multiply faster
        self._words = as_words(self.members)

        # The state of each place. Entries of a FREE place have no meaning.
        candidates = len(self.members)
        self.stage = np.full(places, FREE)
        self.movable = np.zeros((places, d), dtype=bool)  # the features that can change
        self.usable = np.zeros((places, d), dtype=bool)  # movable features that do not flip alone: zeros hold no others
        self.base = np.zeros(places)  # the margin of the row itself
        self.gains = np.zeros((places, d))  # how far each feature alone raises the margin; forecasts add them up
        self.rank = np.zeros((places, d))  # the order in which zeros take features; see `flipset.search.reasons`
        self.pending = np.zeros((places, candidates), dtype=bool)  # candidates that an ASKING place has still to ask
        self.margins = np.full((places, candidates), -np.inf)  # margins of candidates; -inf if they were not asked
        self.to_cover = np.zeros((places, candidates - 1), dtype=bool)  # candidates that the proof has to cover
        self.uncovered = np.zeros_like(self.to_cover)  # those of `to_cover` that lie in no zero yet
        self.needs_pairs = np.zeros(places, dtype=bool)  # no single feature flips
        self.asked_pairs = np.zeros(places, dtype=bool)  # the uncovered pairs were asked
        self.chains = Chains(places, d, batch, self._flipping_pairs)  # the chain of each GROWING place
        # The zeros of each row: as a bitmask of features, and as a bitmask of the candidates that lie in it.
        self.zeros: list[list[tuple[int, int]]] = [[] for _ in range(places)]
        self.log = Log(places)
        self.done: list[tuple[int, Outcome]] = []

        # The round that waits for answers: first the queries of ASKING places, with their candidates, then those of
        # chains. `_wanted` has one margin for each of them, NaN for those that are `_new`, which the model is asked.
        self._asking = self._candidates = np.zeros(0, dtype=np.intp)
        self._wanted = np.zeros(0)
        self._new = np.zeros(0, dtype=bool)

    # --- rows enter and leave -------------------------------------------------------------------------------------

    def free(self) -> Ints:
        """Return the places that have no row."""
        return np.flatnonzero(self.stage == FREE)

    def enter(self, places: Ints, movable: Bools, base: Floats) -> None:
        """Put rows at free places; `movable` says which features of each can move, `base` is its own margin."""
        assert (self.stage[places] == FREE).all(), "a row may enter only where there is none"
        self.movable[places] = movable
        self.base[places] = base
        self.margins[places] = -np.inf
        self.pending[places] = False
        self.pending[places, self.pairs : -1] = movable
        self.pending[places, -1] = movable.sum(axis=1) != 1  # if one feature is movable, everything is that feature
        self.needs_pairs[places] = self.asked_pairs[places] = False
        self.stage[places] = ASKING
        self.log.clear(places)
        for place in places.tolist():
            self.zeros[place] = []

    def leave(self) -> list[tuple[int, Outcome]]:
        """Return the rows that are done, each with its place, and forget them."""
        done, self.done = self.done, []
        return done

    def give_up(self, places: Ints) -> None:
        """End the search about these rows without a result; their answers are kept in the outcome."""
        # A row may have ended already, while the next queries were looked for: its outcome is waiting to be taken.
        for place in places[self.stage[places] != FREE].tolist():
            self._end(place, None, ())

    def drop(self, places: Collection[int]) -> None:
        """Forget the rows at these places; they have no outcome."""
        self.stage[list(places)] = FREE
        self.done = [(place, outcome) for place, outcome in self.done if place not in places]

    # --- one round ------------------------------------------------------------------------------------------------

    def queries(self) -> SetQueries:
        """Return the next queries of all rows, without those that were asked before; none when all rows are done."""
        while True:
            places, flips = self._next_queries()
            self._wanted = self.log.recall(places, as_words(flips))
            self._new = np.isnan(self._wanted)
            assert len(places) or (self.stage == FREE).all(), "a row that is not done has something to ask"
            if self._new.any() or not len(places):
                return SetQueries(places[self._new], flips[self._new])
            # All answers are in the log. Go on with them: the rows may want something new then.
            self._advance(self._wanted)

    def _next_queries(self) -> tuple[Ints, Bools]:
        """Return the next queries of each row, whether or not they were asked before."""
        asking = np.flatnonzero(self.stage == ASKING)
        pending = self.pending[asking]
        if pending.shape[1] > self.batch:
            pending &= np.cumsum(pending, axis=1) <= self.batch  # the first `batch` pending candidates of each row
        at, self._candidates = np.nonzero(pending)
        self._asking = asking[at]
        flips = self.members[self._candidates] & self.movable[self._asking]
        growing = np.flatnonzero(self.stage == GROWING)
        growing, probes = self.chains.probes(growing, self.log.rounds[growing] >= HURRY_FROM)
        return np.concatenate([self._asking, growing]), np.concatenate([flips, probes])

    def learn(self, queries: SetQueries, scores: Floats, margins: Floats) -> None:
        """Take the answers to `queries`; rows that are done afterwards wait for `leave`."""
        assert len(margins) == np.count_nonzero(self._new), "the answers are to the queries of this round"
        self.log.add(queries.places, as_words(queries.flips), scores, margins)
        self._wanted[self._new] = margins
        self._advance(self._wanted)

    def _advance(self, margins: Floats) -> None:
        """Move all rows on with the margins of this round's queries, new and recalled."""
        count = len(self._asking)
        if count:
            self.margins[self._asking, self._candidates] = margins[:count]
            self.pending[self._asking, self._candidates] = False
            places = np.unique(self._asking)
            places = places[~self.pending[places].any(axis=1)]  # more pending candidates are asked in the next round
            paired = self.needs_pairs[places]
            self._after_pairs(places[paired])
            self._after_singles(places[~paired])
        self.chains.learn(margins[count:])
        # A new chain may end at once, when what is known leaves nothing to ask.
        while (ended := self._ended_chains()).size:
            self._after_growth(ended)

    def _ended_chains(self) -> Ints:
        """Return the places whose chains have ended."""
        growing = np.flatnonzero(self.stage == GROWING)
        return growing[self.chains.ended(growing)]

    # --- transitions ----------------------------------------------------------------------------------------------

    def _after_singles(self, places: Ints) -> None:
        """Single features and everything together are asked: note what they say, and grow the first zero."""
        if not places.size:
            return
        singles = self.margins[places, self.pairs : -1]
        movable = self.movable[places]
        alone = movable & (singles >= 0)
        self.gains[places] = np.where(movable, np.maximum(singles - self.base[places, None], 0.0), 0.0)
        self.rank[places] = self._rank_features(np.where(movable, singles, np.inf), self.margins[places, -1])
        self.usable[places] = movable & ~alone
        self.needs_pairs[places] = ~alone.any(axis=1)
        self.to_cover[places, self.pairs :] = movable & ~alone
        # Which pairs flip is not known yet; `_after_pairs` takes them out.
        self.to_cover[places, : self.pairs] = (
            movable[:, self.left] & movable[:, self.right] & self.needs_pairs[places, None]
        )
        self.uncovered[places] = self.to_cover[places]
        # With a single movable feature, everything was not asked: it is that feature.
        nothing = np.where(movable.sum(axis=1) == 1, ~alone.any(axis=1), self.margins[places, -1] < 0)
        for place in places[nothing].tolist():
            self._end(place, (), (int(as_words(self.movable[place])),))
        finished = ~nothing & ~self.needs_pairs[places] & (not self.reasons)
        for place in places[finished].tolist():
            self._end(place, self._ones(place), ())
        rest = places[~nothing & ~finished]
        self._start(rest, np.zeros((len(rest), self.d), dtype=bool), self.rank[rest])

    def _rank_features(self, singles: Floats, together: Floats) -> Floats:
        """Return the position of each feature by its margin alone; by its column if the model gives labels."""
        order = np.argsort(singles, axis=1, kind="stable")
        rank = np.empty(singles.shape)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(self.d, dtype=np.float64), order.shape), axis=1)
        return np.where((together == LABEL)[:, None], np.arange(self.d, dtype=np.float64), rank)

    def _after_pairs(self, places: Ints) -> None:
        """All uncovered pairs are asked: those that flip are the result; give up rows without any."""
        if not places.size:
            return
        self.asked_pairs[places] = True
        flipping = self.margins[places, : self.pairs] >= 0
        self.to_cover[places, : self.pairs] &= ~flipping
        self.uncovered[places, : self.pairs] &= ~flipping
        some = flipping.any(axis=1)
        self.give_up(places[~some])
        self._cover_or_finish(places[some])

    def _after_growth(self, places: Ints) -> None:
        """Zeros are grown: note which candidates they cover, and go on."""
        zero = self.chains.zero[places]
        # A candidate lies in the zero if the zero lacks none of its features.
        covered = ((~zero).astype(np.float32) @ self._incidence) == 0
        self.uncovered[places] &= ~covered
        packed = np.packbits(covered, axis=1, bitorder="little")
        for place, word, bits in zip(places.tolist(), as_words(zero).tolist(), packed, strict=True):
            self.zeros[place].append((word, int.from_bytes(bits.tobytes(), "little")))
        before_pairs = self.needs_pairs[places] & ~self.asked_pairs[places]
        count = np.array([len(self.zeros[place]) for place in places.tolist()])
        if before_pairs.any():
            self._grow_second(places[before_pairs & (count == 1)])
            self._ask_pairs(places[before_pairs & (count == 2)])
        self._cover_or_finish(places[~before_pairs])

    def _grow_second(self, places: Ints) -> None:
        """Grow a second zero that takes first what the first one leaves out, so that few pairs stay uncovered."""
        key = self._in_front(places, ~self.chains.zero[places])
        self._start(places, np.zeros((len(places), self.d), dtype=bool), key)

    def _ask_pairs(self, places: Ints) -> None:
        """Ask the uncovered pairs; give up rows that have none, because then no pair flips, or too many."""
        uncovered = self.uncovered[places, : self.pairs]
        count = uncovered.sum(axis=1)
        worth = (count > 0) & (count <= MOST_PAIRS)
        self.give_up(places[~worth])
        self.pending[places[worth], : self.pairs] = uncovered[worth]
        self.stage[places[worth]] = ASKING

    def _cover_or_finish(self, places: Ints) -> None:
        """Grow a zero from an uncovered candidate; finish the rows that have none, or need no reasons.

        Single features come before pairs. Among either, the candidate whose features come last in the order is the
        first: this is the rule of `flipset.search.reasons`.
        """
        if not places.size:
            return
        uncovered = self.uncovered[places]
        some = uncovered.any(axis=1) & self.reasons
        for place in places[~some].tolist():
            self._end(place, self._ones(place), self._needed_zeros(place) if self.reasons else ())
        places, uncovered = places[some], uncovered[some]
        if not places.size:
            return
        singles = uncovered[:, self.pairs :]
        uncovered[:, : self.pairs] &= ~singles.any(axis=1, keepdims=True)
        start = self.members[np.where(uncovered, self._lateness(places), -1.0).argmax(axis=1)]
        # The zero takes the features of other uncovered candidates first, so as to cover as many as possible.
        members = (uncovered.astype(np.float32) @ self._incidence.T) > 0
        self._start(places, start, self._in_front(places, members))

    def _lateness(self, places: Ints) -> Floats:
        """Return a number for each candidate that is greatest for the one whose features come last in the order.

        Numbers compare candidates of the same size: by the later feature, then by the other one.
        """
        rank = self.rank[places]
        one, other = rank[:, self.left], rank[:, self.right]
        return np.concatenate([np.maximum(one, other) * self.d + np.minimum(one, other), rank], axis=1)

    def _in_front(self, places: Ints, some: Bools) -> Floats:
        """Return the order of features with some of them moved to the front."""
        return np.where(some, self.rank[places], self.rank[places] + self.d)

    def _start(self, places: Ints, start: Bools, key: Floats) -> None:
        """Start chains at the zeros `start`, through the usable features in the order of `key`."""
        if not places.size:
            return
        gains = self.gains[places]
        margin = self.base[places] + (gains * start).sum(axis=1)  # a forecast: the sum of the gains
        # From nothing, a chain's first step is a single feature, and those are asked.
        singles = self.margins[places, self.pairs : -1]
        with_one = np.where(start.any(axis=1, keepdims=True), np.nan, singles)
        self.chains.start(places, start, self.usable[places] & ~start, key, gains, margin, with_one)
        self.stage[places] = GROWING

    def _flipping_pairs(self, places: Ints) -> Bools:
        """Say which pairs are known to flip."""
        return self.margins[places, : self.pairs] >= 0

    # --- results --------------------------------------------------------------------------------------------------

    def _ones(self, place: int) -> tuple[int, ...]:
        """Return the candidates that flip. Pairs are asked only if no single feature flips, so all have one size."""
        flipping = self.margins[place, :-1] >= 0
        return tuple(self._words[:-1][flipping].tolist())

    def _needed_zeros(self, place: int) -> tuple[int, ...]:
        """Return the zeros of a row, without those that cover nothing that the others leave uncovered."""
        bits = np.packbits(self.to_cover[place], bitorder="little")
        to_cover = int.from_bytes(bits.tobytes(), "little")
        kept = list(dict.fromkeys(self.zeros[place]))
        for zero in list(kept):
            others = 0
            for word, covered in kept:
                if word != zero[0]:
                    others |= covered
            if len(kept) > 1 and not zero[1] & to_cover & ~others:
                kept.remove(zero)
        return tuple(word for word, _ in kept)

    def _end(self, place: int, ones: tuple[int, ...] | None, zeros: tuple[int, ...]) -> None:
        self.stage[place] = FREE
        self.done.append((place, Outcome(ones, zeros, *self.log.of(place))))
