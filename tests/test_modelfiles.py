"""Model files: safe formats give the model back, pickles are refused unless trusted."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from flipset import Explainer, InputError, Space, load_model
from tests.test_models import DOWN, X, fit_hgb, fit_lgbm, fit_xgb


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with threadpool_limits(limits=1):
        yield


@pytest.mark.parametrize("name", ["model.ubj", "model.json", "model.txt"])
def test_a_model_from_a_file_explains_as_the_model_does(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".txt"):
        model = fit_lgbm()
        model.booster_.save_model(path)
    else:
        model = fit_xgb()
        model.save_model(path)
    space = Space.from_frame(X, decreasing=DOWN)  # XGBoost's files do not hold the directions
    loaded, original = Explainer(load_model(path), space), Explainer(model, X)
    if name.endswith(".txt"):
        assert Explainer(load_model(path), X).space == space
    for i in range(0, len(X), 100):
        mine, theirs = loaded.explain(X.iloc[i]), original.explain(X.iloc[i])
        assert (mine.decision, mine.flipsets) == (theirs.decision, theirs.flipsets)


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
    ],
)
def test_files_that_are_no_models(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_model(path)
