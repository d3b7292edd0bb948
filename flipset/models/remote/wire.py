"""Protocols of endpoints: what a request contains, and where in the answer the scores are.

A `Wire` is two functions, so another protocol takes a few lines:

>>> def write(columns, rows):
...     return {"cases": [{c.name: cell for c, cell in zip(columns, row)} for row in rows]}
>>> def read(answer):
...     return [case["probability"] for case in answer["cases"]]
>>> ours = Wire(write, read)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from flipset.errors import InputError
from flipset.models.remote.address import shown
from flipset.models.remote.faults import Malformed

Rows: TypeAlias = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows sent: its name, and what it holds: "bool", "int", "float" or "text"."""

    name: str
    kind: str


def _nothing(_: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Wire:
    """A protocol.

    Attributes
    ----------
    write
        Takes the columns and the rows, with plain values (None for a missing one); returns what is sent as JSON.
    read
        Takes the JSON of the answer; returns one number, or one list of numbers, for each row. If it raises, the answer
        counts as malformed.
    about
        Takes the address; returns another one at which a GET lists the versions of the model, or None.
    version
        Takes the JSON of an answer; returns the version of the model that gave it, or None if it does not say.
    """

    write: Callable[[Sequence[Column], Rows], Any]
    read: Callable[[Any], Any]
    about: Callable[[str], str | None] = _nothing
    version: Callable[[Any], str | None] = _nothing


def wire_for(url: str, output: str | None = None) -> Wire:
    """Return the protocol of an address, by how the address ends."""
    path = urlsplit(url).path.rstrip("/")
    if path.endswith("/infer"):
        return open_inference(output)
    if path.endswith("/invocations"):
        return mlflow()
    raise InputError(
        f"{shown(url)} is not an address of a known kind: expected .../v2/models/NAME/infer (Open Inference "
        "Protocol) or "
        ".../invocations (MLflow); for another protocol give Endpoint(url, wire=Wire(write, read))"
    )


# --- MLflow -----------------------------------------------------------------------------------------------------------


def mlflow() -> Wire:
    """Return the protocol of MLflow's scoring servers, `/invocations`."""
    return Wire(_write_split, _read_predictions)


def _write_split(columns: Sequence[Column], rows: Rows) -> dict[str, Any]:
    return {"dataframe_split": {"columns": [column.name for column in columns], "data": [list(row) for row in rows]}}


def _read_predictions(answer: Any) -> list[Any]:
    # Before MLflow 2, the answer was a bare list.
    predictions = answer.get("predictions") if isinstance(answer, Mapping) else answer
    if not isinstance(predictions, list):
        raise Malformed(f"expected predictions, a list, got {_kind(answer)}")
    # A model that returns a frame answers with one mapping for each row.
    return [list(one.values()) if isinstance(one, Mapping) else one for one in predictions]


# --- Open Inference Protocol ------------------------------------------------------------------------------------------


def open_inference(output: str | None = None) -> Wire:
    """Return version 2 of the Open Inference Protocol, `/v2/models/NAME/infer`.

    A table of numbers is sent as one tensor of doubles, with null for missing values. Any other table is sent as one
    tensor for each column. `output` names the output that is the score; it may be left out if there is only one.
    """
    return Wire(partial(_write_tensors, output), partial(_read_tensor, output), _metadata, _version)


def _metadata(url: str) -> str:
    return url.partition("?")[0].rstrip("/").removesuffix("/infer")


def _version(answer: Any) -> str | None:
    version = answer.get("model_version") if isinstance(answer, Mapping) else None
    return None if version is None else str(version)


DATATYPES = {"bool": "BOOL", "int": "INT64", "float": "FP64", "text": "BYTES"}


def _write_tensors(output: str | None, columns: Sequence[Column], rows: Rows) -> dict[str, Any]:
    body: dict[str, Any] = {}
    # Tensors hold one type. With text among the columns, each column is a tensor, which "pd" turns into a frame.
    if all(column.kind != "text" for column in columns):
        shape = [len(rows), len(columns)]
        flat = [_double(cell) for row in rows for cell in row]
        body["inputs"] = [{"name": "rows", "shape": shape, "datatype": "FP64", "data": flat}]
    else:
        body["parameters"] = {"content_type": "pd"}
        cells = zip(*rows, strict=True)
        body["inputs"] = [_column(column, list(part)) for column, part in zip(columns, cells, strict=True)]
    if output is not None:
        body["outputs"] = [{"name": output}]
    return body


def _double(cell: Any) -> float | None:
    if cell is None:
        return None
    number = float(cell)
    if number != cell:  # an integer above 2^53
        raise ValueError(f"{cell!r} is not a double without loss")
    return number


def _column(column: Column, cells: list[Any]) -> dict[str, Any]:
    datatype = DATATYPES[column.kind]
    tensor = {"name": column.name, "shape": [len(cells), 1], "datatype": datatype, "data": cells}
    return tensor | {"parameters": {"content_type": "str"}} if datatype == "BYTES" else tensor


def _read_tensor(output: str | None, answer: Any) -> Any:
    outputs = answer.get("outputs") if isinstance(answer, Mapping) else None
    if not isinstance(outputs, list) or not all(isinstance(one, Mapping) for one in outputs):
        raise Malformed(f"expected outputs, a list of tensors, got {_kind(answer)}")
    candidates = [one for one in outputs if output is None or one.get("name") == output]
    if len(candidates) != 1:
        names = ", ".join(str(one.get("name")) for one in outputs) or "none"
        wanted = "one output, or its name" if output is None else f"an output {output!r}"
        raise Malformed(f"expected {wanted}; the answer has {names}")
    shape, data = candidates[0].get("shape"), candidates[0].get("data")
    if not isinstance(data, list) or not isinstance(shape, list) or not shape:
        raise Malformed("expected an output with a shape and data")
    if len(shape) > 1 and data and not isinstance(data[0], list):  # a flat list, row by row
        width = len(data) // shape[0] if shape[0] else 0
        if not width or width * shape[0] != len(data):
            raise Malformed(f"an output of shape {shape} has {len(data)} numbers")
        return [data[start : start + width] for start in range(0, len(data), width)]
    return data


def _kind(answer: Any) -> str:
    if isinstance(answer, Mapping):
        return f"an object with {', '.join(map(str, answer)) or 'nothing'}"
    return f"{type(answer).__name__}: {str(answer)[:100]}"


def as_json(cell: Any) -> Any:
    """Return a cell that JSON has no type for in a form that it can write."""
    if hasattr(cell, "isoformat"):
        return cell.isoformat()
    if type(cell).__name__ == "Decimal":
        return float(cell)
    raise TypeError(f"a cell of type {type(cell).__name__}")
