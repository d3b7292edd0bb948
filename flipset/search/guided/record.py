"""The record of a search: how often forecasts came true lately, and what growing a zero was worth.

The record chooses between the ways to ask: guess a large zero, ask a candidate, or grow a zero along a chain. All
counts fade, so that recent answers weigh most.
"""

from __future__ import annotations


class Record:
    """Fading counts of guesses, of candidates that were asked, and of zeros that were grown."""

    FADE = 0.9
    PLAN_FADE, PLAN_FROM = 0.98, 40.0  # how fast the worth of plans fades; the queries from which it is judged

    def __init__(self) -> None:
        # Guesses that a large set does not flip: the sum of the forecast chances, and how many were right.
        self.expected = self.succeeded = 0.0
        # Candidates that were asked, and those that did not flip.
        self.asked = self.failed = 0.0
        # Zeros that were grown until their complements were minimal reasons: the sum of the sizes of these reasons,
        # their number, the queries that they took, and the shares of the open candidates that they settled. The first
        # values are a prior that is worth one reason.
        self.sizes, self.grown = 5.0, 1.0
        self.spent, self.covered = 8.0, 0.3
        # Candidates that were settled lately by planned queries, and the number of these queries.
        self.settled = self.planned = 0.0

    def trust(self) -> float:
        """Return the factor by which to discount the next forecast."""
        # Some guesses fail by bad luck. Up to half of the expected successes may be missing without a discount; beyond
        # that trust falls fast.
        forecasts = min(1.0, 2.0 * (1.0 + self.succeeded) / (1.0 + self.expected))
        # A large set is a zero only if all candidates inside it are: if most candidates flip, that is unlikely.
        candidates = min(1.0, 2.0 * (2.0 + self.failed) / (2.0 + self.asked))
        return forecasts**3 * candidates

    def guessed(self, chance: float, succeeded: bool) -> None:
        """Note a guess: the forecast chance that the set does not flip, and whether that was right."""
        self.expected = self.FADE * self.expected + chance
        self.succeeded = self.FADE * self.succeeded + succeeded

    def tried(self, failed: bool) -> None:
        """Note a candidate that was asked, and whether it did not flip."""
        self.asked = self.FADE * self.asked + 1.0
        self.failed = self.FADE * self.failed + failed

    def grew(self, size: int, queries: int, share: float) -> None:
        """Note a zero that was grown until its complement was a minimal reason of this size."""
        self.sizes = self.FADE * self.sizes + size
        self.spent = self.FADE * self.spent + queries
        self.covered = self.FADE * self.covered + share
        self.grown = self.FADE * self.grown + 1.0

    def answered(self, settled: int, queries: int) -> None:
        """Note how many candidates a round of planned queries has settled."""
        fade = self.PLAN_FADE**queries
        self.settled = fade * self.settled + settled
        self.planned = fade * self.planned + queries

    def planning_pays(self, worth: float) -> bool:
        """Say whether planned queries lately settled more candidates than `worth` each."""
        return self.planned < self.PLAN_FROM or self.settled > worth * self.planned

    def candidates_keep_failing(self) -> bool:
        """Say whether forecasts are useless and nearly all candidates that were asked lately did not flip."""
        return self.failed > 0.8 * self.asked and self.trust() < 0.3

    def reason_size(self) -> float:
        """Return the expected size of a reason."""
        return self.sizes / self.grown

    def growing_pays(self, candidates: int) -> bool:
        """Say whether growing a zero should settle more candidates than it takes queries.

        If forecasts can be trusted, it has to settle more: a guess may do the same with a single query.
        """
        return candidates * self.covered > (1.0 + self.trust()) * self.spent
