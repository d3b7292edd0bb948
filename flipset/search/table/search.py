"""The smallest flip sets of many rows at once, in arrays: what a table of a quick model is searched with.

A model that answers thousands of rows in milliseconds is no longer what takes the time; the search is. So nothing here
is done row by row. Every row asks its single features. Then it grows zeros; and where no single feature flips, it asks
the pairs that no zero covers. A growth is a search along a chain (`Chains`): features in order of what they gained
alone, least first, taken as far as nothing flips; the feature at which it would is left out, and the chain goes on
behind it. What is left out in the end is a minimal reason. It ends when every candidate that does not flip lies in some
zero: that is the proof.

Rows are in different stages at a time, and new ones take the places of those that are done, so that every round has
as many questions as the others. The steps of a row depend on its own answers alone: it has the same result among
others as by itself. One whose smallest flip sets are larger than pairs is handed on, with all that was learned of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from flipset.search.table.chains import Chains
from flipset.search.table.log import Log, as_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

MOST_FEATURES = 63
"""Features up to which a set fits into one machine word."""

LABEL = 1.0
"""The margin of everything together where the model gives labels."""

MOST_PAIRS = 128
"""Pairs of one row that are worth asking; a row with more left open is handed on."""

HURRY_FROM = 8
"""Rounds after which a row asks more at a time: few rows take so long, but those would take longest."""

FREE, ASKING, GROWING = range(3)
"""What a place does: nothing, ask a list of candidates, grow a zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Queries about several rows: the place of each, and the features it flips."""

    places: Ints
    flips: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What was found out about a row.

    Attributes
    ----------
    ones
        Its smallest flip sets as bitmasks; empty if nothing flips; None if they are larger than pairs, or not sought.
    zeros
        Maximal zeros that prove it; none where reasons were not wanted: then the answers are the proof.
    flips, scores, margins
        All questions, what the model said, and by how much that flips.
    rounds
        How many rounds had queries about it.
    """

    ones: tuple[int, ...] | None
    zeros: tuple[int, ...]
    flips: NDArray[np.uint64]
    scores: Floats
    margins: Floats
    rounds: int

    def contradiction(self) -> tuple[int, int] | None:
        """Return a set that flips and a larger one that does not, if there are such."""
        ones, zeros = self.flips[self.margins >= 0], self.flips[self.margins < 0]
        bad = (ones[:, None] & ~zeros[None, :]) == 0
        if not bad.any():
            return None
        one, zero = np.argwhere(bad)[0]
        return int(ones[one]), int(zeros[zero])


