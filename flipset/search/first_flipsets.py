"""The first of many flip sets, in an order that depends only on the function.

If there are more lightest flip sets than are wanted, some have to be chosen. The rule:

1. Features are put in order by their margins alone, greatest first; of equal ones, the first column comes first. They
   stay in the order of the columns if the model gives only labels, or if there are more than `ORDERED_UP_TO` features.
2. Of two sets, the one that contains the first feature in which they differ comes first. So sets of the features that
   count most come first.

The walk goes through all sets of the right weight in this order, without those that lie in a known zero, and asks until
it has enough. It depends on the zeros only in what it asks: which sets are returned follows from the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.layers.infer import infer
from flipset.protocol import Steps, ask, checkpoint, everything, features_of, flips_of
from flipset.search.growing import grow
from flipset.sets.known import LOOKUP_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.protocol import Flips, Search
    from flipset.sets.known import Known
    from flipset.sets.weights import Weights

GROWTH_CREDIT = 64
"""Queries that may be spent on growing zeros before these have made other queries unnecessary."""


def first_flipsets(
    order: Sequence[int], zeros: Sequence[Flips], weights: Weights, weight: int, most: int, known: Known, batch: int
) -> Search[list[Flips]]:
    """Return the first `most` flip sets of this weight in the order of the rule; all of them, if there are fewer.

    `zeros` must cover all sets of less weight, and `known` must hold them. Queries whose answers follow from `known`
    are not asked.
    """
    return infer(_Walk(order, zeros, weights, weight, known, batch).first(most), known, batch)


class _Walk:
    """The walk through all sets of one weight in the order of the rule."""

    def __init__(
        self, order: Sequence[int], zeros: Sequence[Flips], weights: Weights, weight: int, known: Known, batch: int
    ) -> None:
        whole = everything(len(order))
        # A feature that is in every zero is in no lightest flip set: without it, the set lies in a zero, and with it,
        # the set lies in the same zero.
        in_all = whole
        for zero in zeros:
            in_all &= zero
        self.order = [i for i in order if not in_all >> i & 1]
        self.each = [1 if weights.each is None else weights.each[i] for i in self.order]
        self.weight, self.known, self.batch = weight, known, batch
        # What follows each place of the order, and what it weighs.
        self.behind = [flips_of(self.order[n:]) for n in range(len(self.order) + 1)]
        self.weight_behind = [sum(self.each[n:]) for n in range(len(self.order) + 1)]
        self.passed = self.spent = 0  # sets that were passed over, and queries that were spent on growing zeros

    def first(self, most: int) -> Search[list[Flips]]:
        """Return the first sets that flip."""
        found: list[Flips] = []
        waiting: list[Flips] = []
        steps = Steps()
        for candidate in self._candidates():
            if steps.due(LOOKUP_STEPS):
                yield from checkpoint()
            if candidate is None:
                continue
            waiting.append(candidate)
            if len(waiting) == max(1, min(self.batch, most - len(found))):
                found += yield from self._flipping(waiting)
                waiting = []
                if len(found) == most:
                    return found
        return found + (yield from self._flipping(waiting))

    def _flipping(self, candidates: list[Flips]) -> Search[list[Flips]]:
        """Return those of the candidates that flip; if most do not, grow one of them to a large zero."""
        margins = yield from ask(candidates)
        flipping = [flips for flips, margin in zip(candidates, margins, strict=True) if margin >= 0]
        if 2 * len(flipping) < len(candidates) and self.spent <= self.passed + GROWTH_CREDIT:
            zero = next(flips for flips, margin in zip(candidates, margins, strict=True) if margin < 0)
            rest = [i for i in reversed(self.order) if not zero >> i & 1]
            yield from grow(zero, rest, self.batch)
            self.spent += len(rest)
        return flipping

    def _candidates(self) -> Iterator[Flips | None]:
        """Yield the sets of the right weight that lie in no zero, in order; None for each step on the way."""
        # A node: the set so far, the place in the order from which features may follow, and the weight that is left.
        path: list[tuple[Flips, int, int]] = [(0, 0, self.weight)]
        while path:
            chosen, at, left = path.pop()
            if not left:
                if self.known.zero_above(chosen) is None:
                    yield chosen
                else:
                    self.passed += 1
                    yield None
                continue
            if left < 0 or left > self.weight_behind[at]:
                continue
            if self.known.zero_above(chosen | self.behind[at]) is not None:
                self.passed += 1
                yield None
                continue
            # First the sets with this feature, which are on top of the stack; later those without it.
            path.append((chosen, at + 1, left))
            path.append((chosen | 1 << self.order[at], at + 1, left - self.each[at]))
            yield None


def listing_order(alone: Sequence[float] | None, d: int) -> list[int]:
    """Return the features in the order of the rule; `alone` are their margins, None if these do not order them."""
    return list(range(d)) if alone is None else sorted(range(d), key=lambda i: (-alone[i], i))


def in_listing_order(flips: Flips, order: Sequence[int]) -> list[int]:
    """Return the sort key that puts sets, none of which contains another, in the order of the rule."""
    place = {feature: n for n, feature in enumerate(order)}
    return sorted(place[i] for i in features_of(flips))
