"""What two explanations of a row must have in common, whichever search made them."""

from dataclasses import replace
from typing import Any

from flipset import Explainer, Explanation
from flipset.proof import Proof
from flipset.protocol import everything


def answer_of(result: Any) -> Any:
    """Return an explanation without what depends on the search: queries, calls, and zeros that are no reasons.

    An error is returned as its type and its text.
    """
    if not isinstance(result, Explanation):
        return type(result), str(result)
    every = everything(result.proof.d)
    zeros = tuple(zero for zero in result.proof.zeros if result.moves.names(every & ~zero) in result.reasons)
    proof = Proof(result.proof.d, zeros, result.proof.ones, result.proof.weights)
    return replace(result, queries=0, rounds=0, proof=proof)


def is_confirmed(explainer: Explainer, e: Explanation) -> bool:
    """Say whether an explanation is verified, be its reasons all zeros of the proof or some."""
    problems = explainer.verify(e).problems
    return e.proof.check(e.proof.d) is True and not [
        one for one in problems if not one.startswith("reasons: they are not")
    ]
