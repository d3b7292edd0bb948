"""Many explanations as columns and summaries, from their data alone; `Explanations` has the same, as methods."""

import pytest

from flipset import Explanations, InputError
from flipset.results.frames import frame_of
from flipset.results.table import Results, long_columns, summarize, summarize_by, wide_columns, wide_names
from flipset.show.plots import SummaryDisplay
from flipset.show.report import report_table, table_html
from tests.results.examples import SPACE, data_of, explained

HELD = (explained(4, 5), InputError("this row cannot be read"), explained(9, 5), explained(9, 0))
DATA: Results = [one if isinstance(one, InputError) else data_of(one) for one in HELD]
TABLE = Explanations(HELD, SPACE.names, 0, 0)


def test_columns_are_of_the_data() -> None:
    wide = wide_columns(DATA, SPACE.names)
    assert tuple(wide) == wide_names(SPACE.names)
    assert wide == TABLE.to_dict()
    assert wide["error"] == [None, "this row cannot be read", None, None]
    assert wide["decision"] == [False, None, False, True]
    long = long_columns(DATA, SPACE.names)
    assert long == TABLE.to_long_dict()
    assert long["row"] == sorted(long["row"])
    assert 1 not in long["row"]


def test_new_values_are_those_asked_for() -> None:
    wide = wide_columns(DATA, ["debt"])
    assert [name for name in wide if name.startswith("new_")] == ["new_debt"]
    assert wide["new_debt"] == TABLE.to_dict()["new_debt"]
    assert wide_columns(DATA, ())["advice"] == TABLE.to_dict()["advice"]


def test_summaries_are_of_the_data() -> None:
    assert summarize(DATA) == TABLE.summary()
    assert (summarize(DATA).rows, summarize(DATA).errors) == (4, 1)
    assert (summarize(DATA).declined.rows, summarize(DATA).approved.rows) == (2, 1)
    groups = summarize_by(DATA, ["b", "b", "a", "a"])
    assert groups == TABLE.summary_by(["b", "b", "a", "a"])
    assert list(groups) == ["a", "b"]
    with pytest.raises(InputError, match="groups must have one value for each row: 4, got 1"):
        summarize_by(DATA, ["a"])


def test_no_rows_are_a_table_too() -> None:
    assert wide_columns([], ["x"]) == {name: [] for name in wide_names(["x"])}
    assert summarize([]).rows == 0
    assert summarize_by([], []) == {}


def test_people_are_shown_the_data() -> None:
    assert list(table_html(DATA)) == list(table_html(TABLE))
    said = {"asked": "loans", "model": "approve", "identity": "none"}
    assert report_table(DATA, **said) == report_table(TABLE, **said)  # type: ignore[arg-type]
    assert SummaryDisplay.from_explanations(DATA) == SummaryDisplay.from_explanations(TABLE)


def test_gaps_change_no_types() -> None:
    frame = frame_of({"decision": [True, None], "size": [None, None], "cost": [0.5, None]})
    assert [str(kind) for kind in frame.dtypes] == ["boolean", "Int64", "float64"]
