"""The search with a given set of features in play, one weight after another.

`Facts` holds what is known, `Candidates` the open sets of one weight, and `Rounds` asks about them. `Level` decides
which weight to work on, and when the answer is complete. It ends with the answer, or with a reason to start again with
other features in play: `HiddenFeatures`, or a fall back to the plain loop.

Invariant: no set that weighs less than `search.lower` flips, and some set of weight `facts.upper` flips together with
the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import by_size
from flipset.search.guided.candidates import Candidates
from flipset.search.guided.facts import Facts, WholeSearch
from flipset.search.guided.rounds import HiddenFeatures, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips, Search
    from flipset.search.guided.leeway import Leeway

OPTIMISM_ONE, OPTIMISM_MORE = 3.0, 2.0
"""Standard deviations added to the expected weights when the size of the answer is guessed: for size 1, and beyond."""


class Level:
    """The search with the features in play that the whole search has now."""

    def __init__(self, search: WholeSearch) -> None:
        self.search = search
        self.facts = Facts(search)
        self.candidates = Candidates(self.facts)
        self.rounds = Rounds(self.facts, self.candidates)
        # The bound is about queries asked one by one, without weights. With batches, the user has chosen to ask more.
        self.is_bounded = self.facts.counts_sizes and search.batch == 1

    def settle(self) -> Search[tuple[Flips, ...] | None]:
        """Find the lightest flip sets, as outer sets; None to start again with other features in play."""
        facts, search = self.facts, self.search
        yield from facts.recall()
        lighter: int | None = None  # a size below the limit that has open candidates
        at_most = facts.weights.of(facts.whole) if search.at_most is None else search.at_most
        while search.lower <= at_most:
            if self._has_enough():
                # Only the size is left to prove. Zeros that cover all sets one smaller cover still smaller ones, too.
                if search.lower >= facts.upper:
                    return (yield from self._confirmed(facts.upper))
                limit = facts.upper - 1
            else:
                limit = min((yield from self._guess_limit()), at_most) if lighter is None else lighter
            pool = self.candidates.pool
            if pool.limit != limit:
                pool = yield from self.candidates.of_weight(limit)
            if pool.open:
                if not (yield from self._ask(limit)):
                    return None
            elif not pool.complete:
                yield from self.candidates.refill(limit)
            elif facts.upper > limit:
                search.raise_lower(limit + 1)
                lighter = None
            else:
                # Some set of this weight or less flips. The answer is complete if no lighter candidate is open.
                lighter = yield from self._lighter_open()
                if lighter is None:
                    return (yield from self._confirmed(facts.upper))
        return ()

    def _ask(self, limit: int) -> Search[bool]:
        """Ask about the candidates in the pool; return False if the plain loop had to take over."""
        left = (yield from self._leeway_used_up()) if self.is_bounded and self.search.review_due() else None
        if left is None:
            yield from self.rounds.ask_round()
        elif left.sizes:
            yield from self.candidates.of_weight(self.search.lower)
            yield from self.rounds.ask_candidate()
        elif not (yield from self.rounds.certify()):
            yield from self.search.fall_back(limit)
            return False
        return True

    def _has_enough(self) -> bool:
        """Say whether more sets of the least weight seen so far flip than are wanted."""
        facts, most, answers = self.facts, self.search.most, self.search.answers
        if most is None or len(facts.known.ones) <= most:
            return False
        if facts.enough != facts.upper:
            # A set that flips with the block may not flip without it. So only sets that were asked as they are count.
            outer = (facts.focus.outer(one) for one in facts.known.ones if facts.weights.of(one) == facts.upper)
            facts.enough = facts.upper if sum(answers.get(one, -1.0) >= 0 for one in outer) > most else None
        return facts.enough == facts.upper

    def settle_all(self, report: Callable[[Flips], None], is_enough: Callable[[], bool] | None = None) -> Search[None]:
        """Pass all minimal flip sets to `report`, as outer sets, lightest first, until they are enough."""
        yield from self.facts.recall()
        limit = 0
        whole = self.facts.weights.of(self.facts.whole)
        at_most = whole if self.search.at_most is None else self.search.at_most
        while True:
            pool = yield from self.candidates.of_weight(limit)
            if pool.open:
                yield from self.rounds.ask_round()
            elif not pool.complete:
                yield from self.candidates.refill(limit)
            else:
                following = yield from self.candidates.lightest_open()
                if following is not None and self.search.at_most is not None and following > self.search.at_most:
                    following = None  # what is left is too heavy
                settled = at_most if following is None else following - 1
                for one in (yield from self._confirmed(settled, all_lighter=True)):
                    report(one)
                if following is None or (is_enough is not None and is_enough()):
                    return
                limit = following

    def _leeway_used_up(self) -> Search[Leeway | None]:
        """Return None if the bound allows another guess. If it does not, return the way to go on."""
        candidates = self.candidates
        return (
            yield from self.search.out_of_credit(candidates.least_open_size, self.facts.upper, candidates.count_open)
        )

    def _lighter_open(self) -> Search[int | None]:
        """Return the least size below that of the lightest one that has open candidates; None if there is none.

        With weights there is nothing to look for: the candidates of a weight include all lighter ones.
        """
        if self.facts.counts_sizes:
            for k in range(self.search.lower, self.facts.upper):
                if (yield from self.candidates.of_weight(k)).open:
                    return k
        return None

    def _guess_limit(self) -> Search[int]:
        """Return the weight to work on: the least at which a flip set is plausible.

        A set that covers heavy candidates covers light ones too, so it pays to start at the weight of the answer. But
        work above that weight is wasted, so the guess is optimistic.
        """
        facts = self.facts
        if facts.counts_sizes:
            return self._guess_size()
        lightest = yield from self.candidates.lightest_open()
        if lightest is None:
            return facts.upper
        each = facts.weights.each or (1,)
        return min(facts.upper, lightest + sum(each) // (2 * len(each)))

    def _guess_size(self) -> int:
        """Do the same where weights are sizes."""
        facts = self.facts
        lower = max(self.search.lower, 1)
        if facts.upper <= lower or facts.beliefs.labels or not facts.beliefs.mean:
            return min(lower, facts.upper)
        return self._plausible_size(lower)

    def _plausible_size(self, lower: int) -> int:
        """Return the least size from `lower` on at which an optimistic forecast of the heaviest features flips."""
        mean, deviations = self.facts.beliefs.mean, self.facts.beliefs.deviations()  # the last entry is the bias
        if lower == 1:
            lacking = -(mean[-1] + OPTIMISM_ONE * deviations[-1])
            for m, s in zip(mean, deviations[:-1], strict=False):
                if m + OPTIMISM_ONE * s >= lacking:
                    return 1
        hopes = [m + OPTIMISM_MORE * s for m, s in zip(mean, deviations, strict=False)]
        total = hopes.pop()
        hopes.sort(reverse=True)
        for k in range(1, self.facts.upper):
            total += hopes[k - 1]
            if total >= 0 and k >= lower and k > 1:
                return k
        return self.facts.upper

    def _confirmed(self, weight: int, *, all_lighter: bool = False) -> Search[tuple[Flips, ...]]:
        """Return the ones up to this weight that flip without the block, lightest first.

        Raises `HiddenFeatures` if none of them does. With `all_lighter`, raises it if any of them does not.
        """
        facts, weigh = self.facts, self.search.weights.of
        ones = [one for one in facts.known.ones if facts.weights.of(one) <= weight]
        outer = sorted(map(facts.focus.outer, ones), key=by_size)
        if not facts.focus.block:
            return tuple(sorted(outer, key=weigh))
        margins = yield from self.search.ask(outer)
        flipping = tuple(query for query, margin in zip(outer, margins, strict=True) if margin >= 0)
        self.search.guesses += len(outer) - len(flipping)
        if len(flipping) < len(outer) and (all_lighter or not flipping):
            raise HiddenFeatures(next(query for query, margin in zip(outer, margins, strict=True) if margin < 0))
        return tuple(sorted(flipping, key=weigh))
