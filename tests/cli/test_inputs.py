"""What commands are given: every error names the thing and what to do."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import InputError
from flipset.cli.inputs import (
    endpoint_settings,
    fingerprint,
    given,
    open_model,
    positive_of,
    read_data,
)
from flipset.cli.options import EndpointOptions, ModelOptions

FRAME = pd.DataFrame({"id": [7, 8, 9], "a": [1.0, 2.0, 3.0], "b": [0, 5, 9]})


def score(rows: Any) -> Any:
    return np.asarray(rows, dtype=float)[:, 0]


@pytest.mark.parametrize(
    ("model", "data", "url", "expected"),
    [
        ("m.onnx", "d.csv", None, ("m.onnx", "d.csv")),
        ("d.csv", None, "http://a/invocations", ("http://a/invocations", "d.csv")),
    ],
)
def test_a_model_and_data_are_named_once(model: str, data: str | None, url: str | None, expected: Any) -> None:
    assert given(model, data, ModelOptions(endpoint=EndpointOptions(url=url))) == expected


@pytest.mark.parametrize(
    ("model", "data", "url", "message"),
    [
        ("m.onnx", "d.csv", "http://a/x", "give the model once"),
        ("d.csv", None, "a/invocations", "expected http://"),
        ("m.onnx", None, None, "give a model and a table"),
        (None, None, None, "give a model and a table"),
    ],
)
def test_what_is_not_named_or_twice_is_said(model: Any, data: Any, url: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        given(model, data, ModelOptions(endpoint=EndpointOptions(url=url)))


def test_a_model_is_imported_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_for_inputs.py").write_text(
        "class Box:\n    @staticmethod\n    def score(rows): return [1.0] * len(rows)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    model = open_model("python:mine_for_inputs:Box.score", ModelOptions())
    assert model([0, 0]) == [1.0, 1.0]
    for spec, message in (
        ("python:mine_for_inputs", "expected python:package.module:object"),
        ("python:mine_for_inputs:none", "cannot be imported"),
        ("python:no_such_module:f", "cannot be imported"),
    ):
        with pytest.raises(InputError, match=message):
            open_model(spec, ModelOptions())
    with pytest.raises(InputError, match="--rate is an option for endpoints"):
        open_model("python:mine_for_inputs:Box.score", ModelOptions(endpoint=EndpointOptions(rate=3)))


def test_settings_of_an_endpoint_are_those_that_were_said() -> None:
    options = EndpointOptions(url="http://a/invocations", output_name="p", rate=2.5, header_env=["X-Key=MY_KEY"])
    settings = endpoint_settings(options)
    headers = settings.pop("headers")
    assert settings == {"output": "p", "rate": 2.5}
    assert headers.variables == {"X-Key": "MY_KEY"}
    with pytest.raises(InputError, match="--header-env X: expected HEADER=VARIABLE"):
        endpoint_settings(EndpointOptions(header_env=["X"]))


class Classifier:
    classes_ = np.array([1, 2])


@pytest.mark.parametrize(
    ("model", "text", "positive"),
    [
        (Classifier(), "2", 2),
        (Classifier(), "x", "x"),
        (score, "1", 1),
        (score, "0.5", 0.5),
        (score, "a", "a"),
        (score, None, None),
    ],
)
def test_a_class_is_of_the_models_kind(model: Any, text: str | None, positive: Any) -> None:
    found = positive_of(model, ModelOptions(positive=text))
    assert found == positive
    assert type(found) is type(positive)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".jsonl", ".feather"])
def test_a_table_is_read_by_its_ending(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"data{ending}"
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    else:
        {
            ".csv": lambda: FRAME.to_csv(path, index=False),
            ".tsv": lambda: FRAME.to_csv(path, index=False, sep="\t"),
            ".parquet": lambda: FRAME.to_parquet(path),
            ".jsonl": lambda: FRAME.to_json(path, orient="records", lines=True),
            ".feather": lambda: FRAME.to_feather(path),
        }[ending]()
    pd.testing.assert_frame_equal(read_data(str(path)), FRAME, check_dtype=False)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.csv", None, "there is no file"),
        ("empty.csv", "a,b\n", "has no rows"),
        ("x.xlsx", "a", r"expected a table ending in \.csv"),
        ("bad.parquet", "x", "cannot be read as a table"),
    ],
)
def test_a_table_that_cannot_be_read_is_named(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_data(str(tmp_path / name))


def test_a_python_model_is_identified_by_its_name_and_the_text_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "identified_model.py"
    module.write_text("def score(rows): return rows[:, 0]\n")
    spec = "python:identified_model:score"
    first = fingerprint(spec, open_model(spec, ModelOptions()))
    assert first.startswith(spec + " ")
    assert fingerprint(spec, score) == first
    module.write_text("def score(rows): return rows[:, 0] * 0.1\n")
    assert fingerprint(spec, score) != first
