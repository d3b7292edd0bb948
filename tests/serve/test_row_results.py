"""What the page keeps of results: enough to show and to count them, and no row half known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import BudgetExhausted
from flipset.serve.row_results import STATUSES, RowResults

FRAME = pd.DataFrame({0: [1, 2, 3], "debt": [5.0, np.nan, 7.0], "region": ["north", None, "south"]}, index=[9, 9, 4])


@dataclass(frozen=True)
class Told:
    """What is read off an explanation."""

    score: float = 0.25
    size: float | None = 2.0
    flipsets: tuple[tuple[str, ...], ...] = (("0", "debt"), ("debt", "region"))
    reasons: tuple[tuple[str, ...], ...] = (("0",), ("region",))
    status: str = "optimal"


def results() -> RowResults:
    return RowResults(FRAME, ["0", "debt", "region"], threshold=0.5)


def test_rows_are_numbered_from_the_top_and_columns_are_called_by_texts() -> None:
    known = results()
    assert known.columns == ["0", "debt", "region"]
    assert known.frame.index.tolist() == [0, 1, 2]
    assert len(known) == 3


def test_nothing_is_known_at_first() -> None:
    known = results()
    assert known.have("waiting").all()
    assert not known.known.any()
    assert known.waiting(np.array([2, 0])).tolist() == [2, 0]
    assert [row["decision"] for row in known.shown(np.arange(3))] == [None] * 3


def test_a_result_is_kept_by_where_its_features_stand() -> None:
    known = results()
    known.note(1, Told())  # type: ignore[arg-type]
    assert known.parts["some"][1].tolist() == [True, True, True]
    assert known.parts["all"][1].tolist() == [False, True, False]
    assert known.parts["reason"][1].tolist() == [True, False, True]
    assert known.known.tolist() == [False, True, False]
    assert known.waiting(np.arange(3)).tolist() == [0, 2]


def test_no_flip_set_has_every_feature() -> None:
    known = results()
    known.note(0, Told(size=None, flipsets=(), status="none"))  # type: ignore[arg-type]
    assert not known.parts["all"][0].any()
    assert np.isnan(known.sizes[0])
    assert known.have("none").tolist() == [True, False, False]


def test_an_error_is_a_result() -> None:
    known = results()
    known.note(2, BudgetExhausted("4 queries"))
    assert known.known[2]
    (shown,) = known.shown(np.array([2]))
    assert (shown["status"], shown["error"], shown["score"]) == ("error", "the budget of 4 queries ran out", None)


@pytest.mark.parametrize(("score", "decision"), [(0.49, False), (0.5, True)])
def test_rows_are_shown_with_plain_cells(score: float, decision: bool) -> None:
    known = results()
    known.note(1, Told(score=score))  # type: ignore[arg-type]
    assert known.shown(np.array([1])) == [
        {
            "row": 1,
            "cells": [2, None, None],
            "score": score,
            "decision": decision,
            "status": "optimal",
            "size": 2.0,
            "error": "",
        }
    ]


def test_a_row_is_known_only_when_it_is_complete() -> None:
    """The thread that explains writes while others read: the status is written after all that it vouches for."""
    known = results()
    broken: Any = Told(reasons=(("no such feature",),))
    with pytest.raises(KeyError):
        known.note(0, broken)
    assert STATUSES[known.status[0]] == "waiting"
