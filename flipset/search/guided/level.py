"""The work on the features in play, one weight after another.

Everything here is in the numbers of the features in play, and speaks of sets that are flipped together with the block
of all others: a zero then holds for every set, whatever it has of the block. A candidate that flips with the block must
be asked without it too. If it does not flip then, the block matters (`Hidden`), and the search starts again with more
features in play, forgetting nothing.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Protocol

from flipset.protocol import Steps, by_size, checkpoint, everything, features_of
from flipset.search.guided.beliefs import Beliefs, Record
from flipset.search.guided.chain import grow_along
from flipset.search.guided.plan import Question, plan
from flipset.search.guided.pool import Pool, listed, sets_of_size
from flipset.sets.hitting import hitting_sets, listing
from flipset.sets.known import Known
from flipset.sets.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.guided.focus import Focus

FLOOD_FROM = 16
"""Questions a round from which all candidates are asked at once where they fit into it, without planning."""

POOL_MOST = 60_000
"""Sets of one size up to which all are held as bitsets; beyond it candidates are listed ..."""

LISTED_MOST = 4_096
"""... this many at a time."""

FIRST_ROUND, ROUND_GROWTH = 4, 0.7
"""A round of several questions starts with so many, and may have this share of all asked so far."""

TAKING = 50
"""Elementary steps that it takes to draw the conclusions from one answer."""

RELEARN = 128
"""With more features in play beliefs are formed anew, from this many of the latest answers."""

HOPE_ONE, HOPE_MORE = 3.0, 2.0
"""Optimism, in standard deviations, about size 1 and larger sizes when guessing the size of the answer."""


class Hidden(Exception):
    """The set `zero`, in terms of all features, flips with the block and not without it."""

    def __init__(self, zero: Flips) -> None:
        super().__init__()
        self.zero = zero


class Asker(Protocol):
    """What a level needs of the whole search: its answers, its record, its credit, and a way to ask."""

    batch: int
    weights: Weights
    focus: Focus
    answers: dict[Flips, float]
    known: Known
    record: Record
    guesses: int
    frugal: bool
    lower: int
    at_most: int | None

    def ask(self, batch: Sequence[Flips]) -> Search[list[float]]:
        """Ask sets of all features."""

    def raise_lower(self, weight: int) -> None:
        """Take note that no set of less weight flips."""

    def out_of_credit(self, settled: Callable[[], Search[int]]) -> Search[bool]:
        """Say whether guesses must stop."""

    def fall_back(self, k: int) -> Search[None]:
        """Settle size k without guessing."""


class Level:
    """Facts, beliefs and candidates for the features in play."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.focus = asker.focus
        self.record = asker.record
        self.width = len(self.focus.features)
        self.weights = _in_play(asker.weights, self.focus)
        # With every feature in play the facts are those of the whole search, and need not be noted twice.
        self.known = asker.known if self.focus.in_order else Known()
        self.beliefs = Beliefs(self.width, chosen=not self.focus.in_order)
        self.upper = self.weights.of(everything(self.width))  # some set of this weight flips
        self.pool = Pool(self.width, (0,) * self.width, 0, -1)
        self.last: int | None = None  # the weight of a set that flips without the block: no heavier one is wanted
        self.failed: list[Flips] = []  # sets of that weight that do not flip, asked without the block

    def _recall(self) -> Search[None]:
        """Learn from the answers of the whole search, with this level's features in play."""
        asker = self.asker
        if self.known is not asker.known:
            steps = Steps()
            for zero in asker.known.zeros:
                # An answer about part of the block says something of the whole only if it is "flips".
                if not self.focus.block & ~zero:
                    self.known.learn(self.focus.inner(zero), False)
                if steps.due(self.width):
                    yield from checkpoint()
            for one in asker.known.ones:
                self.known.learn(self.focus.inner(one), True)
                if steps.due(self.width):
                    yield from checkpoint()
        for one in self.known.ones:
            self.upper = min(self.upper, self.weights.of(one))
        for query in list(asker.answers)[-RELEARN:]:
            if asker.answers[query] >= 0 or not self.focus.block & ~query:
                self.beliefs.learn(self.focus.inner(query), asker.answers[query])

    def _learn(self, query: Flips, margin: float) -> None:
        if self.known is not self.asker.known:
            self.known.learn(query, margin >= 0)
        self.beliefs.learn(query, margin)
        if margin >= 0:
            self.upper = min(self.upper, self.weights.of(query))

    # --- from weight to weight --------------------------------------------------------------------------------------

    def settle(self) -> Search[tuple[Flips, ...] | None]:
        """Find the lightest flip sets, in terms of all features; None to start again with other features in play."""
        yield from self._recall()
        forced: int | None = None
        at_most = self.weights.of(everything(self.width)) if self.asker.at_most is None else self.asker.at_most
        while self.asker.lower <= at_most:
            limit = min((yield from self._guess_limit()), at_most) if forced is None else forced
            pool = yield from self._candidates(limit)
            if pool.open:
                # The bound is about questions asked one by one; whoever asks many together has chosen to ask more.
                on_credit = self._counts_sizes and self.asker.batch == 1
                if on_credit and (yield from self.asker.out_of_credit(self._least_open_size)):
                    if (yield from self._certify()):
                        continue
                    yield from self.asker.fall_back(limit)
                    return None
                yield from self._round()
            elif not pool.complete:
                self.pool = yield from self._list(limit)
            elif self.upper > limit:
                self.asker.raise_lower(limit + 1)
                forced = None
            else:
                # Some set of this weight or less flips, and nothing heavier is wanted; is anything lighter open?
                # Lists for a weight hold all that is lighter, too; sets of one size do not.
                sizes = range(self.asker.lower, self.upper) if self._counts_sizes else ()
                forced = None
                for k in sizes:
                    if (yield from self._candidates(k)).open:
                        forced = k
                        break
                if forced is None:
                    return (yield from self._confirmed(self.upper))
        return ()

    def settle_all(self, found: Callable[[Flips], None]) -> Search[None]:
        """Hand all minimal flip sets to `found`, in terms of all features, lightest first."""
        yield from self._recall()
        limit = 0
        whole = self.weights.of(everything(self.width))
        while True:
            if (yield from self._candidates(limit)).open:
                yield from self._round()
            elif not self.pool.complete:
                self.pool = yield from self._list(limit)
            else:
                following = yield from self._lightest_open()
                settled = whole if following is None else following - 1
                for one in (yield from self._confirmed(settled, all_lighter=True)):
                    found(one)
                if following is None:
                    return
                limit = following

    @property
    def _counts_sizes(self) -> bool:
        return self.weights.each is None

    def _guess_limit(self) -> Search[int]:
        """Return the weight to work on: the least at which a flip set is plausible.

        Sets that cover heavier candidates cover lighter ones too, so it pays to start where the answer will be; but
        optimistically, since planning above it is what costs.
        """
        if not self._counts_sizes:
            lightest = yield from self._lightest_open()
            if lightest is None:
                return self.upper
            each = self.weights.each or (1,)
            return min(self.upper, lightest + sum(each) // (2 * len(each)))
        lower = max(self.asker.lower, 1)
        if self.beliefs.labels or not self.beliefs.mean:
            return min(lower, self.upper)
        mean, deviations = self.beliefs.mean, self.beliefs.deviations()
        if lower == 1:
            lacking = -(mean[-1] + HOPE_ONE * deviations[-1])
            for m, s in zip(mean, deviations[:-1], strict=False):
                if m + HOPE_ONE * s >= lacking:
                    return 1
        hopes = [m + HOPE_MORE * s for m, s in zip(mean, deviations, strict=False)]
        total = hopes.pop()
        hopes.sort(reverse=True)
        for k in range(1, self.upper):
            total += hopes[k - 1]
            if total >= 0 and k >= lower and k > 1:
                return k
        return self.upper

    # --- candidates -------------------------------------------------------------------------------------------------

    def _candidates(self, limit: int) -> Search[Pool]:
        """Return the candidates for this weight, made anew when another weight was in hand."""
        if self.pool.limit != limit:
            self.pool = yield from self._list(limit)
        return self.pool

    def _list(self, limit: int) -> Search[Pool]:
        if self._counts_sizes and self._can_hold(limit):
            pool = sets_of_size(self.width, limit)
            yield from pool.settle(self.known)
        else:
            some = yield from listing(self._open_sets(limit), LISTED_MOST)
            # Supersets of what is listed may be open once that is settled: only an empty list is complete.
            pool = listed(self.width, some, limit, complete=not some)
        for one in self.failed:
            pool.drop_above(one)
        return pool

    def _can_hold(self, k: int) -> bool:
        """Say whether all sets of this size can be held at once."""
        return comb(self.width, k) <= POOL_MOST

    def _open_sets(self, limit: int) -> Iterator[Flips | None]:
        reasons = [everything(self.width) & ~zero for zero in self.known.zeros]
        return hitting_sets(reasons, [*self.known.ones, *self.failed], self.weights.each, limit)

    def _least_open_size(self) -> Search[int]:
        """Return the least size that is not settled yet."""
        while self.asker.lower < self.upper and self._can_hold(self.asker.lower):
            pool = sets_of_size(self.width, self.asker.lower)
            yield from pool.settle(self.known)
            if pool.open:
                break
            self.asker.raise_lower(self.asker.lower + 1)
        return self.asker.lower

    def _lightest_open(self) -> Search[int | None]:
        """Return the weight of the lightest candidate of all, or None when there is none."""
        limit = self.weights.of(everything(self.width))
        lightest: int | None = None
        while candidates := (yield from listing(self._open_sets(limit), 1)):
            lightest = self.weights.of(candidates[0])
            limit = lightest - 1
        return lightest

    # --- asking -----------------------------------------------------------------------------------------------------

    def _round(self) -> Search[None]:
        """Ask one round of questions about the candidates in hand."""
        asked = len(self.asker.answers)
        room = 1 if self.asker.batch == 1 else min(self.asker.batch, max(FIRST_ROUND, int(ROUND_GROWTH * asked)))
        if self.asker.batch >= FLOOD_FROM and self.pool.complete and self.pool.open.bit_count() <= self.asker.batch:
            questions = [Question(candidate, None) for candidate in self.pool.listed()]
        else:
            questions = yield from plan(self.pool, self.known, self.beliefs, self.record, room)
        margins = yield from self._put(questions)
        steps = Steps()
        for question, margin in zip(questions, margins, strict=True):
            self._take(question, margin)
            if steps.due(TAKING + self.pool.work(self.pool.everything)):
                yield from checkpoint()
        self.pool.renumber()
        last = questions[-1]
        if self.asker.batch == 1 and last.chance is None and margins[-1] < 0 and last.query not in self.failed:
            open_candidates = self.pool.open.bit_count()
            if self.beliefs.labels and self.record.growing_pays(open_candidates):
                yield from self._grow(last.query, open_candidates)

    def _put(self, questions: Sequence[Question]) -> Search[list[float]]:
        """Ask these sets: with the block, and candidates that flip without it too."""
        block = self.focus.block
        outer = [self.focus.outer(question.query) for question in questions]
        if not block:
            return (yield from self.asker.ask(outer))
        # Once the weight of the answer is known, a candidate that fails without the block is done with. But one that
        # fails with it can be grown, which is worth more where hardly any candidate flips.
        grow = self.record.candidates_keep_failing() and self.record.growing_pays(self.pool.open.bit_count())
        alone = [
            question.chance is None and not grow and self.weights.of(question.query) == self.last
            for question in questions
        ]
        margins = yield from self.asker.ask(
            [query if by_itself else query | block for query, by_itself in zip(outer, alone, strict=True)]
        )
        doubtful = [
            i for i, question in enumerate(questions) if question.chance is None and not alone[i] and margins[i] >= 0
        ]
        if doubtful:
            again = yield from self.asker.ask([outer[i] for i in doubtful])
            for i, margin in zip(doubtful, again, strict=True):
                if margin < 0:
                    self.asker.guesses += 2
                    raise Hidden(outer[i])
                self.last = self.weights.of(questions[i].query) if self.asker.frugal else None
        for i, question in enumerate(questions):
            if alone[i] and margins[i] < 0:
                self.failed.append(question.query)
        return margins

    def _take(self, question: Question, margin: float) -> None:
        """Draw the conclusions from one answer."""
        query, flips = question.query, margin >= 0
        if question.chance is None:
            self.record.tried(not flips)
        else:
            self.record.guessed(question.chance, not flips)
        if question.query in self.failed and not flips:
            self.pool.drop_above(query)  # nothing is said about sets with something of the block
        else:
            self._learn(query, margin)
            (self.pool.drop_above if flips else self.pool.drop_inside)(query)
        self.asker.guesses += not flips or question.chance is not None

    def _certify(self) -> Search[bool]:
        """Show that some certificate is larger than known so far, for which the bound allows more guesses.

        One question: does the feature believed heaviest tip the balance of the zero that has most such features? The
        bound pays for each that does. False when there is nothing to try.
        """
        zero = most = critical = 0
        steps = Steps()
        for other in self.known.zeros:
            # Only features that it lacks tip a zero.
            if self.width - other.bit_count() >= most:
                tipping = self.known.critical(other)
                if (tipping.bit_count(), other) > (most, zero):
                    zero, most, critical = other, tipping.bit_count(), tipping
                if steps.due(len(self.known.ones)):
                    yield from checkpoint()
        rest = features_of(everything(self.width) & ~zero & ~(critical or self.known.critical(zero)))
        if not rest:
            return False
        heaviest = max(rest, key=self.beliefs.mean.__getitem__)
        (tips,) = yield from self._flips_all([zero | 1 << heaviest])
        self.asker.guesses -= tips
        return True

    def _grow(self, zero: Flips, candidates: int) -> Search[None]:
        """Grow a zero until no feature can be added: its complement is then a minimal certificate."""
        asked = len(self.asker.answers)
        mean, counts = self.beliefs.mean, self.pool.counts()
        rest = features_of(everything(self.width) & ~zero)
        rest.sort(key=lambda i: max(mean[i], 0.02) / (counts[i] + 0.5))
        expected = self.record.certificate_size()
        _, size = yield from grow_along(
            zero, rest, lambda tips, left: max(0.7, expected - tips) / left, self._flips_all
        )
        self.pool.renumber()
        share = 1.0 - self.pool.open.bit_count() / candidates if candidates else 0.0
        self.record.grew(size, len(self.asker.answers) - asked, share)

    def _flips_all(self, queries: Sequence[Flips]) -> Search[list[bool]]:
        """Say which of these sets flip together with the block, asking only what does not follow."""
        told = [self.known.settle(query) for query in queries]
        unknown = [query for query, flips in zip(queries, told, strict=True) if flips is None]
        margins = yield from self.asker.ask([self.focus.outer(query) | self.focus.block for query in unknown])
        for query, margin in zip(unknown, margins, strict=True):
            self._learn(query, margin)
            (self.pool.drop_above if margin >= 0 else self.pool.drop_inside)(query)
            self.asker.guesses += 1
        answered = dict(zip(unknown, margins, strict=True))
        return [answered[query] >= 0 if flips is None else flips for query, flips in zip(queries, told, strict=True)]

    def _confirmed(self, weight: int, *, all_lighter: bool = False) -> Search[tuple[Flips, ...]]:
        """Return the sets of this weight that flip without the block; raise `Hidden` where there should be one."""
        ones = [one for one in self.known.ones if self.weights.of(one) <= weight]
        outer = sorted(map(self.focus.outer, ones), key=by_size)
        if not self.focus.block:
            return tuple(sorted(outer, key=self.asker.weights.of))
        margins = yield from self.asker.ask(outer)
        flipping = tuple(query for query, margin in zip(outer, margins, strict=True) if margin >= 0)
        self.asker.guesses += len(outer) - len(flipping)
        if len(flipping) < len(outer) and (all_lighter or not flipping):
            raise Hidden(next(query for query, margin in zip(outer, margins, strict=True) if margin < 0))
        return tuple(sorted(flipping, key=self.asker.weights.of))


def _in_play(weights: Weights, focus: Focus) -> Weights:
    if weights.each is None:
        return weights
    return Weights(tuple(weights.each[feature] for feature in focus.features))
