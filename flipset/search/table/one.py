"""The table search for a single row, as a search over sets. It asks the same queries as in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flipset.errors import BudgetExhausted
from flipset.layers import Tally
from flipset.proof import Proof
from flipset.protocol import ask
from flipset.search.proving import build_proof
from flipset.search.solve import conclude
from flipset.search.table.log import as_words
from flipset.search.table.search import TableSearch
from flipset.sets.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.protocol import Flips, Search
    from flipset.search.result import Flipsets
    from flipset.search.table.log import Outcome


def search_one(d: int, margin: float, *, batch: int, reasons: bool) -> Search[Outcome]:
    """Search for the smallest flip sets of one row, up to pairs; `margin` is the margin of the row itself.

    If a budget ends on the way, the outcome has no flip sets, but all answers so far, also those of a round that was
    cut short.
    """
    search = TableSearch(1, d, batch=batch, reasons=reasons)
    places = search.free()
    search.enter(places, np.ones((1, d), dtype=bool), np.array([margin]))
    try:
        while len((queries := search.queries()).places):
            words = as_words(queries.flips)
            margins = np.array((yield from ask(words.tolist())))
            search.learn(queries, margins, margins)  # without a model there are no scores besides the margins
    except BudgetExhausted as stop:
        arrived = [i for i, answer in enumerate(stop.answers) if answer is not None]
        if arrived:
            margins = np.array([stop.answers[i] for i in arrived], dtype=np.float64)
            search.log.add(queries.places[arrived], words[arrived], margins, margins)
        search.give_up(places)
    ((_, outcome),) = search.leave()
    return outcome


def conclude_search(outcome: Outcome, d: int, read: Callable[[int], Flips], queries: int, rounds: int) -> Flipsets:
    """Return the result of a search that was not given up.

    `read` translates a set of the search's features into a set of the row's own `d` features.
    """
    assert outcome.ones is not None, "a search that was given up has no result"
    ones = tuple(map(read, outcome.ones))
    proof = Proof(d, tuple(map(read, outcome.zeros)), ones)
    if not outcome.zeros:  # reasons were not wanted: make the proof from the answers
        known = Known()
        known.learn(0, False)  # the row itself, which the search did not ask
        for word, margin in zip(outcome.flips.tolist(), outcome.margins.tolist(), strict=True):
            known.learn(read(word), margin >= 0)
        proof = build_proof(proof, known)
    return conclude("optimal" if ones else "none", proof, Tally(queries, rounds))
