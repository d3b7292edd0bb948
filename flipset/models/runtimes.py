"""Models of runtimes: ONNX Runtime sessions, PyTorch modules and MLflow's pyfunc models."""

from __future__ import annotations

from typing import Any

import numpy as np

from flipset.errors import InputError
from flipset.models.monotone.shown import unread
from flipset.models.scorer import ABOVE_HALF, Scorer, one_score_each

ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.str_,
}


def onnx_session(session: Any, positive: Any) -> Scorer:
    """Return the scorer of an `InferenceSession` with one input for all columns, or one input for each column.

    The score is the last output. By convention, labels come first and probabilities last.
    """
    inputs = session.get_inputs()
    for each in inputs:
        if each.type not in ONNX_TYPES:
            raise InputError(f"input {each.name!r} of the ONNX model has the type {each.type}, which is not a column")
    # Chosen once: a session may have any number of outputs, and all others are not computed.
    output = session.get_outputs()[-1]
    several = len(inputs) > 1

    def predict(rows: Any) -> Any:
        columns = _columns(rows)
        # With several inputs, ONNX takes each column by itself, in its own type.
        if several:
            feed = {each.name: _cast(column[:, None], each) for each, column in zip(inputs, columns, strict=True)}
        else:
            feed = {inputs[0].name: _cast(np.column_stack(columns), inputs[0])}
        (answers,) = session.run([output.name], feed)
        if isinstance(answers, list):  # a dictionary of probabilities for each row
            keys = list(answers[0])
            answers = [[answer[key] for key in keys] for answer in answers]
            return one_score_each(answers, keys.index(positive) if positive in keys else positive)
        return one_score_each(answers, positive)

    names = tuple(each.name for each in inputs) if several else None
    return Scorer(predict, names, {}, ABOVE_HALF, structure=unread("ONNX graphs are not read"))


def _cast(values: Any, wanted: Any) -> Any:
    """Return values in the type of an input; refuse values that the type cannot hold."""
    kind = np.dtype(ONNX_TYPES[wanted.type])
    given = np.ascontiguousarray(values)
    if kind.kind in "iub":
        return _whole(given, kind, wanted.name)
    if kind.kind == "U" and any(cell is None or cell != cell for cell in given.ravel()):
        raise InputError(f"input {wanted.name!r} of the ONNX model takes text, and was to get a missing value")
    return given.astype(kind)


def _whole(given: Any, kind: np.dtype[Any], name: str) -> Any:
    """Return whole numbers in an integer type; refuse numbers that would change."""
    least, most = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    problem = f"input {name!r} of the ONNX model takes whole numbers from {least:,} to {most:,}, and was to get"
    try:
        with np.errstate(invalid="ignore"):  # numbers that do not fit are found below, by converting them back
            made = given.astype(kind)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{problem} {given.ravel().tolist()[:4]!r}") from None
    held = made.astype(given.dtype) == given
    if not held.all():
        raise InputError(f"{problem} {given[~held].tolist()[0]!r}")
    return made


def _columns(rows: Any) -> list[Any]:
    if hasattr(rows, "columns"):
        return [np.asarray(rows[name]) for name in rows.columns]
    return list(np.asarray(rows).T)


def torch_module(module: Any, positive: Any) -> Scorer:
    """Return the scorer of a PyTorch module: the score is its one output, or the one that `positive` names.

    A module does not say whether 0 or 0.5 decides, so the user must set the threshold.
    """
    # Dropout and batch statistics make its answers depend on chance, or on the other rows.
    if module.training:
        raise InputError("the PyTorch module is in training mode, where it may answer at random: call eval() first")

    def predict(rows: Any) -> Any:
        import torch

        # Rows go to the module in the type and on the device of its own parameters.
        like = next(module.parameters(), torch.empty(0))
        table = np.column_stack(_columns(rows)).astype(np.float64)
        with torch.inference_mode():
            answers = module(torch.as_tensor(table, dtype=like.dtype, device=like.device))
        # NumPy has no bfloat16.
        in_numpy = answers.dtype in (torch.float64, torch.float32, torch.float16) or not answers.is_floating_point()
        return one_score_each((answers if in_numpy else answers.double()).cpu().numpy(), positive)

    return Scorer(predict, None, {}, None, structure=unread("PyTorch modules are not read"))


def mlflow_model(model: Any, positive: Any) -> Scorer:
    """Return the scorer of a `pyfunc` model: its `predict` gives labels, scores or probabilities, as it was logged."""
    schema = model.metadata.get_input_schema() if model.metadata is not None else None
    names = tuple(schema.input_names()) if schema is not None and schema.has_input_names() else None
    structure = unread("models of MLflow are not read")

    def predict(rows: Any) -> Any:
        return one_score_each(model.predict(rows), positive)

    return Scorer(predict, names, {}, ABOVE_HALF, structure=structure)
