"""The checks of an explanation: every field is recomputed, compared, replayed, or listed as not checked.

The checks come in five stages. They end after the first stage with a problem, so that a false file costs few queries:

1. The parts fit together: columns, units, the features of the proof.
2. The explanation is about this model, this space and this table, and rests on no more than they show. Status,
   bounds, flip sets and reasons agree with the proof.
3. Moves, costs, grids and changes agree with the space and the row. Without the space, only what follows from the file
   itself is checked, and the rest is listed as not checked.
4. The proof forces the answer. This is combinatorics, without the model.
5. The model gives the same scores again: for the row, every counterfactual, both rows of every contradiction, and every
   query of the proof.

All stages together take a limited number of steps. This package shares no code with the searches, so that an error in a
search cannot hide here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.step_budget import StepBudget
from flipset.errors import NotDecided, NotReturned
from flipset.results.verifying.allowed import check_space, check_threshold, check_words
from flipset.results.verifying.claims import check_claims, check_proof, check_shape
from flipset.results.verifying.counterfactuals import check_counterfactuals
from flipset.results.verifying.findings import Findings, Terms
from flipset.results.verifying.grounds import check_basis, check_model
from flipset.results.verifying.options import check_options
from flipset.results.verifying.replay import ask_again, list_unchecked

if TYPE_CHECKING:
    from flipset.protocol import Flow
    from flipset.results.data import ExplanationData
    from flipset.results.verification import Verification
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves


def verifying(e: ExplanationData, terms: Terms) -> Flow[Cells, Verification]:
    """Check an explanation; a query of this flow is the cells in which a row differs from the explained row.

    All stages spend the steps of one budget. When it is spent, or stopped, the result is undecided. So it is if a call
    of the model is abandoned.
    """
    findings = Findings()
    try:
        yield from _stages(e, terms, findings, StepBudget(terms.steps, terms.stop))
    except (NotDecided, NotReturned) as error:
        findings.leave_undecided(str(error))
    return findings.result()


def check_file(e: ExplanationData, max_block: int, budget: StepBudget) -> Findings:
    """Check an explanation without the model and the space: the parts fit, and the proof forces the answer.

    Raises `NotDecided` when the budget is spent.
    """
    findings = Findings()
    _check_without_model(e, Terms(max_block=max_block), findings, budget)
    return findings


def _stages(e: ExplanationData, terms: Terms, findings: Findings, budget: StepBudget) -> Flow[Cells, None]:
    moves = _check_without_model(e, terms, findings, budget)
    if moves is None:
        return
    if not findings.is_over:
        yield from ask_again(e, moves, terms, findings, budget)
    list_unchecked(e, findings)


def _check_without_model(e: ExplanationData, terms: Terms, findings: Findings, budget: StepBudget) -> Moves | None:
    """Run stages 1 to 4; return the moves that queries are made of, or None if the parts do not fit together."""
    check_shape(e, findings, budget)
    if findings.is_over:
        return None
    check_model(e, terms, findings)
    check_basis(e, terms, findings)
    check_threshold(e, terms, findings)
    check_claims(e, findings, budget)
    check_words(e, terms, findings)
    moves = check_space(e, terms, findings)
    if not findings.is_over:
        moves.check_block(terms.max_block)
        check_counterfactuals(e, moves, terms, findings, budget)
        check_options(e, findings, budget)
    if not findings.is_over:
        check_proof(e, findings, budget)
    return moves
