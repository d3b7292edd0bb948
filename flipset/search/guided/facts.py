"""What is known and believed about the features in play.

Sets here are *inner* sets: they use the numbers of the features in play, and stand for queries in which the block of
all other features is flipped too (see `flipset.search.guided.focus`). A zero of such sets covers every set, whatever it
contains of the block. A one says only that the set flips together with the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flipset.protocol import Steps, checkpoint, everything
from flipset.search.guided.beliefs import Beliefs
from flipset.sets.known import Known
from flipset.sets.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.guided.focus import Focus
    from flipset.search.guided.leeway import Leeway
    from flipset.search.guided.record import Record

RELEARN = 128
"""When more features come into play, beliefs are formed anew from this many of the latest answers."""


class WholeSearch(Protocol):
    """The part of the whole search that a level uses: its answers, its record, its credit, and a way to ask."""

    batch: int
    weights: Weights
    focus: Focus
    answers: dict[Flips, float]
    known: Known
    record: Record
    guesses: int
    lightest_only: bool
    lower: int
    at_most: int | None
    most: int | None

    def ask(self, batch: Sequence[Flips], *, learn: bool = True) -> Search[list[float]]:
        """Ask outer sets."""

    def raise_lower(self, weight: int) -> None:
        """Note that no set of less weight flips."""

    def review_due(self) -> bool:
        """Say whether `out_of_credit` may say that guesses must stop."""

    def out_of_credit(
        self, settled: Callable[[], Search[int]], upper: int, count_open: Callable[[int], Search[int | None]]
    ) -> Search[Leeway | None]:
        """Return how to go on if guesses must stop."""

    def fall_back(self, k: int) -> Search[None]:
        """Settle size `k` without guesses."""


class Facts:
    """Zeros, ones and beliefs about the features in play, as inner sets."""

    def __init__(self, search: WholeSearch) -> None:
        self.search = search
        self.focus = search.focus
        self.width = len(self.focus.features)
        self.whole = everything(self.width)
        self.weights = _weights_in_play(search.weights, self.focus)
        # If every feature is in play, inner and outer sets are the same, and so are the zeros and ones.
        self.known = search.known if self.focus.in_order else Known()
        self.beliefs = Beliefs(self.width, chosen=not self.focus.in_order)
        self.enough: int | None = None  # the weight of which more flip sets are known than are wanted
        self.upper = self.weights.of(self.whole)  # some set of this weight flips, together with the block

    @property
    def counts_sizes(self) -> bool:
        """Whether all features weigh the same, so that weights are sizes."""
        return self.weights.each is None

    def recall(self) -> Search[None]:
        """Learn from the answers of the whole search."""
        search = self.search
        if self.known is not search.known:
            steps = Steps()
            for zero in search.known.zeros:
                # That a set with part of the block does not flip says nothing about the set with all of it.
                if not self.focus.block & ~zero:
                    self.known.learn(self.focus.inner(zero), False)
                if steps.due(self.width):
                    yield from checkpoint()
            for one in search.known.ones:
                self.known.learn(self.focus.inner(one), True)
                if steps.due(self.width):
                    yield from checkpoint()
        for one in self.known.ones:
            self.upper = min(self.upper, self.weights.of(one))
        for query in list(search.answers)[-RELEARN:]:
            if search.answers[query] >= 0 or not self.focus.block & ~query:
                self.beliefs.learn(self.focus.inner(query), search.answers[query])

    def learn(self, query: Flips, margin: float) -> None:
        """Add an answer about an inner set, flipped together with the block."""
        self.note(query, margin >= 0)
        self.beliefs.learn(query, margin)

    def note(self, query: Flips, flips: bool) -> None:
        """Add an answer without changing any belief."""
        if self.known is not self.search.known:
            self.known.learn(query, flips)
        if flips:
            self.upper = min(self.upper, self.weights.of(query))


def _weights_in_play(weights: Weights, focus: Focus) -> Weights:
    if weights.each is None:
        return weights
    return Weights(tuple(weights.each[feature] for feature in focus.features))
