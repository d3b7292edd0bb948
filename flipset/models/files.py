"""Models from files, in formats that are data rather than programs.

Loading a pickle runs whatever code its author put into it. So pickles, and MLflow's folders, which hold pickles and
code, are loaded only if the caller says that they are to be trusted.

The other formats run no code. That does not make them safe from strangers: libraries written in C++ read them, and a
damaged or hostile file can crash these libraries, and the program with them. `isolate` opens a file in a process that
may die.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError, Untrusted, first_line
from flipset.models.isolated.model import IsolatedModel, Isolation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

PICKLES = (".pkl", ".pickle", ".joblib")

KNOWN_FORMATS = ".ubj or .json (XGBoost), .txt (LightGBM), .cbm or .json (CatBoost), .onnx or .skops"

# Harmless types that skops does not know: the trees of histogram boosting are arrays of numbers.
HARMLESS = frozenset({"sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"})


def load_model(
    path: str | PathLike[str],
    *,
    allow_pickle: bool = False,
    trusted: Iterable[str] = (),
    isolate: bool | Isolation = False,
) -> Any:
    """Load a model that `Explainer` takes.

    Parameters
    ----------
    path
        XGBoost's `.ubj` or `.json`, LightGBM's text (`.txt`), CatBoost's `.cbm` or `.json`, `.onnx`, or `.skops`. These
        formats run no code. A damaged or hostile file can still crash its library: see `isolate`.
    allow_pickle
        Also load `.pkl`, `.pickle`, `.joblib` and MLflow folders. Such a file can run any program: set this only for
        files that you trust.
    trusted
        Further types that a `.skops` file may hold. The error for a file with other types lists them.
    isolate
        Open and ask the model in a process of its own, which may die without this one; an `Isolation` sets its limits.
        Scores are the same to the last bit. Each call takes a fraction of a millisecond longer. This is no sandbox: the
        process has the rights of this one.

    Raises
    ------
    InputError
        The file does not exist, has no known format, or does not hold what its name says. With `isolate`, also: it
        crashed its library, or took too long.
    Untrusted
        The file is a pickle or an MLflow folder, or it holds types that are not known to be harmless.
    """
    file = Path(path)
    is_folder = (file / "MLmodel").is_file()
    suffix = ".mlflow" if is_folder else file.suffix.lower()
    # Before the file is looked at in any other way, so that nothing in it can have an effect.
    if (suffix in PICKLES or is_folder) and not allow_pickle:
        kind = "a folder of MLflow" if is_folder else "a pickle"
        raise Untrusted(
            f"{file.name} is {kind}, which can run any program when it is loaded. Save the model in a format that runs "
            "no code: XGBoost save_model('model.ubj'), LightGBM booster_.save_model('model.txt'), CatBoost "
            "save_model('model.cbm'), scikit-learn skops.io.dump(model, 'model.skops')."
        )
    if suffix not in LOADERS:
        raise InputError(f"{file.name}: expected a model file {KNOWN_FORMATS}")
    if not file.exists():
        raise InputError(f"there is no file {file}")
    load = partial(_skops, trusted=tuple(trusted)) if suffix == ".skops" else LOADERS[suffix]
    if isolate is False:
        return _guarded(load, file)
    limits = isolate if isinstance(isolate, Isolation) else Isolation()
    file = file.absolute()  # it may be opened again by a process with another current folder
    return IsolatedModel(file, partial(_guarded, load, file), limits)


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
    """Load a JSON file of XGBoost or CatBoost, whichever its top-level keys say."""
    import json

    try:
        keys = set(json.loads(file.read_bytes()))
    except (ValueError, TypeError, RecursionError):  # the library that is asked next says what is wrong
        keys = set()
    return _catboost(file, kind="json") if "model_info" in keys else _xgboost(file)


def _xgboost(file: Path) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(file)
    best = booster.attr("best_iteration")
    if booster.attr("scikit_learn") is not None and best is not None:
        # An estimator that stopped early predicts with the trees up to the best round only, so do the same.
        return booster[: int(best) + 1]
    return booster


def _lightgbm(file: Path) -> Any:
    with file.open("rb") as start:
        if start.read(4) != b"tree":
            raise InputError(f"{file.name} is not a LightGBM model: it does not begin with 'tree'")
    import lightgbm

    return lightgbm.Booster(model_file=str(file))


def _catboost(file: Path, *, kind: str) -> Any:
    import catboost

    # `CatBoost` reads any file and knows whether the model has classes; only `CatBoostClassifier` gives probabilities.
    model = catboost.CatBoost()
    model.load_model(str(file), format=kind)
    if not len(model.classes_):
        return model
    classifier = catboost.CatBoostClassifier()
    return classifier.load_model(str(file), format=kind)


def _onnx(file: Path) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])


def _skops(file: Path, trusted: Iterable[str] = ()) -> Any:
    import skops.io

    allowed = HARMLESS | set(trusted)
    # Asked first, without loading anything. skops would refuse them, too, but not in words that say what to do.
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


LOADERS: dict[str, Callable[[Path], Any]] = {
    ".ubj": _xgboost,
    ".json": _json,
    ".txt": _lightgbm,
    ".cbm": partial(_catboost, kind="cbm"),
    ".onnx": _onnx,
    ".skops": _skops,
    ".mlflow": _mlflow,
    ".joblib": _joblib,
    ".pkl": _pickle,
    ".pickle": _pickle,
}
"""What opens a file, by the ending of its name. With `isolate` it is sent to another process, so it must be possible to
pickle it: a function of a module, or a `partial` of one."""
