"""Replaying an explanation: the scores of the row and of every counterfactual, and the answers of the proof."""

from dataclasses import replace
from typing import Any

import pytest

from tests.results.verifying.test_verifying import SPACE, approve, explained


def verified(model: Any, **changes: Any) -> tuple[str, ...]:
    return replace(explained(), **changes).verify(model, space=SPACE, threshold=0.6).problems


def test_the_same_model_gives_the_same_scores() -> None:
    assert verified(approve) == ()


def test_another_score_of_the_row_is_a_problem() -> None:
    problems = verified(lambda rows: approve(rows) + 0.001)
    assert problems[0].startswith("score: it is 0.1, and the model says 0.101")
    assert any(problem.startswith("counterfactuals[0].score:") for problem in problems)


@pytest.mark.parametrize("which", range(len(explained().counterfactuals)))
def test_a_counterfactual_that_does_not_flip_is_a_problem(which: int) -> None:
    row = tuple(explained().counterfactuals[which].row.values())

    def model(rows: Any) -> Any:
        return [0.0 if tuple(one) == row else score for one, score in zip(rows, approve(rows), strict=True)]

    assert f"counterfactuals[{which}].row: it does not flip the decision" in verified(model)


def test_a_query_of_the_proof_that_is_answered_differently_is_named() -> None:
    zero = explained().moves.rows(explained().proof.zeros[0])[0]
    row = list(explained().row.values())
    for column, value in zero:
        row[column] = value

    def model(rows: Any) -> Any:
        return [1.0 if list(one) == row else score for one, score in zip(rows, approve(rows), strict=True)]

    moved = ", ".join(map(repr, explained().moves.names(explained().proof.zeros[0])))
    assert verified(model) == (
        f"proof: it says that moving {moved} does not flip the decision, and the model's score is 1.0",
    )
