"""The smallest flip sets of many rows at once, in arrays: zeros for all rows, then every open candidate in one call.

A fast local model answers thousands of rows in milliseconds, and planning each query becomes the bottleneck. So this
search plans little, and does nothing row by row. All rows take the same steps side by side:

1. Everything together and every single feature. Where nothing flips, or a single feature does, the size is known.
2. For sizes 2, 3, ...: a few zeros are grown for each row. The *candidates*, all sets of this size that lie in no zero
   of the row, are then asked together. A row in which some flip is done: they are all its smallest flip sets. The
   others go on with the next size, and keep their zeros.

The zeros of step 2 are of two kinds. The first ones are those that are reported as reasons: the rule of
`flipset.search.reasons` chooses them, and they are maximal (`flipset.search.table.chains`). Further ones are grown only
while many candidates are open. They take features of open candidates first, and need not be maximal.

A row is left to the guided search, which plans every query, where a size has too many candidates.

Invariants:

- A set of features that is not larger than the flip sets of a row that is done, and is not one of them, lies in one of
  its zeros: that is the proof.
- Everything is decided by the signs of margins. Their sizes only order features and choose which sets are asked.
- What is asked about a row, and what is found, depends on this row alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from flipset.protocol import ask
from flipset.search.growing import ORDERED_UP_TO
from flipset.search.reasons import LABEL
from flipset.search.table.candidates import candidates_of, lie_in
from flipset.search.table.chains import Chains
from flipset.search.table.memory import Memory, as_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from flipset.protocol import Flow
    from flipset.search.table.candidates import Candidates

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]

MOST_FEATURES = ORDERED_UP_TO
"""The most features of a row: the rule for reasons orders as many, and a set of them fits into one machine word."""

ENOUGH = 24
"""With so few open candidates, asking them takes less time than growing another zero."""

MOST_ZEROS = 24
"""The most zeros of a size that are grown for a row to leave fewer candidates open."""

WORTH = 24
"""The least candidates that the last zero of a row must have closed for another to be grown."""

MOST_OPEN = 30_000
"""The most candidates of a row that are asked; a row with more is left to the guided search."""

CELLS = 8_000_000
"""The most flags, one for each row and candidate, that are held at a time."""

ENOUGH_ALONE = 200
MOST_ZEROS_ALONE = 3
MOST_OPEN_ALONE = 1_000
"""The same three where a call counts more than the queries in it: each zero takes some calls, and they are not shared
with other rows."""

MOST_STEPS = 3
"""The most queries that are made about a row to find a long prefix. The last steps would gain little."""

NEED = 0.9
"""How much the number of open candidates that have a feature counts, beside its gain, when a zero is grown."""

SLACK = 0.2
"""The share of a row's margin that should be left at the end of a zero: gains often add up to more than forecast."""

OPEN, NONE = -1, 0
"""Sizes of a row that is not done, and of one in which nothing flips."""


@dataclass(frozen=True, slots=True, eq=False)
class SetQueries:
    """Queries about several rows: the number of each row, and the features that are flipped in it."""

    rows: Ints
    flips: Bools

    def __len__(self) -> int:
        return len(self.rows)


class SetLists:
    """A list of sets for each of several rows, which grows for many rows at a time."""

    def __init__(self) -> None:
        self._rows: list[Ints] = []
        self._words: list[Words] = []

    def add(self, rows: Ints, words: Words) -> None:
        """Append a set to the list of each of these rows; a row may come several times."""
        self._rows.append(rows)
        self._words.append(words)

    def joined(self, rows: int) -> tuple[Ints, Words]:
        """Return where the list of each row starts, and all lists one after the other."""
        if not self._rows:
            return np.zeros(rows + 1, dtype=np.intp), np.zeros(0, dtype=np.uint64)
        of_row = np.concatenate(self._rows)
        order = np.argsort(of_row, kind="stable")
        start = np.searchsorted(of_row[order], np.arange(rows + 1))
        return start, np.concatenate(self._words)[order]


