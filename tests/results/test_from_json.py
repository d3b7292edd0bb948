"""Explanations read from JSON: cells keep their types, and what is malformed is named by its path."""

import json
from datetime import date, datetime
from decimal import Decimal
from math import inf, isnan, nan
from typing import Any

import pytest

from flipset import InputError
from flipset.results.data import ExplanationData
from flipset.results.from_json import OPTIONAL, REQUIRED, load
from flipset.results.to_json import dump, write_value
from tests.results.examples import data_of, explained
from tests.spaces import draw_case


def again(data: dict[str, Any]) -> ExplanationData:
    return ExplanationData(**load(json.dumps(data)))


def test_what_is_written_is_read_again() -> None:
    from flipset import Explainer

    for seed in range(40):
        case = draw_case(seed, margins=seed % 2 == 0)
        e = data_of(Explainer(case.predict, case.space, cost=case.cost).explain(case.row))
        assert again(dump(e)) == e
        assert dump(again(dump(e))) == dump(e)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2**60, 0.5, -0.0, "text", inf, -inf, date(2026, 1, 31), datetime(2026, 1, 31, 12, 5, 6, 7),
     Decimal("1.50"), Decimal("Infinity")],
)  # fmt: skip
def test_cells_keep_their_values_and_types(value: Any) -> None:
    data = dump(explained())
    data["row"]["age"] = json.loads(json.dumps(write_value("age", value)))
    for one in data["counterfactuals"]:
        one["row"]["age"] = data["row"]["age"]
    found = again(data).row["age"]
    assert found == value
    assert type(found) is type(value)
    assert str(found) == str(value)


def test_nan_is_a_cell_too() -> None:
    assert write_value("a", nan) == {"float": "nan"}
    data = dump(explained())
    data["row"]["age"] = {"float": "nan"}
    for one in data["counterfactuals"]:
        one["row"]["age"] = {"float": "nan"}
    assert isnan(again(data).row["age"])


def change(path: str, value: Any) -> Any:
    def changed(data: dict[str, Any]) -> None:
        *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        at: Any = data
        for part in parts:
            at = at[part]
        at[last] = value

    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("decision", 1, "decision must be true or false"),
        ("status", "sure", "status must be one of"),
        ("threshold", "x", "threshold must be a number"),
        ("queries", -1, "queries must be a whole number of at least 0"),
        ("flipsets.0", ["income", "income"], r"flipsets\[0\]\[1\] must be different from the entries before it"),
        ("counterfactuals.0.changes.0.how", "up", r"counterfactuals\[0\].changes\[0\].how must be one of"),
        ("counterfactuals.0.cost", -1, r"counterfactuals\[0\].cost must be a number of at least 0"),
        ("moves.0.columns", ["elsewhere"], r"moves\[0\].columns\[0\] must be a column of the row"),
        ("moves.0.options", [], r"moves\[0\].options must be a list of one option"),
        ("moves.0.weight", 0, r"moves\[0\].weight must be a positive number"),
        ("row.age", {"float": "much"}, "must be a cell"),
        ("row", {}, "row must have columns"),
        ("grids.income", 3, "must be a string"),
        ("further", 1, "has 'further', which is not one of its fields"),
    ],
)
def test_what_is_malformed_is_named_by_its_path(path: str, value: Any, message: str) -> None:
    data = dump(explained())
    change(path, value)(data)
    with pytest.raises(InputError, match=message):
        load(json.dumps(data))


@pytest.mark.parametrize("name", REQUIRED)
def test_every_field_is_needed_but_those_that_came_later(name: str) -> None:
    data = dump(explained())
    del data[name]
    with pytest.raises(InputError):
        load(json.dumps(data))


def test_files_without_later_fields_are_read() -> None:
    data = dump(explained())
    for name in OPTIONAL:
        data.pop(name, None)
    assert (again(data).max_changes, again(data).objective) == (None, None)
