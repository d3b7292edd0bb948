"""Rechecks as data: what holds, what is counted, and what a table and a file have."""

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from flipset.results.rechecks import (
    COLUMNS,
    FORMAT,
    Recheck,
    RecheckedCounterfactual,
    RecheckSummary,
    dump_recheck,
    recheck_cells,
    recheck_columns,
    summarize_rechecks,
)
from tests.results.examples import explained


def counterfactual(score: float | None, margin: float | None, holds: bool | None) -> RecheckedCounterfactual:
    return RecheckedCounterfactual(("income",), explained().counterfactuals[0].changes, 6.0, score, margin, holds)


def recheck(row: int, **more: Any) -> Recheck:
    before = {"decision_before": False, "score_before": 0.0, "threshold_before": 0.5}
    now = {"decision": False, "score": 0.1, "proof_holds": True, "size_holds": True}
    return Recheck(row=row, threshold=0.5, **(before | now | more))


KEPT = recheck(0, counterfactuals=(counterfactual(0.9, 0.4, True), counterfactual(0.6, 0.1, True)), queries=4)
OUTDATED = recheck(1, counterfactuals=(counterfactual(0.6, 0.1, True),), proof_holds=False, changed_zeros=(("debt",),))
BROKEN = recheck(2, counterfactuals=(counterfactual(0.9, 0.4, True), counterfactual(0.4, -0.1, False)))
CHANGED = recheck(3, decision=True, score=0.7, counterfactuals=(counterfactual(None, None, None),), proof_holds=None)
FAILED = Recheck(row=4, threshold=0.5, error="cannot be read")
APPROVED = recheck(
    5, decision_before=True, decision=True, score=0.9, counterfactuals=(counterfactual(0.6, -0.1, False),)
)
BARRED = replace(KEPT, counterfactuals=(replace(KEPT.counterfactuals[0], not_allowed="income is held fixed"),))
ALL = [KEPT, OUTDATED, BROKEN, CHANGED, FAILED]


def test_a_promise_holds_where_the_decision_and_every_counterfactual_do() -> None:
    assert [one.holds for one in ALL] == [True, True, False, False, False]
    assert [one.needs_new_letter for one in ALL] == [False, False, True, True, False]
    assert [one.is_checked for one in ALL] == [True, True, True, True, False]
    assert [len(one.broken) for one in ALL] == [0, 0, 1, 0, 0]
    assert [one.least_margin for one in ALL] == [0.1, 0.1, -0.1, None, None]


def test_an_approved_row_that_is_still_approved_needs_no_letter() -> None:
    assert not APPROVED.holds
    assert APPROVED.is_out_of_date
    assert not APPROVED.needs_new_letter
    lost = replace(APPROVED, decision=False)
    assert lost.needs_new_letter
    assert not lost.is_out_of_date
    summary = summarize_rechecks([KEPT, APPROVED, lost])
    assert (summary.hold, summary.new_letters, summary.out_of_date) == (1, 1, 1)


def test_what_the_space_no_longer_allows_is_counted() -> None:
    assert BARRED.holds
    assert BARRED.needs_attention
    assert [one.not_allowed for one in BARRED.disallowed] == ["income is held fixed"]
    summary = summarize_rechecks([KEPT, replace(BARRED, same_moves=False), replace(KEPT, basis="proved")])
    assert (summary.disallowed, summary.disallowed_rows, summary.other_moves) == (1, 1, 1)
    assert summary.bases == {"proved": 1}
    cells = recheck_columns([BARRED])
    assert (cells["disallowed"], cells["disallowed_why"]) == ([1], ["income is held fixed"])
    assert dump_recheck(BARRED)["counterfactuals"][0]["not_allowed"] == "income is held fixed"
    assert dump_recheck(KEPT)["counterfactuals"][0]["not_allowed"] is None


def test_a_recheck_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        KEPT.decision = True  # type: ignore[misc]


def test_the_summary_counts_each_row_once() -> None:
    repaired = replace(BROKEN, repaired=explained(), threshold_before=0.4)
    unrepaired = replace(OUTDATED, error="not repaired: too many")
    assert summarize_rechecks([KEPT, unrepaired, repaired, CHANGED, FAILED]) == RecheckSummary(
        rows=5,
        errors=1,
        hold=2,
        new_letters=2,
        decisions_changed=1,
        not_proved=1,
        counterfactuals=5,
        broken=1,
        other_thresholds=1,
        threshold=0.5,
        repaired=1,
        not_repaired=1,
    )
    assert summarize_rechecks([]) == RecheckSummary()


def test_a_table_has_a_line_for_each() -> None:
    columns = recheck_columns([*ALL, replace(BROKEN, repaired=explained())])
    assert tuple(columns) == COLUMNS
    assert columns["holds"] == [True, True, False, False, None, False]
    assert columns["broken"] == [0, 0, 1, 0, None, 1]
    assert columns["broken_flipsets"][2] == "income"
    assert columns["changed_zeros"] == ["", "debt", "", "", "", ""]
    assert columns["error"] == [None, None, None, None, "cannot be read", None]
    assert columns["repaired"] == [False] * 5 + [True]
    assert columns["new_flipsets"][5] == "income, debt"
    assert columns["new_advice"][5] == str(explained().counterfactuals[0])
    assert [len(recheck_cells(one)) for one in ALL] == [len(COLUMNS)] * 5


def test_json_has_everything() -> None:
    infinite = replace(BROKEN, score=float("-inf"), repaired=explained())
    data = json.loads(json.dumps(dump_recheck(infinite), allow_nan=False))
    assert (data["format"], data["score"], data["holds"], data["needs_new_letter"]) == (FORMAT, "-inf", False, True)
    assert [one["holds"] for one in data["counterfactuals"]] == [True, False]
    assert data["counterfactuals"][1]["changes"] == [str(change) for change in infinite.broken[0].changes]
    assert data["repaired"] == json.loads(explained().to_json())
    assert dump_recheck(FAILED)["holds"] is None
