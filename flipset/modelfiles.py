"""Models from files: formats that are data, not programs.

A pickle runs whatever its author wrote into it, so it is loaded only by those who say that they trust it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

PICKLES = (".pkl", ".pickle", ".joblib")


def load_model(path: str | PathLike[str], *, allow_pickle: bool = False) -> Any:
    """Load a model that `Explainer` takes.

    Parameters
    ----------
    path
        XGBoost's `.ubj` or `.json`, or LightGBM's text (`.txt`).
    allow_pickle
        Also load `.pkl`, `.pickle` and `.joblib`. Such a file can run any program: say so only for files of your own.

    Raises
    ------
    InputError
        The file is not there, not of a known format, or not what its name says.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in PICKLES and not allow_pickle:
        raise InputError(
            f"{file.name} is a pickle, which can run any program when it is loaded. Save the model in a safe format: "
            "XGBoost save_model('model.ubj'), LightGBM booster_.save_model('model.txt'); or, if you trust the file, "
            "load_model(..., allow_pickle=True)"
        )
    load = {".ubj": _xgboost, ".json": _xgboost, ".txt": _lightgbm, ".joblib": _joblib}.get(suffix)
    if load is None:
        load = _pickle if suffix in PICKLES else None
    if load is None:
        raise InputError(f"{file.name}: expected a model file .ubj or .json (XGBoost) or .txt (LightGBM)")
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    return _guarded(load, file)


def _guarded(load: Callable[[Path], Any], file: Path) -> Any:
    try:
        return load(file)
    except ImportError as error:
        raise InputError(f"{file.name} needs {error.name}: pip install {error.name}") from None
    except InputError:
        raise
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{file.name} cannot be read as a model: {first}") from error


def _xgboost(file: Path) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(file)
    return booster


def _lightgbm(file: Path) -> Any:
    with file.open("rb") as start:
        if start.read(4) != b"tree":
            raise InputError(f"{file.name} is not a LightGBM model: it does not begin with 'tree'")
    import lightgbm

    return lightgbm.Booster(model_file=str(file))


def _joblib(file: Path) -> Any:
    import joblib

    return joblib.load(file)


def _pickle(file: Path) -> Any:
    import pickle

    return pickle.loads(file.read_bytes())