class TableSearch:
    """A number of places, each with a row that is being searched.

    Candidates are numbered: all pairs, then single features, then everything together.
    """

    def __init__(self, places: int, d: int, *, batch: int, reasons: bool = True) -> None:
        self.d = d
        self.batch = batch
        self.reasons = reasons
        self.left, self.right = np.triu_indices(d, 1)
        self.pairs = len(self.left)
        self.members = np.zeros((self.pairs + d + 1, d), dtype=bool)
        self.members[np.arange(self.pairs), self.left] = self.members[np.arange(self.pairs), self.right] = True
        self.members[self.pairs : -1] = np.eye(d, dtype=bool)
        self.members[-1] = True
        self._lacking = self.members[:-1].T.astype(np.float32)
        self._words = as_words(self.members)

        shape = (places, len(self.members))
        self.doing = np.full(places, FREE)
        self.movable = np.zeros((places, d), dtype=bool)
        self.usable = np.zeros((places, d), dtype=bool)  # neither fixed nor enough alone
        self.gains = np.zeros((places, d))  # margins of single features above that of the row: forecasts add them up
        self.rank = np.zeros((places, d))  # the order in which zeros take features; see `flipset.search.reasons`
        self.base = np.zeros(places)
        self.todo = np.zeros(shape, dtype=bool)
        self.told = np.full(shape, -np.inf)
        self.open = np.zeros((places, len(self.members) - 1), dtype=bool)  # candidates that no zero covers
        self.settled = np.zeros_like(self.open)  # candidates that have to be covered
        self.by_pairs = np.zeros(places, dtype=bool)  # single features do not flip
        self.asked_pairs = np.zeros(places, dtype=bool)
        self.chains = Chains(places, d, batch, self._known_pairs)
        self.zeros: list[list[tuple[int, int]]] = [[] for _ in range(places)]  # with the candidates each covers
        self.log = Log(places)
        self.done: list[tuple[int, Outcome]] = []

    # --- in and out -----------------------------------------------------------------------------------------------

    def free(self) -> Ints:
        """Return the places that have no row."""
        return np.flatnonzero(self.doing == FREE)

    def enter(self, places: Ints, movable: Bools, base: Floats) -> None:
        """Put rows at free places: which features of each can move, and its margin."""
        self.movable[places] = movable
        self.base[places] = base
        self.told[places] = -np.inf
        self.todo[places] = False
        self.todo[places, self.pairs : -1] = movable
        self.todo[places, -1] = movable.sum(axis=1) != 1  # a single feature is everything there is
        self.by_pairs[places] = self.asked_pairs[places] = False
        self.doing[places] = ASKING
        self.log.clear(places)
        for place in places.tolist():
            self.zeros[place] = []

    def leave(self) -> list[tuple[int, Outcome]]:
        """Take out the rows that are done."""
        done, self.done = self.done, []
        return done

    def give_up(self, places: Ints) -> None:
        """End the search of some rows with what is known."""
        for place in places.tolist():
            self._end(place, None, ())

    def drop(self, places: Collection[int]) -> None:
        """Forget the rows at some places."""
        self.doing[list(places)] = FREE
        self.done = [(place, outcome) for place, outcome in self.done if place not in places]

    # --- one round ------------------------------------------------------------------------------------------------

    def queries(self) -> Queries:
        """Return the next queries of all rows, without those that were asked before; none when all rows are done."""
        while True:
            places, flips = self._questions()
            self._told = self.log.recall(places, as_words(flips))
            self._new = np.isnan(self._told)
            assert len(places) or (self.doing == FREE).all(), "a row that is not done has something to ask"
            if self._new.any() or not len(places):
                return Queries(places[self._new], flips[self._new])
            self._take(self._told)

    def _questions(self) -> tuple[Ints, Bools]:
        """Return what each row wants to know next."""
        asking = np.flatnonzero(self.doing == ASKING)
        todo = self.todo[asking]
        if todo.shape[1] > self.batch:
            todo &= np.cumsum(todo, axis=1) <= self.batch
        at, self._candidates = np.nonzero(todo)
        self._asking = asking[at]
        flips = self.members[self._candidates] & self.movable[self._asking]
        growing = np.flatnonzero(self.doing == GROWING)
        growing, probes = self.chains.probes(growing, self.log.rounds[growing] >= HURRY_FROM)
        return np.concatenate([self._asking, growing]), np.concatenate([flips, probes])

    def learn(self, queries: Queries, scores: Floats, margins: Floats) -> None:
        """Take the answers to queries; rows that end by them can be taken out."""
        self.log.add(queries.places, as_words(queries.flips), scores, margins)
        self._told[self._new] = margins
        self._take(self._told)

    def _take(self, margins: Floats) -> None:
        """Go on with the answers to all that was wanted."""
        count = len(self._asking)
        if count:
            self.told[self._asking, self._candidates] = margins[:count]
            self.todo[self._asking, self._candidates] = False
            asked = np.unique(self._asking)
            asked = asked[~self.todo[asked].any(axis=1)]
            paired = self.by_pairs[asked]
            self._paired(asked[paired])
            self._weighed(asked[~paired])
        self.chains.learn(margins[count:])
        while (grown := self._ended()).size:
            self._grown(grown)

    def _ended(self) -> Ints:
        """Return the places whose growth has come to its end."""
        growing = np.flatnonzero(self.doing == GROWING)
        return growing[self.chains.ended(growing)]

    def _weighed(self, places: Ints) -> None:
        """Single features are asked, and everything together: find out what sort of row it is."""
        if not places.size:
            return
        singles = self.told[places, self.pairs : -1]
        movable = self.movable[places]
        alone = movable & (singles >= 0)
        self.gains[places] = np.where(movable, np.maximum(singles - self.base[places, None], 0.0), 0.0)
        self.rank[places] = self._ranked(np.where(movable, singles, np.inf), self.told[places, -1])
        self.usable[places] = movable & ~alone
        self.by_pairs[places] = ~alone.any(axis=1)
        self.settled[places, self.pairs :] = movable & ~alone
        self.settled[places, : self.pairs] = (
            movable[:, self.left] & movable[:, self.right] & self.by_pairs[places, None]
        )
        self.open[places] = self.settled[places]
        nothing = np.where(movable.sum(axis=1) == 1, ~alone.any(axis=1), self.told[places, -1] < 0)
        for place in places[nothing].tolist():
            self._end(place, (), (int(as_words(self.movable[place])),))
        found = ~nothing & ~self.by_pairs[places] & (not self.reasons)
        for place in places[found].tolist():
            self._end(place, self._ones(place), ())
        rest = places[~nothing & ~found]
        self._start(rest, np.zeros((len(rest), self.d), dtype=bool), self.rank[rest])

    def _ranked(self, singles: Floats, together: Floats) -> Floats:
        """Return the position of each feature by its margin alone; by its column where the model gives labels."""
        order = np.argsort(singles, axis=1, kind="stable")
        rank = np.empty(singles.shape)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(self.d, dtype=np.float64), order.shape), axis=1)
        return np.where((together == LABEL)[:, None], np.arange(self.d, dtype=np.float64), rank)

    def _paired(self, places: Ints) -> None:
        """All open pairs are asked."""
        if not places.size:
            return
        self.asked_pairs[places] = True
        flipping = self.told[places, : self.pairs] >= 0
        self.settled[places, : self.pairs] &= ~flipping
        self.open[places, : self.pairs] &= ~flipping
        some = flipping.any(axis=1)
        self.give_up(places[~some])
        self._go_on(places[some])

    def _grown(self, places: Ints) -> None:
        """Zeros are grown: note what they cover, and go on."""
        zero = self.chains.zero[places]
        covered = ((~zero).astype(np.float32) @ self._lacking) == 0
        self.open[places] &= ~covered
        packed = np.packbits(covered, axis=1, bitorder="little")
        for place, word, bits in zip(places.tolist(), as_words(zero).tolist(), packed, strict=True):
            self.zeros[place].append((word, int.from_bytes(bits.tobytes(), "little")))
        before_pairs = self.by_pairs[places] & ~self.asked_pairs[places]
        count = np.array([len(self.zeros[place]) for place in places.tolist()])
        if before_pairs.any():
            self._grow_another(places[before_pairs & (count == 1)])
            self._ask_pairs(places[before_pairs & (count == 2)])
        self._go_on(places[~before_pairs])

    def _grow_another(self, places: Ints) -> None:
        """Grow a second zero that begins with what the first leaves out: together they leave the fewest pairs."""
        key = self._first(places, ~self.chains.zero[places])
        self._start(places, np.zeros((len(places), self.d), dtype=bool), key)

    def _ask_pairs(self, places: Ints) -> None:
        """Ask the pairs that two zeros leave open, if they are not too many."""
        open_ = self.open[places, : self.pairs]
        count = open_.sum(axis=1)
        worth = (count > 0) & (count <= MOST_PAIRS)
        self.give_up(places[~worth])
        self.todo[places[worth], : self.pairs] = open_[worth]
        self.doing[places[worth]] = ASKING

    def _go_on(self, places: Ints) -> None:
        """Grow a zero from a candidate that none covers; end where there is none.

        Single features come before pairs, and among either the last in the order: the rule of `flipset.search.reasons`.
        """
        if not places.size:
            return
        left = self.open[places]
        some = left.any(axis=1) & self.reasons
        for place in places[~some].tolist():
            self._end(place, self._ones(place), self._needed(place) if self.reasons else ())
        places, left = places[some], left[some]
        if not places.size:
            return
        singles = left[:, self.pairs :]
        left[:, : self.pairs] &= ~singles.any(axis=1, keepdims=True)
        start = self.members[np.where(left, self._last(places), -1.0).argmax(axis=1)]
        members = (left.astype(np.float32) @ self._lacking.T) > 0
        self._start(places, start, self._first(places, members))

    def _last(self, places: Ints) -> Floats:
        """Return numbers that order candidates of one size by their last features."""
        rank = self.rank[places]
        one, other = rank[:, self.left], rank[:, self.right]
        return np.concatenate([np.maximum(one, other) * self.d + np.minimum(one, other), rank], axis=1)

    def _first(self, places: Ints, some: Bools) -> Floats:
        """Return the order with some features before all others."""
        return np.where(some, self.rank[places], self.rank[places] + self.d)

    def _start(self, places: Ints, start: Bools, key: Floats) -> None:
        """Begin to grow zeros."""
        if not places.size:
            return
        gains = self.gains[places]
        margin = self.base[places] + (gains * start).sum(axis=1)  # a forecast
        singles = self.told[places, self.pairs : -1]
        with_one = np.where(start.any(axis=1, keepdims=True), np.nan, singles)
        self.chains.start(places, start, self.usable[places] & ~start, key, gains, margin, with_one)
        self.doing[places] = GROWING

    def _known_pairs(self, places: Ints) -> Bools:
        """Say which pairs are known to flip."""
        return self.told[places, : self.pairs] >= 0

    # --- results --------------------------------------------------------------------------------------------------

    def _ones(self, place: int) -> tuple[int, ...]:
        flipping = self.told[place, :-1] >= 0
        return tuple(self._words[:-1][flipping].tolist())

    def _needed(self, place: int) -> tuple[int, ...]:
        """Return the zeros without those that cover nothing that others do not."""
        bits = np.packbits(self.settled[place], bitorder="little")
        settled = int.from_bytes(bits.tobytes(), "little")
        kept = list(dict.fromkeys(self.zeros[place]))
        for zero in list(kept):
            others = 0
            for word, covered in kept:
                if word != zero[0]:
                    others |= covered
            if len(kept) > 1 and not zero[1] & settled & ~others:
                kept.remove(zero)
        return tuple(word for word, _ in kept)

    def _end(self, place: int, ones: tuple[int, ...] | None, zeros: tuple[int, ...]) -> None:
        self.doing[place] = FREE
        self.done.append((place, Outcome(ones, zeros, *self.log.of(place))))