class TableSearch:
    """The search about some rows. `run` asks; the attributes have what was found, also when a budget has ended it.

    Parameters
    ----------
    movable
        Which features can move in each row; at least one.
    base
        The margin of each row as it is.
    reasons
        The most zeros of a row that are grown by the rule for reasons.
    most
        The most features of a flip set.
    alone
        Whether a call counts more than some hundred queries in it, as for a single row.

    Attributes
    ----------
    size
        How many features the smallest flip sets of each row have; `NONE` where nothing flips, `OPEN` where that is not
        known.
    ones
        The smallest flip sets of the rows that are done.
    reasons, zeros
        The zeros that are reported as reasons, in the order of the rule, and further zeros of the proof.
    failed
        The rows for which an answer was NaN. Nothing more is asked about them.
    """

    def __init__(
        self, movable: Bools, base: Floats, *, reasons: int, most: int | None = None, alone: bool = False
    ) -> None:
        rows, self.d = movable.shape
        self.movable, self.base = movable, base
        self.wanted, self.alone = reasons, alone
        self.most = self.d if most is None else most
        self.size = np.full(rows, OPEN)
        self.gone_through = np.zeros(rows, dtype=np.intp)  # none of the sets up to this size flips
        self.failed = np.zeros(rows, dtype=bool)
        self.ones, self.reasons = SetLists(), SetLists()

        self._memory = Memory()
        self._words = as_words(movable)
        self._singles = np.full((rows, self.d), -np.inf)  # the margin of each feature alone
        self._gains = np.zeros((rows, self.d))  # how far each feature alone raises the margin; forecasts add them up
        self._rank = np.zeros((rows, self.d))  # the order in which the zeros of reasons take features
        self._usable = np.zeros((rows, self.d), dtype=bool)  # movable features that do not flip alone
        self._held = np.zeros((rows, self.d))  # in how many zeros of reasons each feature is
        self._has_all_reasons = np.zeros(rows, dtype=bool)  # the rule has no further reason
        # Zeros that were grown, each for some rows: those of reasons, and others.
        self._reasons_grown: list[tuple[Ints, Words]] = []
        self._others_grown: list[tuple[Ints, Words]] = []
        self._unflipping: list[tuple[int, Ints, Words]] = []  # the candidates of each size that do not flip
        self._chains = Chains(rows, self.d)

    def run(self) -> Flow[SetQueries, None]:
        """Search all rows."""
        rows = yield from self._ask_singles()
        yield from self._grow_reason(self._going_on(rows), 1)
        alone = self._usable[rows] != self.movable[rows]
        self._end_with_singles(rows[alone.any(axis=1)])
        rows = rows[~alone.any(axis=1)]
        for size in range(2, self.most + 1):
            rows = self._going_on(rows)
            candidates = candidates_of(self.d, size)
            if not rows.size or candidates is None:
                return
            if size <= self.wanted:
                yield from self._grow_reason(rows, size - 1)
            rows = yield from self._ask_size(self._going_on(rows), size, candidates)

    def _going_on(self, rows: Ints) -> Ints:
        return rows[~self.failed[rows]]

    def _ask(self, rows: Ints, flips: Bools) -> Flow[SetQueries, Floats]:
        """Return the margins of sets; those that were asked before are remembered."""
        words = as_words(flips)
        margins = self._memory.recall(rows, words)
        new = np.flatnonzero(np.isnan(margins))
        if new.size:
            margins[new] = yield from self._ask_new(rows[new], flips[new])
            self._memory.add(rows[new], words[new], margins[new])
        return margins

    def _ask_new(self, rows: Ints, flips: Bools) -> Flow[SetQueries, Floats]:
        queries: Any = SetQueries(rows, flips)
        answers: Floats = np.asarray((yield from ask(queries)))
        no_answer = np.isnan(answers)
        if not no_answer.any():
            return answers
        self.failed[rows[no_answer]] = True
        return np.where(no_answer, -1.0, answers)  # numbers, because these rows are dropped only later

    # --- single features ------------------------------------------------------------------------------------------

    def _ask_singles(self) -> Flow[SetQueries, Ints]:
        """Ask everything together and each feature alone; return the rows in which something flips."""
        rows = np.arange(len(self.base))
        several = self.movable.sum(axis=1) > 1
        together = np.full(len(rows), -np.inf)
        if not self.alone:
            # Most queries of a row in which nothing flips are saved by asking this first.
            together = yield from self._ask(rows, self.movable)
            rows = self._end_with_nothing(rows, together)
        at, feature = np.nonzero(self.movable[rows])
        flips = np.zeros((len(at), self.d), dtype=bool)
        flips[np.arange(len(at)), feature] = True
        which = rows[at]
        if self.alone:  # where one feature is movable, everything is that feature
            which, flips = np.concatenate([which, rows[several]]), np.concatenate([flips, self.movable[several]])
        margins = yield from self._ask(which, flips)
        self._singles[rows[at], feature] = margins[: len(at)]
        if self.alone:
            together[several] = margins[len(at) :]
            together[~several] = self._singles[~several].max(axis=1)
            rows = self._end_with_nothing(rows, together)
        singles, movable = self._singles[rows], self.movable[rows]
        self._usable[rows] = movable & (singles < 0)
        self._gains[rows] = np.where(movable, np.maximum(singles - self.base[rows, None], 0.0), 0.0)
        self._rank[rows] = self._rank_features(np.where(movable, singles, np.inf), together[rows])
        return rows

    def _end_with_nothing(self, rows: Ints, together: Floats) -> Ints:
        """Note the rows in which nothing flips; return the others."""
        rows = self._going_on(rows)
        nothing = together[rows] < 0
        self.size[rows[nothing]] = NONE
        if self.wanted:
            self.reasons.add(rows[nothing], self._words[rows[nothing]])
        else:
            self._others_grown.append((rows[nothing], self._words[rows[nothing]]))
        return rows[~nothing]

    def _rank_features(self, singles: Floats, together: Floats) -> Floats:
        """Return the position of each feature by its margin alone; by its column if the model gives labels."""
        order = np.argsort(singles, axis=1, kind="stable")
        columns = np.arange(self.d, dtype=np.float64)
        rank = np.empty(singles.shape)
        np.put_along_axis(rank, order, np.broadcast_to(columns, order.shape), axis=1)
        return np.where((together == LABEL)[:, None], columns, rank)

    def _end_with_singles(self, rows: Ints) -> None:
        """Note the rows in which single features flip: these are the flip sets. The others lie in zeros."""
        at, feature = np.nonzero(self.movable[rows] & ~self._usable[rows])
        self.ones.add(rows[at], _bits(feature))
        self.size[self._going_on(rows)] = 1

    # --- zeros ----------------------------------------------------------------------------------------------------

    def _grow_reason(self, rows: Ints, least: int) -> Flow[SetQueries, None]:
        """Grow the next zero of the rule for reasons, in the rows where the rule has one.

        No `least` of the features that do not flip alone flip together.
        """
        if not self.wanted:
            return
        rows = rows[~self._has_all_reasons[rows]]
        # Features in few of the zeros so far come first; of those, the features that matter least.
        key = self._held[rows] * self.d + self._rank[rows]
        zero = yield from self._grow(rows, key, least)
        words = as_words(zero)
        again = np.zeros(len(rows), dtype=bool)
        for earlier in _in_lines(self._reasons_grown, rows, len(self.base)):
            again |= earlier == words
        self._has_all_reasons[rows[again]] = True
        rows, zero, words = rows[~again], zero[~again], words[~again]
        self._held[rows] += zero
        self.reasons.add(rows, words)
        self._reasons_grown.append((rows, words))

    def _grow(self, rows: Ints, key: Floats, least: int) -> Flow[SetQueries, Bools]:
        """Grow maximal zeros from nothing, adding features in the order of `key`; return them as flags."""
        chains = self._chains
        chains.start(rows, self._usable[rows], key, self._gains[rows], self.base[rows], least)
        growing = rows
        while (growing := self._going_on(growing[~chains.ended(growing)])).size:
            places, probes = chains.probes(growing, thorough=self.alone)
            chains.learn((yield from self._ask(places, probes)))
        return chains.zero[rows]

    # --- candidates -----------------------------------------------------------------------------------------------

    def _ask_size(self, rows: Ints, size: int, candidates: Candidates) -> Flow[SetQueries, Ints]:
        """Look for flip sets of a size; return the rows that have none."""
        left = [rows[:0]]  # there may be no row: the model may have failed on the last ones
        part = max(1, CELLS // len(candidates.words))
        for start in range(0, len(rows), part):
            left.append((yield from self._ask_part(rows[start : start + part], size, candidates)))
        return np.concatenate(left)

    def _ask_part(self, rows: Ints, size: int, candidates: Candidates) -> Flow[SetQueries, Ints]:
        open_ = (candidates.words[None, :] & ~self._words[rows][:, None]) == 0
        for zeros in _in_lines((*self._reasons_grown, *self._others_grown), rows, len(self.base)):
            open_ &= ~lie_in(candidates.words, zeros)
        enough = ENOUGH_ALONE if self.alone else ENOUGH
        many = np.arange(len(rows))
        for _ in range(MOST_ZEROS_ALONE if self.alone else MOST_ZEROS):
            count = np.count_nonzero(open_[many], axis=1)
            some = (count > enough) & ~self.failed[rows[many]]
            many, count = many[some], count[some]
            if not many.size:
                break
            yield from self._close(rows, many, open_, size, candidates)
            many = many[count - np.count_nonzero(open_[many], axis=1) >= WORTH]
        count = np.count_nonzero(open_, axis=1)
        given_up = count > (MOST_OPEN_ALONE if self.alone else MOST_OPEN)
        open_[given_up | self.failed[rows]] = False
        at, which = np.nonzero(open_)
        margins = yield from self._ask_candidates(rows[at], size, candidates, which)
        flips = margins >= 0
        done = np.zeros(len(rows), dtype=bool)
        done[at[flips]] = True
        self.ones.add(rows[at[flips]], candidates.words[which[flips]])
        self.size[self._going_on(rows[done])] = size
        self._unflipping.append((size, rows[at[~flips]], candidates.words[which[~flips]]))
        left: Ints = rows[~done & ~given_up]
        self.gone_through[left] = size
        return left

    def _ask_candidates(self, rows: Ints, size: int, candidates: Candidates, which: Ints) -> Flow[SetQueries, Floats]:
        """Return the margins of candidates. They need not be remembered: zeros that are grown later are larger."""
        margins = self._memory.of_size(size).recall(rows, candidates.words[which])
        new = np.flatnonzero(np.isnan(margins))
        if new.size:
            margins[new] = yield from self._ask_new(rows[new], candidates.members[which[new]])
        return margins

    def _close(self, rows: Ints, many: Ints, open_: Bools, size: int, candidates: Candidates) -> Flow[SetQueries, None]:
        """Grow a zero for some of the rows, by their places, and note the candidates that lie in it."""
        some = rows[many]
        gains = self._gains[some]
        key = gains / np.maximum(gains.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        # Features of many open candidates come first, so that the zero closes many.
        counts = open_[many].astype(np.float32) @ candidates.weights
        key = key - NEED * counts / np.maximum(counts.max(axis=1, keepdims=True), 1.0)
        zero = yield from self._grow_prefix(some, key, size)
        words = as_words(zero)
        open_[many] &= ~lie_in(candidates.words, words)
        large = zero.sum(axis=1) >= size  # the others close nothing
        self._others_grown.append((some[large], words[large]))

    def _grow_prefix(self, rows: Ints, key: Floats, size: int) -> Flow[SetQueries, Bools]:
        """Return a long prefix of the features in this order that does not flip, for each row; no smaller set flips.

        The first guess adds up gains. From there the search doubles its steps, and then halves the range.
        """
        usable = self._usable[rows]
        order = np.argsort(np.where(usable, key, np.inf), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(self.d), order.shape), axis=1)
        base = self.base[rows]
        expected = base[:, None] + np.cumsum(np.take_along_axis(self._gains[rows], order, axis=1), axis=1)
        # Prefix `low` does not flip, and prefix `high` does or has all features.
        high = usable.sum(axis=1)
        low = np.minimum(size - 1, high)
        step = np.zeros(len(rows), dtype=np.intp)  # the last step, up or down; 0 before the first
        probe = np.count_nonzero(expected < SLACK * base[:, None], axis=1)
        for _ in range(MOST_STEPS):
            open_ = np.flatnonzero((high - low > 1) & ~self.failed[rows])
            if not open_.size:
                break
            middle = (low[open_] + high[open_]) // 2
            last = step[open_]
            near = np.where(last > 0, low[open_] + last, high[open_] + last)
            near = np.where(last > 0, np.minimum(near, middle), np.maximum(near, middle))
            probe[open_] = np.clip(np.where(last == 0, probe[open_], near), low[open_] + 1, high[open_] - 1)
            flips = (rank[open_] < probe[open_, None]) & usable[open_]
            up = (yield from self._ask(rows[open_], flips)) < 0
            low[open_[up]], high[open_[~up]] = probe[open_[up]], probe[open_[~up]]
            wider = np.maximum(1, 2 * abs(last))
            step[open_] = np.where(up, wider, -wider)
        prefix: Bools = (rank < low[:, None]) & usable
        return prefix

    # --- proofs ---------------------------------------------------------------------------------------------------

    def further_zeros(self) -> SetLists:
        """Return what the proof of each row that is done needs beside the zeros of its reasons."""
        zeros = SetLists()
        union = np.zeros(len(self.base), dtype=np.uint64)
        for rows, words in (*self._reasons_grown, *self._others_grown):
            np.bitwise_or.at(union, rows, words)
        for rows, words in self._others_grown:
            zeros.add(rows, words)
        smaller = []
        for size, rows, words in self._unflipping:
            is_last = self.size[rows] == size
            zeros.add(rows[is_last], words[is_last])
            np.bitwise_or.at(union, rows[is_last], words[is_last])
            is_smaller = self.size[rows] > size
            smaller.append((rows[is_smaller], words[is_smaller]))
        # A single feature lies in a zero if it is in their union.
        rows = np.flatnonzero(self.size > 0)
        at, feature = np.nonzero(self._usable[rows])
        singles = _bits(feature)
        uncovered = singles & ~union[rows[at]] != 0
        zeros.add(rows[at[uncovered]], singles[uncovered])
        # The empty set lies in every zero. Where all single features flip, there may be no other.
        rows = np.flatnonzero((self.size > 0) & (union == 0))
        zeros.add(rows, np.zeros(len(rows), dtype=np.uint64))
        self._add_uncovered(zeros, smaller)
        return zeros

    def _add_uncovered(self, zeros: SetLists, smaller: Sequence[tuple[Ints, Words]]) -> None:
        """Add sets that were asked on the way to a larger size, unless they lie in other zeros, as nearly all do."""
        sets = SetLists()
        for rows, words in smaller:
            sets.add(rows, words)
        start, words = sets.joined(len(self.base))
        of_zeros, all_zeros = zeros.joined(len(self.base))
        of_reasons, reasons = self.reasons.joined(len(self.base))
        for row in np.flatnonzero(np.diff(start)).tolist():
            some = words[start[row] : start[row + 1]]
            covering = all_zeros[of_zeros[row] : of_zeros[row + 1]], reasons[of_reasons[row] : of_reasons[row + 1]]
            covered = lie_in(some, np.concatenate(covering)).any(axis=0)
            zeros.add(np.full(np.count_nonzero(~covered), row), some[~covered])


def _bits(features: Ints) -> Words:
    """Return each feature as a bitmask."""
    return np.uint64(1) << features.astype(np.uint64)


def _in_lines(grown: Sequence[tuple[Ints, Words]], rows: Ints, count: int) -> Iterator[Words]:
    """Yield zeros as lines, one for each time that zeros were grown: the zero of every row, 0 where it has none."""
    for of_rows, words in grown:
        everywhere = np.zeros(count, dtype=np.uint64)
        everywhere[of_rows] = words
        yield everywhere[rows]
