"""Minimal flip sets beyond the smallest, in order of size: the options that `more` asks for.

The search for all minimal flip sets goes on from the proof of the smallest ones, so it asks nothing about sets of their
size or less. It goes on until all sets of a size are listed and there are enough. So which sets are listed follows from
the model alone, and not from the order of the queries.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flipset.errors import BudgetExhausted, NotMonotone
from flipset.layers import consistent, guard
from flipset.models.scores import margins
from flipset.protocol import by_size, relay
from flipset.search.guided import minimal_in_order
from flipset.sets.known import Known
from flipset.sets.weights import read_weights

if TYPE_CHECKING:
    from flipset.explain.request import Request
    from flipset.proof import Proof
    from flipset.protocol import Flips, Flow
    from flipset.space.cells import Cells
    from flipset.values.change import LargerEnd
    from flipset.values.choices import CheapestRow
    from flipset.values.counterfactuals import ValueSearch


def find_larger(
    values: ValueSearch, proof: Proof, request: Request, wanted: int
) -> Flow[Cells, tuple[list[CheapestRow], LargerEnd]]:
    """Return the cheapest rows of minimal flip sets that are larger than those of the proof, and why the list ends.

    They are in order of size (or weight), then of cost. A budget that ends leaves out the size that was not finished.
    """
    weigh = read_weights(proof.weights, proof.d).of
    flipsets, end = yield from _list_larger(values, proof, request, wanted)
    in_order = sorted(flipsets, key=lambda flips: (weigh(flips), by_size(flips)))
    if len(in_order) > wanted:
        # The last size may have more than are wanted: the cheapest of them are kept, so all of them need values.
        last = weigh(in_order[wanted - 1])
        in_order = [flips for flips in in_order if weigh(flips) <= last]
    if request.values:
        rows = yield from values.for_flipsets(in_order, request.value_queries, minimal=True)
    else:
        rows = values.at_best_values(in_order, minimal=True)
    rows.sort(key=lambda one: (weigh(values.moved(one.cells)), one.cost))
    return rows[:wanted], "stopped" if values.scores.was_cut else end


def _list_larger(
    values: ValueSearch, proof: Proof, request: Request, wanted: int
) -> Flow[Cells, tuple[list[Flips], LargerEnd]]:
    """Return all minimal flip sets of the next sizes, until there are as many as wanted."""
    smallest = set(proof.ones)
    found: list[Flips] = []

    def report(flips: Flips) -> None:
        if flips not in smallest:
            found.append(flips)

    search = minimal_in_order(
        proof.d,
        report,
        batch=request.batch,
        weights=read_weights(proof.weights, proof.d),
        at_most=request.max_changes,
        answered=_answers(values, proof),
        is_enough=lambda: len(found) >= wanted,
    )
    known = Known()
    for flips in proof.zeros:
        known.learn(flips, False)
    for flips in proof.ones:
        known.learn(flips, True)
    monotonicity = values.monotonicity
    doubts: list[tuple[Flips, Flips]] = []
    watched = guard(search, known) if monotonicity.strict else consistent(search, known, doubts)
    end: LargerEnd = "stopped"
    try:
        yield from relay(watched, partial(values.scores.blocks, values.moves))
        end = "enough" if len(found) >= wanted else "all"
    except BudgetExhausted:
        pass
    except NotMonotone as error:
        raise monotonicity.about_rows(error) from None
    for pair in doubts:
        monotonicity.raise_or_record(monotonicity.error_for_sets(*pair))
    return found, end


def _answers(values: ValueSearch, proof: Proof) -> dict[Flips, float]:
    """Return the margins of the proof's sets; 1 or -1 where the score is not at hand."""
    answers: dict[Flips, float] = {}
    scores = values.scores
    for flips, sign in (*((zero, -1.0) for zero in proof.zeros), *((one, 1.0) for one in proof.ones)):
        known = [scores.scores.get(cells) for cells in values.moves.rows(flips)]
        given = [score for score in known if score is not None]
        is_known = bool(given) and len(given) == len(known)
        margin = max(margins(given, scores.threshold, rise=not scores.decision)) if is_known else sign
        answers[flips] = margin if (margin >= 0) == (sign > 0) else sign
    return answers
