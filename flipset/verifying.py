"""Whether an explanation is what it claims to be: checked against its proof, and by asking the model again."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from flipset.asking import Asking
from flipset.moves import in_order
from flipset.protocol import everything

if TYPE_CHECKING:
    from flipset.explanation import Explanation
    from flipset.moves import Cells
    from flipset.protocol import Flow

TOLERANCE = 1e-6
"""Scores that differ by less are the same: sums of floats may depend on what else is in the batch."""


def verifying(explanation: Explanation, tolerance: float) -> Flow[Cells, bool]:
    """Check what is claimed against the proof, the proof by combinatorics, and then its questions by asking again.

    What could move, and how far, is taken from the explanation. Decisions must be the same; scores may differ by the
    tolerance, for some models answer a row by its batch.
    """
    if not _claims_what_it_proves(explanation):
        return False
    row, threshold = explanation.row, explanation.threshold
    proof, moves = explanation.proof, explanation.moves
    asking = Asking(threshold)
    yield from asking.begin()
    others = [
        in_order([(i, c.row[name]) for i, name in enumerate(row) if c.row[name] != row[name]])
        for c in explanation.counterfactuals
    ]
    turned = yield from asking.ask(others)
    facts = [*((zero, False) for zero in proof.zeros), *((one, True) for one in proof.ones)] if moves.units else []
    answers = yield from asking.blocks(moves, [query for query, _ in facts])
    scores = [asking.score, *turned]
    said = [explanation.score, *(c.score for c in explanation.counterfactuals)]
    return (
        asking.decision == explanation.decision
        and all((score >= threshold) != asking.decision for score in turned)
        and all(isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(scores, said, strict=True))
        and all((margin >= 0) == flips for margin, (_, flips) in zip(answers, facts, strict=True))
    )


def _claims_what_it_proves(e: Explanation) -> bool:
    """Say whether status, size and sets are those of the proof."""
    proof, moves = e.proof, e.moves
    if e.status == "unproved":
        return False
    if not moves.units:
        return (e.status, e.size, e.flipsets, e.reasons, e.counterfactuals) == ("none", None, (), (), ())
    whole = everything(len(moves.units))
    reasons = {moves.names(whole & ~zero) for zero in proof.zeros}
    if {*e.flipsets} != {moves.names(one) for one in proof.ones} or {*e.reasons} != reasons:
        return False
    if e.status == "optimal":
        return proof.check() and e.size == e.lower == e.upper == proof.upper()
    if e.status == "none" and e.lower is None:
        return proof.check() and not proof.ones
    bound = proof.lower()
    return e.size is None and (e.lower is None or (bound is not None and bound >= e.lower)) and e.upper == proof.upper()
