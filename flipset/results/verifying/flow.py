"""Whether an explanation is what it claims to be: every field recomputed, compared, asked again, or named as unchecked.

The checks come in this order, and end after the first stage that finds a problem, so that a false file costs little:

1. its parts belong together: columns, units, the features of the proof;
2. status, bracket, flip sets and reasons are those of the proof;
3. what could move, costs, grids and the words of every change are those of the space and the row, where the space is
   given; without it, only what follows from the file itself is checked, and the rest is listed;
4. the proof forces the answer: combinatorics, within a number of steps;
5. the model says again what it is claimed to have said: to the row, to every counterfactual, to both rows of every
   contradiction, and to every question of the proof.

Nothing here is shared with the searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.results.verifying.allowed import check_space, check_threshold
from flipset.results.verifying.claims import check_claims, check_proof, check_shape
from flipset.results.verifying.counterfactuals import check_counterfactuals
from flipset.results.verifying.findings import Findings
from flipset.results.verifying.replay import ask_again, list_unchecked

if TYPE_CHECKING:
    from flipset.protocol import Flow
    from flipset.results.data import ExplanationData
    from flipset.results.verification import Verification
    from flipset.results.verifying.findings import Terms
    from flipset.space.moves import Cells


def verifying(e: ExplanationData, terms: Terms) -> Flow[Cells, Verification]:
    """Check an explanation; the flow asks rows by the cells in which they differ from the row explained."""
    found = Findings()
    check_shape(e, found)
    if found.is_over:
        return found.result()
    check_threshold(e, terms, found)
    check_claims(e, found)
    moves = check_space(e, terms, found)
    if not found.is_over:
        moves.check_block(terms.max_block)
        check_counterfactuals(e, moves, terms, found)
    if not found.is_over:
        check_proof(e, terms, found)
    if not found.is_over:
        yield from ask_again(e, moves, terms, found)
    list_unchecked(e, found)
    return found.result()
