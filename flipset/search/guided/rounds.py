"""Asking about the candidates in the pool: one round of planned queries, or a zero grown along a chain.

Every query flips the block along, with one exception. A candidate that flips with the block must be asked without it
too. If it does not flip then, the block hides features that matter (`HiddenFeatures`), and the search starts again with
more features in play. All answers are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint, features_of
from flipset.search.guided.chain import grow_along
from flipset.search.guided.plan import PlannedQuery, best_query, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.guided.candidates import Candidates
    from flipset.search.guided.facts import Facts
    from flipset.search.guided.pool import Pool

ASK_ALL_FROM = 16
"""The batch size from which all candidates are asked at once, without planning, if they fit into one batch."""

FIRST_ROUND, ROUND_GROWTH = 4, 0.7
"""With batches, a round has at least this many queries, and at most this share of all queries so far."""

UNPLANNED_FROM, UNPLANNED = 256, 512
"""If at least so many candidates are open and planning does not pay, this many are asked without a plan. A function in
which every candidate needs a query of its own, such as "at least 5 of 30 features", then costs little more than these
queries."""

FRUGAL_WORTH, FAST_WORTH = 1.25, 2.5
"""Planning pays if a planned query settles this many candidates. The first number is for queries one by one, which cost
more than computation; the second for batches, where time counts. Planning takes as long as some tens of queries of a
fast model, and a query of a slow one takes longer than planning, so this number is a compromise."""

UNPLANNED_PATIENCE = 0.99
"""How much of the record is kept after such a round."""

UNPROMISING, WITHOUT_GUESS = 0.6, 3
"""With one query a round: if no guess is expected to settle this many candidates, so many more are asked before the
next guess is looked for. It would hardly be worth more by then."""

STEPS_PER_ANSWER = 50
"""Elementary steps that it takes to learn from one answer."""


class HiddenFeatures(Exception):
    """The outer set `zero` flips with the block and not without it: the block hides features that matter."""

    def __init__(self, zero: Flips) -> None:
        super().__init__()
        self.zero = zero


class Rounds:
    """Asks about the candidates in the pool and learns from the answers."""

    def __init__(self, facts: Facts, candidates: Candidates) -> None:
        self.search = facts.search
        self.record = facts.search.record
        self.focus = facts.focus
        self.facts = facts
        self.candidates = candidates
        # The weight of a set that flips without the block. The answer weighs no more than that, so a candidate of this
        # weight is settled by asking it without the block. None if there is no such set yet.
        self.answer_weight: int | None = None
        self.next_plan_in = 0  # after so many candidates a guess is looked for again

    def ask_round(self) -> Search[None]:
        """Ask one round of queries about the open candidates."""
        pool = self.candidates.pool
        before = pool.open.bit_count()
        if before >= UNPLANNED_FROM and self.candidates.are_of_one_size:
            pool.unplanned = not self._planning_pays()
        if pool.unplanned:
            yield from self._ask_unplanned()
            return
        asked = len(self.search.answers)
        if self.search.batch == 1:
            yield from self._ask_next(pool)
        else:
            yield from self._ask_one_plan(pool)
        self.record.answered(before - pool.open.bit_count(), len(self.search.answers) - asked)

    def ask_candidate(self) -> Search[None]:
        """Ask the open candidate that is most likely to flip."""
        pool = self.candidates.pool
        yield from self._ask_one(pool, PlannedQuery(pool.heaviest(self.facts.beliefs.mean), None))

    def _ask_next(self, pool: Pool) -> Search[None]:
        """Ask the query that is expected to settle most."""
        facts = self.facts
        if self.next_plan_in:
            self.next_plan_in -= 1
            planned = PlannedQuery(pool.heaviest(facts.beliefs.mean), None)
        else:
            planned = best_query(pool, facts.known, facts.beliefs, self.record)
            if planned.worth < UNPROMISING and not facts.beliefs.chosen:
                self.next_plan_in = WITHOUT_GUESS
        margin = yield from self._ask_one(pool, planned)
        # With labels, a candidate that did not flip may be worth growing to a large zero.
        if planned.chance is None and margin < 0 and facts.beliefs.labels:
            open_candidates = pool.open.bit_count()
            if self.record.growing_pays(open_candidates) and planned.query not in self.candidates.failed:
                yield from self._grow(planned.query, open_candidates)

    def _ask_one(self, pool: Pool, planned: PlannedQuery) -> Search[float]:
        """Ask one planned query by itself, and learn from the answer."""
        if self.focus.block:
            (margin,) = yield from self._ask_planned([planned])
        else:
            (margin,) = yield from self.search.ask([self.focus.outer(planned.query)])
        self._learn(planned, margin)
        pool.renumber()
        return margin

    def _planning_pays(self) -> bool:
        return self.record.planning_pays(FRUGAL_WORTH if self.search.batch < ASK_ALL_FROM else FAST_WORTH)

    def _ask_unplanned(self) -> Search[None]:
        """Ask some candidates as they come, and then look whether planning pays again."""
        planned = [PlannedQuery(candidate, None) for candidate in self.candidates.pool.take(UNPLANNED)]
        # All candidates are of one size: an answer settles no other candidate of this size. If this is the last size to
        # be settled, the zeros need not be known: nothing will be looked up in them.
        learn = self.facts.enough is None
        margins = yield from self._ask_planned(planned, learn=learn)
        for query, margin in zip(planned, margins, strict=True):
            if margin >= 0 or (learn and query.query not in self.candidates.failed):
                self.facts.note(query.query, margin >= 0)
            self.search.guesses += margin < 0
        self.candidates.pool.renumber()
        # A little of the record is forgotten, so that after some rounds a plan is tried again.
        self.record.planned *= UNPLANNED_PATIENCE
        yield from checkpoint()

    def _ask_one_plan(self, pool: Pool) -> Search[None]:
        """Ask one round of planned queries, and learn from the answers."""
        planned = yield from self._plan()
        margins = yield from self._ask_planned(planned)
        steps = Steps()
        for query, margin in zip(planned, margins, strict=True):
            self._learn(query, margin)
            if steps.due(STEPS_PER_ANSWER + pool.work(pool.everything)):
                yield from checkpoint()
        pool.renumber()

    def _plan(self) -> Search[list[PlannedQuery]]:
        """Choose the queries of the next round."""
        batch, pool, facts = self.search.batch, self.candidates.pool, self.facts
        if batch >= ASK_ALL_FROM and pool.complete and pool.open.bit_count() <= batch:
            return [PlannedQuery(candidate, None) for candidate in pool.open_sets()]
        # Early plans rest on few answers, so early rounds are small.
        asked = len(self.search.answers)
        most = min(batch, max(FIRST_ROUND, int(ROUND_GROWTH * asked)))
        return (yield from plan(pool, facts.known, facts.beliefs, self.record, most))

    def _ask_planned(self, planned: Sequence[PlannedQuery], *, learn: bool = True) -> Search[list[float]]:
        """Ask these sets with the block, and candidates that flip with it also without it."""
        block = self.focus.block
        outer = [self.focus.outer(query.query) for query in planned]
        if not block:
            return (yield from self.search.ask(outer, learn=learn))
        alone = self._asked_without_block(planned)
        margins = yield from self.search.ask(
            [query if by_itself else query | block for query, by_itself in zip(outer, alone, strict=True)], learn=learn
        )
        doubtful = [i for i, query in enumerate(planned) if query.chance is None and not alone[i] and margins[i] >= 0]
        if doubtful:
            again = yield from self.search.ask([outer[i] for i in doubtful])
            for i, margin in zip(doubtful, again, strict=True):
                if margin < 0:
                    self.search.guesses += 2
                    raise HiddenFeatures(outer[i])
                self.answer_weight = self.facts.weights.of(planned[i].query) if self.search.lightest_only else None
        for i, query in enumerate(planned):
            if alone[i] and margins[i] < 0:
                self.candidates.failed.append(query.query)
        return margins

    def _asked_without_block(self, planned: Sequence[PlannedQuery]) -> list[bool]:
        """Say which of these sets are asked without the block: candidates of the weight of the answer.

        A candidate that fails without the block is settled. But one that fails with the block can be grown to a zero,
        which is worth more if hardly any candidate flips.
        """
        grow = self.record.candidates_keep_failing() and self.record.growing_pays(self.candidates.pool.open.bit_count())
        weigh = self.facts.weights.of
        return [query.chance is None and not grow and weigh(query.query) == self.answer_weight for query in planned]

    def _learn(self, planned: PlannedQuery, margin: float) -> None:
        """Learn from the answer to a planned query."""
        query, flips = planned.query, margin >= 0
        if planned.chance is None:
            self.record.tried(not flips)
        else:
            self.record.guessed(planned.chance, not flips)
        if query in self.candidates.failed and not flips:
            # It was asked without the block, so this says nothing about sets with features of the block.
            self.candidates.pool.drop_above(query)
        else:
            self.facts.learn(query, margin)
            self.candidates.drop(query, flips)
        self.search.guesses += not flips or planned.chance is not None

    def certify(self) -> Search[bool]:
        """Try to show that some reason is larger than known so far, because the bound then allows more guesses.

        This asks one query: take the zero with the most critical features; is the feature with the greatest expected
        weight critical too? If so, the query costs no credit. Returns False if there is nothing to ask.
        """
        known = self.facts.known
        zero = most = critical = 0
        steps = Steps()
        for other in known.zeros:
            # A critical feature is one that the zero lacks, so a zero that lacks too few cannot have the most.
            if self.facts.width - other.bit_count() >= most:
                features = known.critical(other)
                if (features.bit_count(), other) > (most, zero):
                    zero, most, critical = other, features.bit_count(), features
                if steps.due(len(known.ones)):
                    yield from checkpoint()
        rest = features_of(self.facts.whole & ~zero & ~(critical or known.critical(zero)))
        if not rest:
            return False
        heaviest = max(rest, key=self.facts.beliefs.mean.__getitem__)
        (is_critical,) = yield from self._flips_all([zero | 1 << heaviest])
        self.search.guesses -= is_critical
        return True

    def _grow(self, zero: Flips, candidates: int) -> Search[None]:
        """Grow a zero until no feature can be added: its complement is then a minimal reason."""
        asked = len(self.search.answers)
        pool, mean, counts = self.candidates.pool, self.facts.beliefs.mean, self.candidates.pool.counts()
        rest = features_of(self.facts.whole & ~zero)
        # First the features with little weight that are in many candidates.
        rest.sort(key=lambda i: max(mean[i], 0.02) / (counts[i] + 0.5))
        expected = self.record.reason_size()
        _, size = yield from grow_along(
            zero, rest, lambda left_out, undecided: max(0.7, expected - left_out) / undecided, self._flips_all
        )
        pool.renumber()
        share = 1.0 - pool.open.bit_count() / candidates if candidates else 0.0
        self.record.grew(size, len(self.search.answers) - asked, share)

    def _flips_all(self, queries: Sequence[Flips]) -> Search[list[bool]]:
        """Say which of these sets flip together with the block, asking only what does not follow from known answers."""
        settled = [self.facts.known.settle(query) for query in queries]
        unknown = [query for query, flips in zip(queries, settled, strict=True) if flips is None]
        margins = yield from self.search.ask([self.focus.outer(query) | self.focus.block for query in unknown])
        for query, margin in zip(unknown, margins, strict=True):
            self.facts.learn(query, margin)
            self.candidates.drop(query, margin >= 0)
            self.search.guesses += 1
        answered = dict(zip(unknown, margins, strict=True))
        return [answered[query] >= 0 if flips is None else flips for query, flips in zip(queries, settled, strict=True)]
