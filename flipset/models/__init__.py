"""Models as functions from rows to scores: thin adapters, each of which imports its library only when it is used.

A fitted classifier, regressor or pipeline becomes a `Scorer`, with the column names, the monotone directions and the
threshold that can be read from the model. At the model's own threshold, the decision is the one that the model makes.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from flipset.errors import InputError
from flipset.models.boosters import catboost_model, lightgbm_booster, xgboost_booster
from flipset.models.estimators import read_estimator
from flipset.models.files import load_model
from flipset.models.hashes import file_hash
from flipset.models.isolated.model import IsolatedModel, Isolation
from flipset.models.most_likely import usual_threshold
from flipset.models.remote.address import is_address
from flipset.models.remote.remote_model import RemoteModel
from flipset.models.runtimes import mlflow_model, onnx_session, torch_module
from flipset.models.scorer import Scorer, awaited_in_order_of, in_order_of, one_score_each
from flipset.models.ties import settle

__all__ = [
    "Isolation",
    "Scorer",
    "awaited_in_order_of",
    "file_hash",
    "identity_of",
    "in_order_of",
    "labels_of",
    "load_model",
    "open_model",
    "read_model",
    "settle",
]


def identity_of(model: Any, scorer: Scorer) -> str:
    """Return what identifies a model: a hash of its file, or what an endpoint says; raise where there is neither."""
    if scorer.endpoint is not None:
        return scorer.endpoint.identity()
    if isinstance(model, (str, PathLike)):
        return file_hash(model)
    if isinstance(model, IsolatedModel):
        return model.hash
    raise InputError(
        "nothing tells this model from others: say what does, journal=Journal(path, model='loans, version 3')"
    )


def open_model(given: str | PathLike[str], isolate: bool | Isolation = False) -> Any:
    """Load the model in a file, or return the endpoint at an address."""
    if not is_address(str(given)):
        return load_model(given, isolate=isolate)
    if isolate is not False:
        raise InputError("isolate is for model files; an endpoint is not in this process")
    from flipset.models.remote.endpoint import Endpoint

    return Endpoint(str(given))


def labels_of(model: Any) -> dict[str, Any] | None:
    """Return the classes of a model by their names; None if it has no classes."""
    if isinstance(model, IsolatedModel):
        return model.labels
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    return {str(label): label.item() if hasattr(label, "item") else label for label in classes}


def read_model(model: Any, positive: Any = None, isolate: bool | Isolation = False) -> Scorer:
    """Return the scorer of a model: a function of rows, an estimator, a booster, a runtime's session, an endpoint.

    A string is the name of a file or an address. With `isolate`, a file is opened in a process of its own.

    `positive` is the class, or the classes, whose probability is the score; of two classes, the second by default. For
    models whose columns or labels have no names, it is the number of a column, or a label.
    """
    if isinstance(model, (str, PathLike)):
        model = open_model(model, isolate)
    elif isolate is not False:
        raise InputError(f"isolate is for the name of a model file; this is a {type(model).__qualname__}")
    if isinstance(model, IsolatedModel):
        return model.scorer(positive)
    return _remote(model, positive) if isinstance(model, RemoteModel) else _fitted(model, positive)


def _remote(model: RemoteModel, positive: Any) -> Scorer:
    threshold = usual_threshold(positive)
    scorer = Scorer(
        model, threshold=threshold, apredict=model.ask, takes_names=True, endpoint=model, has_own_threshold=False
    )
    return scorer.then(lambda answers: one_score_each(answers, positive))


def _fitted(model: Any, positive: Any) -> Scorer:
    # Libraries are recognised by name, so that none has to be imported. A PyTorch module is always of the user's own
    # class, so all base classes count for it.
    libraries = [base.__module__.split(".")[0] for base in type(model).__mro__]
    library = libraries[0]
    if library == "xgboost" and hasattr(model, "inplace_predict"):
        return xgboost_booster(model, positive)
    if library == "lightgbm" and not hasattr(model, "fit"):
        return lightgbm_booster(model, positive)
    if library == "catboost":
        return catboost_model(model, positive)
    if library == "onnxruntime":
        return onnx_session(model, positive)
    if library == "mlflow" and hasattr(model, "metadata"):
        return mlflow_model(model, positive)
    if "torch" in libraries and hasattr(model, "parameters"):
        return torch_module(model, positive)
    decides = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    if decides or (hasattr(model, "predict") and hasattr(model, "fit")):
        return read_estimator(model, positive)
    if callable(model):
        threshold = usual_threshold(positive)
        return Scorer(lambda rows: one_score_each(model(rows), positive), threshold=threshold, has_own_threshold=False)
    raise InputError(
        f"a model must be a function of rows or have predict_proba, decision_function or predict; "
        f"got {type(model).__module__}.{type(model).__qualname__}"
    )
