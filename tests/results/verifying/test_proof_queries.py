"""Replaying a proof asks a limited number of rows, in calls of a limited size, and can be stopped between two calls."""

from typing import Any

import numpy as np
import pytest

from flipset.results.verifying import proof_queries
from tests.hostile import hostile_explanation
from tests.results.verifying.test_verifying import SPACE, approve, explained, read


def test_c2_a_proof_of_wide_rows_is_asked_in_small_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each zero is written as a list of one feature, and stands for a row in which all other columns change.
    monkeypatch.setattr(proof_queries, "CELLS_AT_ONCE", 600)
    data = hostile_explanation(200) | {"lower": None, "threshold": 2}
    data["proof"]["zeros_hold"] = [[i] for i in range(200)]
    data["reasons"] = [[f"x{i}"] for i in range(200)]
    calls: list[int] = []

    def model(rows: Any) -> Any:
        calls.append(len(rows))
        return np.zeros(len(rows))

    assert read(data).verify(model)
    assert max(calls) * 200 <= 600
    assert sum(calls) == 201
    with monkeypatch.context() as patch:
        patch.setattr(proof_queries, "MOST_QUERIED_CELLS", 10_000)
        assert "its queries have more than" in read(data).verify(model).not_checked["proof"]
    monkeypatch.setattr(proof_queries, "CELLS_AT_ONCE", 100)
    assert "one of its queries has more than 100 cells" in read(data).verify(model).not_checked["proof"]


def test_c2_a_client_that_leaves_stops_the_check_between_two_calls() -> None:
    calls = 0

    def model(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        return approve(rows)

    found = explained().verify(model, space=SPACE, threshold=0.6, stop=lambda: calls > 0)
    assert calls == 1
    assert found.not_checked["proof"] == "stopped before it was decided"


def test_a_row_is_asked_once_although_it_is_in_two_queries() -> None:
    asked: list[tuple[Any, ...]] = []

    def model(rows: Any) -> Any:
        asked.extend(tuple(row) for row in np.asarray(rows, dtype=object).tolist())
        return approve(rows)

    assert explained().verify(model, space=SPACE, threshold=0.6)
    assert len(asked) == len(set(asked))
