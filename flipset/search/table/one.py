"""The table search for a single row, as a search over sets, for rows whose flow has limits of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import BudgetExhausted
from flipset.layers import Tally
from flipset.proof import Proof
from flipset.protocol import ask, relay
from flipset.search.solve import conclude
from flipset.search.table.memory import as_words
from flipset.search.table.search import OPEN, SetQueries, TableSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.result import Flipsets


@dataclass(slots=True)
class Outcome:
    """What the search about one row has found: the margins of all sets that it asked about, and the flip sets.

    `ones` is None if the search did not get that far. The first `reported` zeros are those of reasons.
    """

    answers: dict[Flips, float] = field(default_factory=dict)
    ones: tuple[Flips, ...] | None = None
    zeros: tuple[Flips, ...] = ()
    reported: int = 0

    def contradiction(self) -> tuple[Flips, Flips] | None:
        """Return a set that flips and a superset that does not, if both were asked."""
        zeros = [flips for flips, margin in self.answers.items() if margin < 0]
        ones = (flips for flips, margin in self.answers.items() if margin >= 0)
        return next(((one, zero) for one in ones for zero in zeros if not one & ~zero), None)

    def conclude(self, d: int, queries: int, rounds: int) -> Flipsets:
        """Return the result of a search that found the flip sets, or found that nothing flips."""
        assert self.ones is not None, "the search has found the flip sets"
        proof = Proof(d, self.zeros, self.ones)
        return conclude("optimal" if self.ones else "none", proof, Tally(queries, rounds), reasons=self.reported)


def search_one(d: int, margin: float, *, reasons: int, most: int | None = None) -> Search[Outcome]:
    """Search for the smallest flip sets of one row; `margin` is the margin of the row itself.

    If a budget ends on the way, the outcome has no flip sets, but all answers so far, also those of a round that was
    cut short.
    """
    outcome = Outcome()
    search = TableSearch(np.ones((1, d), dtype=bool), np.array([margin]), reasons=reasons, most=most, alone=True)

    def answer(queries: Sequence[Any]) -> Search[Any]:
        if not len(queries):  # a checkpoint
            return (yield from ask(()))
        assert isinstance(queries, SetQueries), "the search asks sets"
        words = as_words(queries.flips).tolist()
        try:
            margins = yield from ask(words)
        except BudgetExhausted as stop:
            pairs = zip(words, stop.answers, strict=False)
            outcome.answers.update((word, one) for word, one in pairs if one is not None)
            raise
        outcome.answers.update(zip(words, margins, strict=True))
        return np.array(margins)

    try:
        yield from relay(search.run(), answer)
    except BudgetExhausted:
        return outcome
    if search.size[0] != OPEN:
        (_, ones), (_, kept), (_, zeros) = (
            sets.joined(1) for sets in (search.ones, search.reasons, search.further_zeros())
        )
        reasons_first = dict.fromkeys((*kept.tolist(), *zeros.tolist()))
        outcome.ones, outcome.zeros, outcome.reported = tuple(ones.tolist()), tuple(reasons_first), len(kept)
    return outcome
