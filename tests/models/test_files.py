"""Model files: formats that run no code give the model back, pickles are refused unless trusted."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import skops.io
from threadpoolctl import threadpool_limits

from flipset import Explainer, InputError, Space, load_model
from tests.models.test_models import DOWN, X, fit_catboost, fit_hgb, fit_lgbm, fit_xgb


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with threadpool_limits(limits=1):
        yield


def save_xgboost(path: Path) -> Any:
    model = fit_xgb()
    model.save_model(path)
    return model


def save_lightgbm(path: Path) -> Any:
    model = fit_lgbm()
    model.booster_.save_model(path)
    return model


def save_catboost(path: Path) -> Any:
    model = fit_catboost()
    model.save_model(path, format=path.suffix[1:])
    return model


def save_skops(path: Path) -> Any:
    model = fit_hgb()
    skops.io.dump(model, path)
    return model


@pytest.mark.parametrize(
    ("name", "save", "says_directions"),
    [
        ("model.ubj", save_xgboost, False),  # XGBoost's files do not hold the directions
        ("model.json", save_xgboost, False),
        ("model.txt", save_lightgbm, True),
        ("model.cbm", save_catboost, True),
        ("model.json", save_catboost, True),
        ("model.skops", save_skops, True),
    ],
)
def test_a_model_from_a_file_explains_as_the_model_does(
    name: str, save: Callable[[Path], Any], says_directions: bool, tmp_path: Path
) -> None:
    path = tmp_path / name
    model = save(path)
    space = Space.from_frame(X, decreasing=DOWN)
    loaded, original = Explainer(load_model(path), space), Explainer(model, X)
    if says_directions:
        assert Explainer(load_model(path), X).space == space
    for i in range(0, len(X), 100):
        mine, theirs = loaded.explain(X.iloc[i]), original.explain(X.iloc[i])
        assert (mine.decision, mine.flipsets) == (theirs.decision, theirs.flipsets)


def test_types_in_a_skops_file_are_named_before_anything_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.io.dump({"model": Strange()}, path)
    with pytest.raises(InputError, match=r"not known to be harmless: tests.models.test_files.Strange.*trusted="):
        load_model(path)
    assert load_model(path, trusted=["tests.models.test_files.Strange"])["model"].size == 3


class Strange:
    def __init__(self) -> None:
        self.size = 3


class Trap:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path(self.mark),))

    def __init__(self, mark: str) -> None:
        self.mark = mark


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib", ".PKL"])
def test_a_pickle_is_not_even_opened(suffix: str, tmp_path: Path) -> None:
    mark, path = tmp_path / "sprung", tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(Trap(str(mark))))
    with pytest.raises(InputError, match=r"is a pickle, which can run any program.*save_model.*allow_pickle=True"):
        load_model(path)
    assert not mark.exists()


def test_a_trusted_pickle_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(fit_hgb()))
    assert Explainer(load_model(path, allow_pickle=True), X).explain(X.iloc[0]).status == "optimal"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.bin", b"", "expected a model file"),
        ("gone.ubj", None, "there is no file"),
        ("model.txt", b"hello", "does not begin with 'tree'"),
        ("model.json", b"{}", "cannot be read as a model"),
        ("model.ubj", b"\x00\x01", "cannot be read as a model"),
        ("model.cbm", b"CBM?", "cannot be read as a model"),
        ("model.onnx", b"\x00", "cannot be read as a model"),
        ("model.skops", b"PK", "cannot be read as a model"),
    ],
)
def test_files_that_are_no_models(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_model(path)
