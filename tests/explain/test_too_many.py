"""More smallest flip sets than are listed, through every door: one answer, and nothing that takes it for complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space, find_counterfactuals
from flipset.explain.request import VALUE_QUERIES, Request
from flipset.flipset_check import main

if TYPE_CHECKING:
    from pathlib import Path

NAMES = "abcdefgh"
SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=4) for name in NAMES])
WEIGHTS = np.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3, 1.0, 0.7])


def score(rows: Any) -> Any:
    return np.asarray(rows, dtype=float) @ WEIGHTS


def explainer(threshold: float = 13.0) -> Explainer:
    return Explainer(score, SPACE, threshold=threshold)


ROW = [0] * 8


def answer(e: Explanation) -> tuple[Any, ...]:
    return e.status, e.size, e.flipsets, e.reasons, [(one.flipset, one.cost) for one in e.counterfactuals]


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("threshold", [4.0, 7.0, 13.0])  # one, two and three changes
def test_one_answer_for_batches_tables_and_workers(most: int, threshold: float) -> None:
    one = explainer(threshold)
    full = one.explain(ROW, max_flipsets=None)
    e = one.explain(ROW, max_flipsets=most)
    assert len(full.flipsets) > most
    assert full.status == "optimal"
    assert full.listed_all
    assert (e.status, e.size, len(e.flipsets), e.listed_all) == ("incomplete", full.size, most, False)
    assert {*e.flipsets} < {*full.flipsets}
    others = [one.explain(ROW, max_flipsets=most, batch=batch) for batch in (1, 8, 64)]
    others += [one.explain(ROW, max_flipsets=most, max_seconds=3600, max_queries=10**6)]
    others += one.explain_table([ROW, [1] + [0] * 7], max_flipsets=most)[:1]
    assert {str(answer(other)) for other in others} == {str(answer(e))}


def test_the_strongest_features_are_listed() -> None:
    assert explainer(4.0).explain(ROW, max_flipsets=2).flipsets == (("b",), ("f",))


def test_exactly_as_many_as_are_listed_is_complete() -> None:
    n = len(explainer().explain(ROW, max_flipsets=None).flipsets)
    assert explainer().explain(ROW, max_flipsets=n).status == "optimal"
    assert explainer().explain(ROW, max_flipsets=n - 1).status == "incomplete"


def test_json_verify_and_recheck() -> None:
    one = explainer()
    e = one.explain(ROW, max_flipsets=3)
    again = Explanation.from_json(e.to_json())
    assert again == e
    assert not again.listed_all
    found = one.verify(again)
    assert found
    assert "flipsets" in found.not_checked
    assert one.recheck([again]).results[0].error is None
    relabelled = Explanation.from_json(e.to_json().replace('"incomplete"', '"optimal"'))
    assert not one.verify(relabelled)


def test_the_check_file_does_not_claim_that_the_list_is_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    e = explainer().explain(ROW, max_flipsets=3)
    path = tmp_path / "why.json"
    path.write_text(e.to_json())
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert "NOT ALL" in out
    assert "All smallest" not in out
    path.write_text(e.to_json().replace('"incomplete"', '"optimal"'))
    assert main([str(path)]) == 1


def test_text_says_that_not_all_are_listed() -> None:
    text = str(explainer().explain(ROW, max_flipsets=3))
    assert "there are more than 3 options, and not all are listed" in text.replace("\n", " ")
    assert "there is no other option" not in text.replace("\n", " ")


def test_tables_and_summaries() -> None:
    results = explainer().explain_table([ROW, ROW], max_flipsets=3)
    declined = results.summary().declined
    assert (declined.sizes, declined.sized, declined.statuses["incomplete"]) == ({results[0].size: 2}, 2, 2)
    assert (declined.in_some, declined.costs) == ({}, {}), "options that are not listed may have other features"
    assert list(results.to_frame()["status"]) == ["incomplete"] * 2


def test_twelve_flags_of_which_six_are_needed_end_by_themselves() -> None:
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(12)])
    model = Explainer(lambda rows: np.asarray(rows).sum(axis=1) >= 6, space)
    e = model.explain([0] * 12, reasons="all")
    assert (e.status, e.size, len(e.flipsets), len(e.reasons)) == ("incomplete", 6, 500, 100)
    assert len(e.proof.zeros) == 792  # every five flags are a zero that nothing can be added to
    assert model.verify(e)


def test_plain_arrays() -> None:
    result = find_counterfactuals(score, ROW, [0] * 8, [4] * 8, directions=[+1] * 8, threshold=13.0, max_flipsets=3)
    assert result.status == "incomplete"
    assert len(result.rows) == 3
    assert result.verify(score)


def test_values_of_many_share_their_queries() -> None:
    request = Request(batch=32)
    assert request.value_queries_for(500, listed_all=False) == 40
    assert request.value_queries_for(3, listed_all=False) == VALUE_QUERIES
    assert request.value_queries_for(500, listed_all=True) == VALUE_QUERIES
    assert Request(batch=32, value_queries=None).value_queries_for(500, listed_all=False) is None


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="max_flipsets must be a whole number of at least 1, got 0; None lists all"):
        explainer().explain(ROW, max_flipsets=0)
