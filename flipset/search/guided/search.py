"""The default search: all smallest flip sets, with few questions, in few rounds, and within a proved bound.

It keeps zeros (sets that do not flip) and ones (sets that do). A set is a *candidate* while it lies in no zero and
contains no one. Size by size, every candidate has to be settled: the ones of the first size at which some flip are the
answer, and the zeros its proof.

- `plan` picks the questions that are expected to settle most, guided by `Beliefs`.
- `Focus` keeps the features that never matter out of sight, as one block.
- `singles.sweep` takes a short cut where a feature of the block flips alone.
- `Record` notices where forecasts fail; then a zero is grown along a chain instead, if that pays.
- `bound.credit` limits what guesses may cost; beyond it `plain.settle_size` takes over for the size in hand.

Conclusions follow from the signs of answers alone. Everything else only chooses what to ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.protocol import Search, Steps, ask, checkpoint, everything, features_of
from flipset.search.guided.beliefs import Record
from flipset.search.guided.bound import credit
from flipset.search.guided.chain import next_tip
from flipset.search.guided.focus import Focus
from flipset.search.guided.level import Hidden, Level
from flipset.search.guided.plain import settle_size
from flipset.search.guided.singles import sweep
from flipset.sets.known import Known
from flipset.sets.weights import UNIT_WEIGHTS, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.protocol import Flips

NARROW = 40
"""Up to this many features, all are in play from the start."""

WEIGH_FROM = 8
"""Questions a round from which single features are asked before anything is planned."""


def guided_search(
    d: int,
    *,
    batch: int = 1,
    weights: Weights = UNIT_WEIGHTS,
    at_most: int | None = None,
    settled: Callable[[int], None] | None = None,
    answered: Mapping[Flips, float] | None = None,
) -> Search[tuple[Flips, ...]]:
    """Find all lightest flip sets of `d` features; none, when nothing flips. Unit weights: all smallest.

    With `at_most`, sets that weigh more are not wanted: none, too, when all flip sets do. On the way, `settled` is told
    each weight below which no set flips, as soon as the answers show it. `answered` are margins that another search
    was given: this one goes on from there.

    Queries: with unit weights and one question a round at most `bound.worst_case`, up to one round's guesses, and far
    fewer as a rule; `batch` at most in each round.
    """
    return Enquiry(d, batch, weights, at_most, settled, answered).find()


def minimal_in_order(
    d: int, found: Callable[[Flips], None], *, batch: int = 1, weights: Weights = UNIT_WEIGHTS
) -> Search[None]:
    """Find all minimal flip sets in order of weight, handing each to `found` as soon as its turn has come."""
    return Enquiry(d, batch, weights).find_all(found)


class Enquiry:
    """One search over `d` features: every answer so far, and what has been learned about asking."""

    def __init__(
        self,
        d: int,
        batch: int,
        weights: Weights,
        at_most: int | None = None,
        settled: Callable[[int], None] | None = None,
        answered: Mapping[Flips, float] | None = None,
    ) -> None:
        self.d = d
        self.batch = batch
        self.weights = weights
        self.at_most = at_most
        self.settled = settled
        self.answers: dict[Flips, float] = dict(answered or {})
        self.known = Known()
        for query, margin in self.answers.items():
            self.known.learn(query, margin >= 0)
        self.record = Record()
        self.focus = Focus.on_all(d) if d <= NARROW else Focus.on_none(d)
        self.certificates: list[Flips] = []  # minimal ones, from the plain loop
        self.discovered = 0
        self.guesses = 0  # questions asked on credit
        self.review_at = 0
        self.lower = 0  # no set of less weight flips
        self.swept = 0  # features before this one are settled as single ones, and one of them flips
        self.frugal = True  # stop at the first size that flips; then a failed candidate of that size need not be grown

    # --- the whole ------------------------------------------------------------------------------------------------

    def find(self) -> Search[tuple[Flips, ...]]:
        """Find the lightest flip sets."""
        if not (yield from self._start()):
            return tuple(self.known.ones)
        if self._weighs_singles and (singles := (yield from self._weigh_singles())):
            return singles
        if (yield from self._find_singles()):
            return tuple(sorted(one for one in self.known.ones if one.bit_count() == 1))
        while True:
            try:
                found = yield from Level(self).settle()
            except Hidden as hidden:
                yield from self._discover(hidden.zero)
            else:
                if found is not None:
                    return found

    def find_all(self, found: Callable[[Flips], None]) -> Search[None]:
        """Find all minimal flip sets, lightest first."""
        self.frugal = False
        told: set[Flips] = set()
        if not (yield from self._start()):
            for one in self.known.ones:
                found(one)
            return
        while True:
            try:
                yield from Level(self).settle_all(lambda one: _tell(one, told, found))
                return
            except Hidden as hidden:
                yield from self._discover(hidden.zero)

    def _start(self) -> Search[bool]:
        """Say whether there is anything to find: everything flips, and nothing alone does not."""
        if not (yield from self.flips(everything(self.d))):
            return False
        if self.focus.block:
            if (yield from self.flips(0)):
                return False
            yield from self._discover(0)
        return True

    # --- asking ---------------------------------------------------------------------------------------------------

    def ask(self, batch: Sequence[Flips]) -> Search[list[float]]:
        """Ask what was not asked before, `batch` a round, and take note."""
        new = [query for query in dict.fromkeys(batch) if query not in self.answers]
        for start in range(0, len(new), self.batch):
            part = new[start : start + self.batch]
            for query, margin in zip(part, (yield from ask(part)), strict=True):
                self.answers[query] = margin
                self.known.learn(query, margin >= 0)
        return [self.answers[query] for query in batch]

    def flips(self, query: Flips) -> Search[bool]:
        """Say whether a set flips, asking only if that does not follow from what is known."""
        (flips,) = yield from self.flips_all([query])
        return flips

    def flips_all(self, queries: Sequence[Flips]) -> Search[list[bool]]:
        """Say which of these sets flip."""
        settled = [self.known.settle(query) for query in queries]
        yield from self.ask([query for query, told in zip(queries, settled, strict=True) if told is None])
        return [
            self.answers[query] >= 0 if told is None else told for query, told in zip(queries, settled, strict=True)
        ]

    # --- features that matter ---------------------------------------------------------------------------------------

    def _discover(self, zero: Flips) -> Search[None]:
        """Find features of the block that matter: `zero` does not flip, and with the whole block it does."""
        block = self.focus.block
        found: list[int] = []
        at = 0
        while block >> at:
            rest = block >> at
            # Where one feature mattered others may; but first see whether there is any, in case it was the only one.
            if len(found) == 1 and not (yield from self.flips(zero | rest << at)):
                zero |= rest << at
                break
            rate = self._rate(found, at)
            tip = yield from self._tip(zero, rest, at, rate)
            if tip is None:
                zero |= rest << at
                break
            zero |= (rest & everything(tip - 1)) << at
            found.append(at + tip - 1)
            at += tip
            # A feature that flips alone ends the search for certificates; it is well worth one question to know.
            if self._seeks_singles and (yield from self.flips(1 << found[-1])):
                rest = everything(self.d - at) << at
                self.swept = at if (yield from self.flips(zero | rest)) else self.d
                break
        if not self.discovered and not self.swept:
            self.certificates.append(everything(self.d) & ~zero)  # grown from nothing, it is minimal
        self.discovered += len(found)
        idle = everything(self.d) & ~zero
        self.focus = self.focus.widened(found)
        for feature in found:
            idle &= ~(1 << feature)
        # The zero holds the block; the features in play that it lacks join it if they can, all at once.
        if idle and not self.swept:
            yield from self.flips(zero | idle)
        self.record.sizes, self.record.grown = float(len(found)), 1.0

    def _find_singles(self) -> Search[bool]:
        """Settle all single features if one of them is known to flip; False if that has to be done otherwise."""
        if not self.swept:
            return False

        def one() -> Search[int]:
            return 1
            yield ()

        def go_on() -> Search[bool]:
            self.guesses += 1
            return not (yield from self.out_of_credit(one))

        return (yield from sweep(self.swept, self.d, self.flips, go_on))

    def _rate(self, found: Sequence[int], at: int) -> float:
        """Return how often a feature of the block from here on is expected to tip the balance."""
        if self.discovered:
            return (len(found) + max(2.0, 0.6 * self.record.certificate_size())) / (self.d + at)
        if not found:
            return 0.01 / self.d  # it may be the only one: halving finds it soonest
        # Where the first one lies says little: it tips the balance only if all other reasons are met by then.
        return len(found) / (at - found[0] + self.d / 6)

    def _tip(self, zero: Flips, rest: Flips, at: int, rate: float) -> Search[int | None]:
        return (
            yield from next_tip(
                rest.bit_length(), rate, lambda n: zero | (rest & everything(n)) << at, self.flips_all, self.batch
            )
        )

    @property
    def _seeks_singles(self) -> bool:
        """Whether a feature found to matter is asked alone at once: where that could be all, in the frugal mode."""
        return self.frugal and self.batch == 1 and self.weights.each is None and not self.discovered

    def _weigh_singles(self) -> Search[tuple[Flips, ...]]:
        """Ask all features alone, and return those that flip, if that is the answer."""
        nothing, *margins = yield from self.ask([0, *(1 << i for i in range(self.d))])
        if nothing >= 0:
            return (0,)
        found = tuple(1 << i for i, margin in enumerate(margins) if margin >= 0)
        if not found or self.weights.each is not None or self.at_most == 0:
            return ()
        # All others together, as a rule, do not flip: one zero then proves what so many did.
        yield from self.flips(everything(self.d) & ~sum(found))
        return found

    @property
    def _weighs_singles(self) -> bool:
        """Whether to ask all features alone, first of all and together.

        Where rounds count more than questions that saves rounds: margins of single features foretell most others.
        """
        told_by_margin = self.answers.get(everything(self.d), 1.0) != 1.0
        return self.batch >= WEIGH_FROM and not self.focus.block and told_by_margin

    # --- credit -----------------------------------------------------------------------------------------------------

    def raise_lower(self, weight: int) -> None:
        """Take note that no set of less weight flips."""
        self.lower = weight
        if self.settled is not None:
            self.settled(weight)

    def out_of_credit(self, settled: Callable[[], Search[int]]) -> Search[bool]:
        """Say whether guesses have used up what the bound leaves to them.

        `settled` gives the least size not settled yet; it is called only when the account is looked at.
        """
        if self.guesses < self.review_at:
            return False
        c, r = yield from self._certified()
        size = max((yield from settled()), 1)
        allowed = credit(self.d, c, max(r, self.discovered), size, discovered=self.discovered)
        self.review_at = self.guesses + max(1, (allowed - self.guesses) // 2)
        return self.guesses >= allowed

    def _certified(self) -> Search[tuple[int, int]]:
        """Return what is certain of the largest minimal certificate, and of the features in any."""
        largest, union = 1, 0
        whole = everything(self.d)
        steps = Steps()
        for zero in self.known.zeros:
            lacking = whole & ~zero
            if lacking & ~union:
                union |= self.known.critical(zero)
            if lacking.bit_count() > largest:
                largest = max(largest, self.known.apart(zero))
            if steps.due(2 * len(self.known.ones)):
                yield from checkpoint()
        for certificate in self.certificates:
            union |= certificate
            largest = max(largest, certificate.bit_count())
        return largest, max(union.bit_count(), largest)

    def fall_back(self, k: int) -> Search[None]:
        """Settle size `k` by the plain loop, and put what it met in play."""
        yield from settle_size(k, self.d, self.certificates, self.flips)
        met = 0
        for certificate in self.certificates:
            met |= certificate
        self.focus = self.focus.widened(features_of(met & self.focus.block))


def _tell(one: Flips, told: set[Flips], found: Callable[[Flips], None]) -> None:
    if one not in told:
        told.add(one)
        found(one)
