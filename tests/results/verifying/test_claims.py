"""The parts of an explanation belong together, and what it claims is what its proof says."""

from dataclasses import replace
from typing import Any

import pytest

from flipset import NotDecided
from flipset.boundary.step_budget import StepBudget
from flipset.proof import Proof
from flipset.results.verifying.claims import check_claims, check_proof, check_shape
from flipset.results.verifying.findings import Findings
from tests.results.examples import data_of, explained


def problems(e: Any) -> list[str]:
    found, budget = Findings(), StepBudget()
    check_shape(e, found, budget)
    if not found.problems:
        check_claims(e, found, budget)
    if not found.problems:
        check_proof(e, found, budget)
    return found.problems


E_ = data_of(explained())


def test_what_was_explained_has_no_problem() -> None:
    for income, debt in ((4, 5), (9, 0), (0, 9), (6, 3)):
        assert problems(data_of(explained(income, debt))) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"decision": True}, "decision"),
        ({"status": "none"}, "size"),
        ({"size": 1}, "size"),
        ({"lower": 1}, "lower"),
        ({"upper": 3}, "upper"),
        ({"flipsets": ()}, "flipsets"),
        ({"reasons": E_.reasons[::-1]}, "reasons"),
        ({"reasons": (("debt", "income"),)}, "reasons"),
        ({"reasons": (*E_.reasons, E_.reasons[-1])}, "reasons"),
        ({"objective": "cost"}, "max_changes"),
        ({"max_changes": 1}, "max_changes"),
        ({"contradictions": ((E_.row, E_.row),)}, "contradictions"),
        ({"proof": replace(E_.proof, d=3)}, "proof.d"),
        ({"proof": replace(E_.proof, zeros=())}, "reasons"),
        ({"proof": replace(E_.proof, weights=(1.0, 2.0))}, "proof.weights"),
    ],
)
def test_a_claim_that_does_not_fit_is_named(change: dict[str, Any], field: str) -> None:
    assert E_.size == 2
    found = problems(replace(E_, **change))
    assert any(problem.startswith(field) for problem in found), found


def test_some_of_the_reasons_of_the_proof_may_be_listed() -> None:
    assert len(E_.reasons) == 2
    for some in (E_.reasons, E_.reasons[:1], E_.reasons[1:], ()):
        assert not problems(replace(E_, reasons=some))
    assert problems(replace(E_, reasons=(E_.reasons[0], E_.reasons[0])))
    twice = replace(E_.proof, zeros=(*E_.proof.zeros, E_.proof.zeros[0]))
    assert problems(replace(E_, proof=twice, reasons=()))


def test_a_proof_that_leaves_another_answer_open_proves_nothing() -> None:
    open_ = replace(E_, proof=Proof(2, (0b01,), (0b11,)), reasons=(("debt",),))
    assert problems(open_) == ["proof: its zeros and ones leave another answer open"]


def test_a_check_that_runs_out_of_steps_is_not_decided() -> None:
    for check in (check_shape, check_claims, check_proof):
        with pytest.raises(NotDecided, match="not decided in 0 steps"):
            check(E_, Findings(), StepBudget(0))
