"""Tidy tables: one line for each option, and one for each change."""

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.results.tidy import CHANGES, OPTIONS, change_rows, option_rows
from flipset.space.words import Decision
from tests.results.examples import EXPLAINER
from tests.ruled import ROW, ruled_explainer, table

MIXED = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=9, label="yearly income"),
        Feature("home", "categorical", options=("flat", "house")),
        Feature("owner", "binary", direction=+1),
    ]
)


def score(rows: Any) -> list[float]:
    return [(row[0] + 4 * (row[1] == "house") + 4 * bool(row[2])) / 10 for row in rows]


def lines(kind: Any, names: tuple[str, ...], results: Any) -> list[dict[str, Any]]:
    return [dict(zip(names, line, strict=True)) for line in kind(results)]


def test_options_are_numbered_by_row_and_cheapest_first() -> None:
    results: list[Any] = [EXPLAINER.explain([4, 5, 50]), InputError("no"), EXPLAINER.explain([3, 4, 50])]
    options = lines(option_rows, OPTIONS, results)
    assert [(one["row"], one["option"]) for one in options] == [
        (i, n + 1) for i in (0, 2) for n in range(len(results[i].counterfactuals))
    ]
    first = results[0].counterfactuals[0]
    assert (options[0]["cost"], options[0]["score"], options[0]["text"]) == (first.cost, first.score, str(first))
    assert options[0]["changes"] == len(first.flipset)
    assert {one["leads_to"] for one in options} == {"approved"}


def test_changes_have_texts_numbers_labels_and_costs_that_add_up() -> None:
    e = Explainer(score, MIXED, threshold=0.6).explain([1, "flat", False])
    changes = lines(change_rows, CHANGES, [e])
    assert len(changes) == sum(len(one.changes) for one in e.counterfactuals)
    for n, one in enumerate(e.counterfactuals, start=1):
        own = [change for change in changes if change["option"] == n]
        assert sum(change["cost"] for change in own) == pytest.approx(one.cost)
        assert [change["text"] for change in own] == list(map(str, one.changes))
    by_name = {change["feature"]: change for change in changes}
    assert by_name["income"]["label"] == "yearly income"
    assert (by_name["income"]["before"], by_name["income"]["before_number"]) == ("1", 1.0)
    if "home" in by_name:
        assert (by_name["home"]["after"], by_name["home"]["after_number"]) == ("house", None)


def test_an_approved_row_leads_to_the_other_outcome() -> None:
    space = Space(MIXED.features, decision=Decision(0.6, outcomes=("rejected", "accepted")))
    e = Explainer(score, space).explain([9, "house", True])
    assert {one["leads_to"] for one in lines(option_rows, OPTIONS, [e])} <= {"rejected"}


def test_values_of_any_type_are_texts() -> None:
    from flipset.results.tidy import _number, _text

    assert [_text(one) for one in (1.5, 2.0, True, "00123", None, date(2026, 1, 31))] == [
        "1.5", "2", "True", "00123", None, "2026-01-31",
    ]  # fmt: skip
    assert [_number(one) for one in (1.5, 2, True, "7", None)] == [1.5, 2.0, 1.0, None, None]


def test_computed_columns_have_lines_that_cost_nothing() -> None:
    e = ruled_explainer().explain(ROW)
    changes = [one for one in lines(change_rows, CHANGES, [e]) if one["option"] == 1]
    assert [(one["feature"], one["how"], one["cost"]) for one in changes] == [
        ("debt", "at most", e.counterfactuals[0].cost),
        ("dti", "follows", 0.0),
    ]
    assert (changes[1]["label"], changes[1]["before"], changes[1]["after_number"]) == (
        "debt-to-income ratio", "0.75", e.counterfactuals[0].row["dti"],
    )  # fmt: skip
    assert changes[1]["text"] == "debt-to-income ratio: 0.75 → 0"


@pytest.mark.parametrize("name", ["changes.csv", "changes.parquet"])
def test_files_have_these_lines(tmp_path: Path, name: str) -> None:
    results = ruled_explainer().explain_table(table())
    results.write(tmp_path / name, shape="changes")
    frame = pd.read_csv(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    assert list(frame["how"]) == list(results.changes()["how"])
    assert set(frame.loc[frame["how"] == "follows", "feature"]) == {"dti", "age"}
