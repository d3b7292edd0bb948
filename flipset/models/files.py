"""Models from files: formats that are data, not programs.

A pickle runs whatever its author wrote into it, so it is loaded only by those who say that they trust it. The same goes
for MLflow's folders, which hold pickles and code.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, Untrusted, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

PICKLES = (".pkl", ".pickle", ".joblib")

KNOWN_FORMATS = ".ubj or .json (XGBoost), .txt (LightGBM), .cbm or .json (CatBoost), .onnx or .skops"

# What skops does not know to be harmless by itself, and is: the trees of histogram boosting are arrays of numbers.
HARMLESS = frozenset({"sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"})


def load_model(path: str | PathLike[str], *, allow_pickle: bool = False, trusted: Iterable[str] = ()) -> Any:
    """Load a model that `Explainer` takes.

    Parameters
    ----------
    path
        XGBoost's `.ubj` or `.json`, LightGBM's text (`.txt`), CatBoost's `.cbm` or `.json`, `.onnx`, or `.skops`.
    allow_pickle
        Also load `.pkl`, `.pickle`, `.joblib` and folders of MLflow. Such a file can run any program: say so only for
        files of your own.
    trusted
        Types that a `.skops` file may hold beside those known to be harmless; the error about them names them.

    Raises
    ------
    InputError
        The file is not there, not of a known format, or not what its name says.
    """
    file = Path(path)
    is_folder = (file / "MLmodel").is_file()
    suffix = ".mlflow" if is_folder else file.suffix.lower()
    if (suffix in PICKLES or is_folder) and not allow_pickle:
        kind = "a folder of MLflow" if is_folder else "a pickle"
        raise Untrusted(
            f"{file.name} is {kind}, which can run any program when it is loaded. Save the model in a safe format: "
            "XGBoost save_model('model.ubj'), LightGBM booster_.save_model('model.txt'), CatBoost "
            "save_model('model.cbm'), scikit-learn skops.io.dump(model, 'model.skops')."
        )
    loaders: dict[str, Callable[[Path], Any]] = {
        ".ubj": _xgboost,
        ".json": _json,
        ".txt": _lightgbm,
        ".cbm": lambda file: _catboost(file, "cbm"),
        ".onnx": _onnx,
        ".skops": lambda file: _skops(file, trusted),
        ".mlflow": _mlflow,
        ".joblib": _joblib,
        ".pkl": _pickle,
        ".pickle": _pickle,
    }
    if suffix not in loaders:
        raise InputError(f"{file.name}: expected a model file {KNOWN_FORMATS}")
    if not file.exists():
        raise InputError(f"there is no file {file}")
    return _guarded(loaders[suffix], file)


def file_hash(path: str | PathLike[str]) -> str:
    """Return what identifies a model in a file, or in a folder."""
    place = Path(path)
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _guarded(load: Callable[[Path], Any], file: Path) -> Any:
    try:
        return load(file)
    except ImportError as error:
        raise InputError(f"{file.name} needs {error.name}: pip install {error.name}") from None
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{file.name} cannot be read as a model: {first_line(error)}") from error


def _json(file: Path) -> Any:
    """Tell the two libraries apart that write JSON, by what stands at the top."""
    import json

    try:
        keys = set(json.loads(file.read_bytes()))
    except (ValueError, TypeError):
        keys = set()
    return _catboost(file, "json") if "model_info" in keys else _xgboost(file)


def _xgboost(file: Path) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(file)
    best = booster.attr("best_iteration")
    if booster.attr("scikit_learn") is not None and best is not None:
        # Saved by an estimator that stopped early: it predicts with the trees up to the best round, and so must we.
        return booster[: int(best) + 1]
    return booster


def _lightgbm(file: Path) -> Any:
    with file.open("rb") as start:
        if start.read(4) != b"tree":
            raise InputError(f"{file.name} is not a LightGBM model: it does not begin with 'tree'")
    import lightgbm

    return lightgbm.Booster(model_file=str(file))


def _catboost(file: Path, kind: str) -> Any:
    import catboost

    model = catboost.CatBoost()
    model.load_model(str(file), format=kind)
    if not len(model.classes_):
        return model
    classifier = catboost.CatBoostClassifier()
    return classifier.load_model(str(file), format=kind)


def _onnx(file: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])


def _skops(file: Path, trusted: Iterable[str]) -> Any:
    import skops.io

    allowed = HARMLESS | set(trusted)
    strange = sorted(set(skops.io.get_untrusted_types(file=file)) - allowed)
    if strange:
        raise Untrusted(f"{file.name} holds types that are not known to be harmless: {', '.join(strange)}.", strange)
    return skops.io.load(file, trusted=sorted(allowed))


def _mlflow(file: Path) -> Any:
    import mlflow.pyfunc

    return mlflow.pyfunc.load_model(str(file))


def _joblib(file: Path) -> Any:
    import joblib

    return joblib.load(file)


def _pickle(file: Path) -> Any:
    import pickle

    return pickle.loads(file.read_bytes())
