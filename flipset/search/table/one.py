"""The table search for a single row, as a search over sets: the same queries as among others."""

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
    from flipset.search.table.search import Outcome


def search_one(d: int, margin: float, *, batch: int, reasons: bool) -> Search[Outcome]:
    """Search for the smallest flip sets of one row, up to pairs; `margin` is that of the row itself.

    When a budget ends, it returns what was answered by then, the part of a round included that was paid for.
    """
    search = TableSearch(1, d, batch=batch, reasons=reasons)
    places = search.free()
    search.enter(places, np.ones((1, d), dtype=bool), np.array([margin]))
    try:
        while len((queries := search.queries()).places):
            words = as_words(queries.flips)
            margins = np.array((yield from ask(words.tolist())))
            search.learn(queries, margins, margins)
    except BudgetExhausted as stop:
        arrived = [i for i, answer in enumerate(stop.answers) if answer is not None]
        if arrived:
            margins = np.array([stop.answers[i] for i in arrived], dtype=np.float64)
            search.log.add(queries.places[arrived], words[arrived], margins, margins)
        search.give_up(places)
    ((_, outcome),) = search.leave()
    return outcome


def conclude_search(outcome: Outcome, d: int, read: Callable[[int], Flips], queries: int, rounds: int) -> Flipsets:
    """Return the result of a search that found the smallest flip sets, or that there are none.

    `read` turns a set of the search into one of the row's own `d` features.
    """
    assert outcome.ones is not None, "a search that was handed on has no result"
    ones = tuple(map(read, outcome.ones))
    proof = Proof(d, tuple(map(read, outcome.zeros)), ones)
    if not outcome.zeros:  # reasons were not wanted: the answers are the proof
        known = Known()
        known.learn(0, False)
        for word, margin in zip(outcome.flips.tolist(), outcome.margins.tolist(), strict=True):
            known.learn(read(word), margin >= 0)
        proof = build_proof(proof, known)
    return conclude("optimal" if ones else "none", proof, Tally(queries, rounds))
