"""Spaces that commands are given: every error names the thing and what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Feature, InputError, Space
from flipset.cli.options import SpaceOptions
from flipset.cli.space_inputs import columns_of, make_space, read_space

FRAME = pd.DataFrame({"id": [7, 8, 9], "a": [1.0, 2.0, 3.0], "b": [0, 5, 9]})


def score(rows: Any) -> Any:
    return np.asarray(rows, dtype=float)[:, 0]


def test_a_space_is_read_off_model_data_and_options() -> None:
    what = SpaceOptions(increasing=["a"], decreasing=["b"], drop=["id"], bounds=["a=0:9"], step=["b=2"], fix=["b"])
    space = make_space(score, FRAME, None, what)
    assert space.names == ("a", "b")
    assert (space.features[0].lower, space.features[0].upper) == (0, 9)
    assert (space.features[1].fixed, space.features[1].step) == (True, 2)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({}, "no directions are known"),
        ({"increasing": ["a"], "decreasing": ["a"]}, "'a' is in --increasing and in --decreasing"),
        ({"increasing": ["a"], "bounds": ["a=3"]}, "expected a=LOWER:UPPER"),
        ({"increasing": ["a"], "drop": ["c"]}, "no column 'c', which --drop names"),
        ({"increasing": ["a"], "quantiles": "0.1"}, "expected LOWER:UPPER"),
    ],
)
def test_what_cannot_be_a_space_is_said(what: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_space(score, FRAME, None, SpaceOptions(**what))


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_a_space_is_read_from_a_file_by_its_ending(ending: str, tmp_path: Path) -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
    path = tmp_path / f"space{ending}"
    path.write_text(space.to_json() if ending == ".json" else space.to_toml())
    assert read_space(path).features == space.features
    with pytest.raises(InputError, match="cannot be read"):
        read_space(tmp_path / "none.toml")


def test_columns_are_taken_in_the_order_they_are_asked_for() -> None:
    assert list(columns_of(FRAME, ["b", "a"], "somebody wants").columns) == ["b", "a"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"step": ["a=5"]}, "--step .*: put step = ... in the space file"),
        ({"increasing": ["a"]}, "--increasing .*: put direction = 1 in the space file"),
        ({"decreasing": ["a"]}, "--decreasing .*: put direction = -1 in the space file"),
        ({"categorical": ["a"]}, "--categorical .*: put kind"),
        ({"special": ["a=-9"]}, "--special .*: put special"),
        ({"only_rising": ["a"]}, "--only-rising .*: put may_fall = false"),
        ({"only_falling": ["a"]}, "--only-falling .*: put may_rise = false"),
        ({"quantiles": "0.1:0.9"}, "--quantiles .*: put lower"),
    ],
)
def test_options_that_a_space_file_would_silence_are_refused(
    options: dict[str, Any], line: str, tmp_path: Path
) -> None:
    file = tmp_path / "space.toml"
    file.write_text(Space([Feature("a", direction=+1, lower=0, upper=9)]).to_toml(), encoding="utf-8")
    with pytest.raises(InputError, match=line):
        make_space(score, FRAME, None, SpaceOptions(space=file, **options))
