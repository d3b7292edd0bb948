"""What a request says, and where in the answer the scores are."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from flipset import InputError
from flipset.models.remote.faults import Malformed
from flipset.models.remote.wire import Column, as_json, mlflow, open_inference, wire_for

NUMBERS = [Column("a", "float"), Column("b", "int")]
MIXED = [Column("a", "float"), Column("kind", "text")]


def test_the_address_says_which_protocol_it_is() -> None:
    assert wire_for("http://a/v2/models/loans/infer/").about("http://a/v2/models/loans/infer?x=1") is not None
    assert wire_for("http://a/invocations").about("http://a/invocations") is None
    with pytest.raises(InputError, match="http://a/score is not an address of a known kind"):
        wire_for("http://a/score?key=secret")


def test_mlflow_is_a_frame_by_columns_and_rows() -> None:
    wire = mlflow()
    assert wire.write(MIXED, [[1.0, "x"], [None, "y"]]) == {
        "dataframe_split": {"columns": ["a", "kind"], "data": [[1.0, "x"], [None, "y"]]}
    }
    assert wire.read({"predictions": [0.1, 0.9]}) == [0.1, 0.9]
    assert wire.read([0.1]) == [0.1]
    assert wire.read({"predictions": [{"0": 0.9, "1": 0.1}]}) == [[0.9, 0.1]]
    for answer in ({}, {"predictions": 3}, "text"):
        with pytest.raises(Malformed, match="expected predictions"):
            wire.read(answer)


def test_a_table_of_numbers_is_one_tensor_and_any_other_one_for_each_column() -> None:
    wire = open_inference()
    (tensor,) = wire.write(NUMBERS, [[1.5, 2], [None, 3]])["inputs"]
    assert (tensor["shape"], tensor["datatype"], tensor["data"]) == ([2, 2], "FP64", [1.5, 2.0, None, 3.0])
    tensors = wire.write(MIXED, [[1.5, "x"], [None, "y"]])["inputs"]
    assert [(one["name"], one["datatype"], one["data"]) for one in tensors] == [
        ("a", "FP64", [1.5, None]),
        ("kind", "BYTES", ["x", "y"]),
    ]
    with pytest.raises(ValueError, match="not a double without loss"):
        wire.write(NUMBERS, [[2**53 + 1, 0]])


def outputs(*tensors: Any) -> dict[str, Any]:
    return {"model_version": 3, "outputs": list(tensors)}


def test_scores_are_one_output_flat_or_in_rows() -> None:
    wire = open_inference()
    assert wire.read(outputs({"name": "p", "shape": [2], "data": [0.1, 0.9]})) == [0.1, 0.9]
    assert wire.read(outputs({"name": "p", "shape": [2, 2], "data": [1, 2, 3, 4]})) == [[1, 2], [3, 4]]
    assert wire.read(outputs({"name": "p", "shape": [1, 2], "data": [[1, 2]]})) == [[1, 2]]
    assert wire.version(outputs()) == "3"
    assert wire.version([]) is None


def test_of_several_outputs_one_is_named() -> None:
    both = outputs({"name": "p", "shape": [1], "data": [0.1]}, {"name": "q", "shape": [1], "data": [0.2]})
    assert open_inference("q").read(both) == [0.2]
    assert open_inference("q").write(NUMBERS, [[1.0, 2]])["outputs"] == [{"name": "q"}]
    with pytest.raises(Malformed, match="expected one output, or its name; the answer has p, q"):
        open_inference().read(both)
    with pytest.raises(Malformed, match="expected an output 'r'"):
        open_inference("r").read(both)


@pytest.mark.parametrize(
    "answer",
    [{}, [], {"outputs": [1]}, outputs({"name": "p"}), outputs({"name": "p", "shape": [2, 2], "data": [1, 2, 3]})],
)
def test_answers_of_another_shape_are_malformed(answer: Any) -> None:
    with pytest.raises(Malformed):
        open_inference().read(answer)


def test_cells_that_json_does_not_know() -> None:
    assert as_json(date(2026, 1, 31)) == "2026-01-31"
    assert as_json(Decimal("1.5")) == 1.5
    with pytest.raises(TypeError, match="a cell of type object"):
        as_json(object())
