"""The guided search: all smallest flip sets, with few queries, in few rounds, and within a proved bound.

The search keeps zeros (sets that do not flip) and ones (sets that flip). A set is a *candidate* while it lies in no
zero and contains no one. The search settles all candidates, size by size. At the first size at which some sets flip,
these sets are the answer, and the zeros are its proof.

- `plan` picks the queries that are expected to settle the most candidates, guided by `Beliefs`.
- `Focus` treats all features that were never seen to matter as one block.
- `singles.sweep` is a short cut for the case that a feature of the block flips alone.
- `Record` notices when forecasts fail. A zero is then grown along a chain instead, if that pays.
- `leeway` limits the cost of guesses. Where none is left, the open sets are asked one by one if they are few, or
  `plain.settle_size` settles the current size.

All conclusions follow from the signs of answers alone. Everything else only chooses what to ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Search, Steps, ask, checkpoint, everything, features_of
from flipset.search.guided.chain import find_first_flip
from flipset.search.guided.focus import Focus
from flipset.search.guided.leeway import Leeway, Spent, leeway
from flipset.search.guided.level import Level
from flipset.search.guided.plain import settle_size
from flipset.search.guided.record import Record
from flipset.search.guided.rounds import HiddenFeatures
from flipset.search.guided.singles import sweep
from flipset.sets.known import Known
from flipset.sets.weights import UNIT_WEIGHTS, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.protocol import Flips

NARROW = 40
"""The most features that are all in play from the start."""

SINGLES_FIRST_FROM = 8
"""The batch size from which all single features are asked before anything is planned."""


def guided_search(
    d: int,
    *,
    batch: int = 1,
    weights: Weights = UNIT_WEIGHTS,
    at_most: int | None = None,
    settled: Callable[[int], None] | None = None,
    answered: Mapping[Flips, float] | None = None,
    most: int | None = None,
) -> Search[tuple[Flips, ...]]:
    """Find all lightest flip sets of `d` features; with unit weights, all smallest. Empty if nothing flips.

    With `at_most`, heavier sets are ignored; the result is empty if all flip sets are heavier. `settled` is called with
    each weight below which no set flips, as soon as the answers show it. `answered` holds margins from an earlier
    search, and this one continues from there. With `most`, the search ends once it has seen more than this many of the
    lightest flip sets and no lighter set flips; it returns those that it has seen, in which there is no order.

    Queries: at most `batch` in a round. With unit weights and one query a round at most `bound.worst_case`, plus the
    guesses of one round; usually far fewer.
    """
    return GuidedSearch(d, batch, weights, at_most, settled, answered, most).find()


def minimal_in_order(
    d: int,
    report: Callable[[Flips], None],
    *,
    batch: int = 1,
    weights: Weights = UNIT_WEIGHTS,
    at_most: int | None = None,
    answered: Mapping[Flips, float] | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> Search[None]:
    """Find all minimal flip sets in order of weight, and pass each to `report` as soon as no lighter one is open.

    With `at_most`, heavier sets are ignored, and `answered` holds margins from an earlier search. `is_enough` is asked
    whenever all sets of a weight are reported, and ends the search by returning True.
    """
    return GuidedSearch(d, batch, weights, at_most, None, answered).find_all(report, is_enough)


class GuidedSearch:
    """One search over `d` features: all answers so far, and everything that helps to choose the next queries."""

    def __init__(
        self,
        d: int,
        batch: int,
        weights: Weights,
        at_most: int | None = None,
        settled: Callable[[int], None] | None = None,
        answered: Mapping[Flips, float] | None = None,
        most: int | None = None,
    ) -> None:
        self.d = d
        self.most = most
        self.batch = batch
        self.weights = weights
        self.at_most = at_most
        self.settled = settled
        self.answers: dict[Flips, float] = dict(answered or {})  # the margins of all queries, in the order asked
        self.earlier = len(self.answers)  # those of an earlier search
        self.known = Known()  # the same answers as zeros and ones
        for query, margin in self.answers.items():
            self.known.learn(query, margin >= 0)
        self.record = Record()
        self.focus = Focus.on_all(d) if d <= NARROW else Focus.on_none(d)
        self.reasons: list[Flips] = []  # minimal reasons: the first discovery's, and those of the plain loop
        self.discovered = 0  # features of the block that were found to matter
        self.guesses = 0  # queries charged to the credit
        self.next_review = 0, 0  # compute the leeway when there are so many queries, or so many guesses
        self.lower = 0  # no set of less weight flips
        self.swept = 0  # if not 0: single features before this one are settled, and one of them flips
        self.lightest_only = True  # False if all minimal flip sets are wanted, not only the lightest

    # --- the whole search -----------------------------------------------------------------------------------------

    def find(self) -> Search[tuple[Flips, ...]]:
        """Find the lightest flip sets."""
        if not (yield from self._start()):
            return tuple(self.known.ones)
        if self._asks_singles_first and (singles := (yield from self._ask_singles())):
            return singles
        if (yield from self._sweep_singles()):
            return tuple(sorted(one for one in self.known.ones if one.bit_count() == 1))
        # Each level has more features in play than the one before, and knows all answers so far.
        while True:
            try:
                lightest = yield from Level(self).settle()
            except HiddenFeatures as hidden:
                yield from self._discover(hidden.zero)
            else:
                if lightest is not None:
                    return lightest

    def find_all(self, report: Callable[[Flips], None], is_enough: Callable[[], bool] | None = None) -> Search[None]:
        """Find all minimal flip sets, lightest first."""
        self.lightest_only = False
        reported: set[Flips] = set()  # a level reports again what the levels before it have reported
        if not (yield from self._start()):
            for one in self.known.ones:
                report(one)
            return
        while True:
            try:
                yield from Level(self).settle_all(lambda one: _report_once(one, reported, report), is_enough)
                return
            except HiddenFeatures as hidden:
                yield from self._discover(hidden.zero)

    def _start(self) -> Search[bool]:
        """Say whether the search has to go on: everything flips, and the empty set is not known to."""
        if not (yield from self.flips(everything(self.d))):
            return False
        if self.focus.block:
            if (yield from self.flips(0)):
                return False
            yield from self._discover(0)
        return True

    # --- asking ---------------------------------------------------------------------------------------------------

    def ask(self, batch: Sequence[Flips], *, learn: bool = True) -> Search[list[float]]:
        """Return the margins of these sets, asking those that were not asked before, `batch` in a round.

        Without `learn`, sets that do not flip do not become known zeros.
        """
        if len(batch) == 1 and (query := batch[0]) not in self.answers:  # the common case, in fewer steps
            (margin,) = yield from ask(batch)
            self.answers[query] = margin
            if learn or margin >= 0:
                self.known.learn(query, margin >= 0)
            return [margin]
        new = [query for query in dict.fromkeys(batch) if query not in self.answers]
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            for query, margin in zip(part, (yield from ask(part)), strict=True):
                self.answers[query] = margin
                if learn or margin >= 0:
                    self.known.learn(query, margin >= 0)
        return [self.answers[query] for query in batch]

    def flips(self, query: Flips) -> Search[bool]:
        """Say whether a set flips, asking only if that does not follow from known answers."""
        (flips,) = yield from self.flips_all([query])
        return flips

    def flips_all(self, queries: Sequence[Flips]) -> Search[list[bool]]:
        """Say which of these sets flip, asking only what does not follow from known answers."""
        # The layer `infer` would not do: it returns signs alone, and beliefs need the margins. It also looks again
        # between the rounds of one batch, which would change what is asked.
        settled = [self.known.settle(query) for query in queries]
        yield from self.ask([query for query, flips in zip(queries, settled, strict=True) if flips is None])
        return [
            self.answers[query] >= 0 if flips is None else flips for query, flips in zip(queries, settled, strict=True)
        ]

    # --- features that matter ---------------------------------------------------------------------------------------

    def _discover(self, zero: Flips) -> Search[None]:
        """Find features of the block that matter, and put them in play.

        `zero` does not flip, and with the whole block it does.
        """
        zero, discovered = yield from self._grow_over_block(zero)
        if not self.discovered and not self.swept:
            self.reasons.append(everything(self.d) & ~zero)  # the zero was grown from nothing, so its reason is minimal
        self.discovered += len(discovered)
        idle = everything(self.d) & ~zero
        self.focus = self.focus.widened(discovered)
        for feature in discovered:
            idle &= ~(1 << feature)
        # The zero contains what is left of the block. See whether the other features that it lacks can join it.
        if idle and not self.swept:
            yield from self.flips(zero | idle)
        self.record.sizes, self.record.grown = float(len(discovered)), 1.0

    def _grow_over_block(self, zero: Flips) -> Search[tuple[Flips, list[int]]]:
        """Add the features of the block to `zero`, in order, and leave out those that make it flip.

        Returns the zero and the features that were left out. Ends early if one of these flips alone.
        """
        block = self.focus.block
        discovered: list[int] = []
        at = 0
        # Invariant: features of the block before `at` are in the zero, or discovered. The zero does not flip.
        while block >> at:
            rest = block >> at
            # If one feature matters, others may too. But it may be the only one, and one query tells.
            if len(discovered) == 1 and not (yield from self.flips(zero | rest << at)):
                zero |= rest << at
                break
            rate = self._rate(discovered, at)
            first = yield from self._first_flip(zero, rest, at, rate)
            if first is None:
                zero |= rest << at
                break
            zero |= (rest & everything(first - 1)) << at
            discovered.append(at + first - 1)
            at += first
            # If the feature flips alone, flip sets have size 1 and no reasons are needed. That is worth one query.
            if self._asks_discovered_alone and (yield from self.flips(1 << discovered[-1])):
                rest = everything(self.d - at) << at
                self.swept = at if (yield from self.flips(zero | rest)) else self.d
                break
        return zero, discovered

    def _sweep_singles(self) -> Search[bool]:
        """Settle all single features if one of them is known to flip; return whether that was done."""
        if not self.swept:
            return False

        def least_open_size() -> Search[int]:
            return 1
            yield ()  # never reached: it makes this function a search

        def count_none(_: int) -> Search[int | None]:
            return None
            yield ()

        def go_on() -> Search[bool]:
            self.guesses += 1
            return (yield from self.out_of_credit(least_open_size, self.d, count_none)) is None

        return (yield from sweep(self.swept, self.d, self.flips, go_on))

    def _rate(self, discovered: Sequence[int], at: int) -> float:
        """Return the expected share of features of the block, from `at` on, that make the zero flip."""
        if self.discovered:
            return (len(discovered) + max(2.0, 0.6 * self.record.reason_size())) / (self.d + at)
        if not discovered:
            return 0.01 / self.d  # it may be the only one, and then halving is best
        # Count from the first one: its own position says little, because it flips only if every other reason is met.
        return len(discovered) / (at - discovered[0] + self.d / 6)

    def _first_flip(self, zero: Flips, rest: Flips, at: int, rate: float) -> Search[int | None]:
        return (
            yield from find_first_flip(
                rest.bit_length(), rate, lambda n: zero | (rest & everything(n)) << at, self.flips_all, self.batch
            )
        )

    @property
    def _asks_discovered_alone(self) -> bool:
        """Whether a feature that was found to matter is asked alone at once."""
        return self.lightest_only and self.batch == 1 and self.weights.each is None and not self.discovered

    def _ask_singles(self) -> Search[tuple[Flips, ...]]:
        """Ask all features alone, and return those that flip if they are the answer."""
        nothing, *margins = yield from self.ask([0, *(1 << i for i in range(self.d))])
        if nothing >= 0:
            return (0,)
        singles = tuple(1 << i for i, margin in enumerate(margins) if margin >= 0)
        if not singles or self.weights.each is not None or self.at_most == 0:
            return ()
        # Usually all other features together do not flip. One zero then replaces many in the proof.
        yield from self.flips(everything(self.d) & ~sum(singles))
        return singles

    @property
    def _asks_singles_first(self) -> bool:
        """Whether to ask all features alone first, in as few rounds as possible.

        With large batches this saves rounds, because the margins of single features predict most others. It does not
        with labels, which the answer to everything shows: a label is exactly 1.
        """
        gives_margins = self.answers.get(everything(self.d), 1.0) != 1.0
        return self.batch >= SINGLES_FIRST_FROM and not self.focus.block and gives_margins

    # --- credit -----------------------------------------------------------------------------------------------------

    def raise_lower(self, weight: int) -> None:
        """Note that no set of less weight flips."""
        self.lower = weight
        if self.settled is not None:
            self.settled(weight)

    def out_of_credit(
        self, settled: Callable[[], Search[int]], upper: int, count_open: Callable[[int], Search[int | None]]
    ) -> Search[Leeway | None]:
        """Return None if the bound allows a guess. If it does not, return the way to go on.

        `settled` returns the least size that is not settled yet, and `upper` is the most that the answer may have. Both
        functions are called only when the leeway is computed.
        """
        # Computing the leeway takes time, and it falls by at most one with each query, or with each guess of a sweep.
        # So compute it again only when it may be used up.
        if not self.review_due():
            return None
        queries, guesses = len(self.answers), self.guesses
        c, r = yield from self._sizes_of_reasons()
        size = max((yield from settled()), 1)
        costs = Spent(queries - self.earlier, guesses, self.discovered)
        left = yield from leeway(self.d, c, max(r, self.discovered), size, upper, costs, count_open)
        self.next_review = queries + max(1, left.guesses), guesses + max(1, left.guesses)
        return left if left.guesses <= 0 else None

    def review_due(self) -> bool:
        """Say whether the leeway for guesses may be used up."""
        return len(self.answers) >= self.next_review[0] or self.guesses >= self.next_review[1]

    def _sizes_of_reasons(self) -> Search[tuple[int, int]]:
        """Return lower bounds on the size of the largest minimal reason, and on the number of features in any."""
        largest, union = 1, 0
        whole = everything(self.d)
        steps = Steps()
        for zero in self.known.zeros:
            lacking = whole & ~zero
            if lacking & ~union:
                union |= self.known.critical(zero)
            if lacking.bit_count() > largest:
                largest = max(largest, self.known.least_reason_size(zero))
            if steps.due(2 * len(self.known.ones)):
                yield from checkpoint()
        for reason in self.reasons:
            union |= reason
            largest = max(largest, reason.bit_count())
        return largest, max(union.bit_count(), largest)

    def fall_back(self, k: int) -> Search[None]:
        """Settle size `k` by the plain loop, and put all features of its reasons in play."""
        yield from settle_size(k, self.d, self.reasons, self.flips)
        in_reasons = 0
        for reason in self.reasons:
            in_reasons |= reason
        self.focus = self.focus.widened(features_of(in_reasons & self.focus.block))


def _report_once(one: Flips, reported: set[Flips], report: Callable[[Flips], None]) -> None:
    if one not in reported:
        reported.add(one)
        report(one)
