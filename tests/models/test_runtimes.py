"""Models that come as a graph, behind a wrapper, or as a bare function."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flipset import Explainer, InputError, Space, load_model
from flipset.models import read_model
from flipset.models.runtimes import _cast
from tests.models.test_models import DOWN, Y, assert_exhaustive, fit_hgb
from tests.models.test_models import X as TABLE

SPACE = Space.from_frame(TABLE, decreasing=DOWN)


def fit_linear() -> Any:
    """A model whose four weights all have the declared sign."""
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE, Y)
    assert (model[-1].coef_[0] < 0).all()
    return model


@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("by_column", [False, True])
def test_onnx_sessions(zipmap: bool, by_column: bool, tmp_path: Path) -> None:
    from skl2onnx import to_onnx

    example = TABLE[:1].astype(np.float32) if by_column else TABLE[:1].to_numpy(np.float32)
    graph = to_onnx(fit_linear(), example, options={"zipmap": zipmap})
    file = tmp_path / "model.onnx"
    file.write_bytes(graph.SerializeToString())
    session = load_model(file)
    assert read_model(session).names == (tuple(DOWN) if by_column else None)

    def decide(rows: pd.DataFrame) -> Any:
        values = rows.astype(np.float32)
        feed = {name: values[[name]].to_numpy() for name in DOWN} if by_column else {"X": values.to_numpy()}
        return session.run([session.get_outputs()[0].name], feed)[0]

    assert_exhaustive(Explainer(session, SPACE), decide)
    first = Explainer(session, Space.from_frame(TABLE, increasing=DOWN), positive=0)
    assert (first.predict(TABLE) == 1 - Explainer(session, SPACE).predict(TABLE)).mean() > 0.5  # float32 either way


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mlflow_models(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    from mlflow.models import infer_signature

    class Approves(mlflow.pyfunc.PythonModel):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, model: Any) -> None:
            self.model = model

        def predict(self, context: Any, model_input: Any, params: Any = None) -> Any:
            return self.model.predict_proba(model_input)

    model = fit_hgb()
    folder = tmp_path / "model"
    signature = infer_signature(TABLE, model.predict_proba(TABLE))
    mlflow.pyfunc.save_model(folder, python_model=Approves(model), signature=signature, pip_requirements=[])
    with pytest.raises(InputError, match=r"model is a folder of MLflow, which can run any program"):
        load_model(folder)
    loaded = load_model(folder, allow_pickle=True)
    assert read_model(loaded).names == tuple(DOWN)
    assert_exhaustive(Explainer(loaded, SPACE), model.predict)


def test_torch_modules() -> None:
    torch = pytest.importorskip("torch")
    linear = torch.nn.Linear(4, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[-0.5, -0.1, -30.0, -5.0]]))
        linear.bias.fill_(11.0)
    module = torch.nn.Sequential(linear, torch.nn.Sigmoid())
    with pytest.raises(InputError, match=r"in training mode, where it may answer at random: call eval\(\) first"):
        Explainer(module, SPACE)
    module.eval()
    with pytest.raises(InputError, match="needs a threshold"):
        Explainer(module, SPACE)

    def decide(rows: pd.DataFrame) -> Any:
        with torch.no_grad():
            return (module(torch.tensor(rows.to_numpy(np.float32)))[:, 0].numpy() >= 0.5).astype(int)

    assert_exhaustive(Explainer(module, SPACE, threshold=0.5), decide)


def test_functions_may_return_columns_or_labels() -> None:
    model = fit_hgb()
    plain = Explainer(model, SPACE).explain(TABLE.iloc[0])
    for function, positive in [
        (model.predict_proba, None),
        (model.predict_proba, 1),
        (lambda rows: model.predict_proba(rows)[:, [1]], None),
        (lambda rows: np.where(model.predict(rows) == 1, "good", "bad"), "good"),
    ]:
        e = Explainer(function, SPACE, positive=positive).explain(TABLE.iloc[0])
        assert (e.decision, e.flipsets) == (plain.decision, plain.flipsets)
    turned = Space.from_frame(TABLE, increasing=DOWN)
    assert Explainer(model.predict_proba, turned, positive=0).explain(TABLE.iloc[0]).decision is not plain.decision
    with pytest.raises(InputError, match="the model returns 2 columns; say which is the score: positive=0 to 1, got 5"):
        Explainer(model.predict_proba, SPACE, positive=5).explain(TABLE.iloc[0])
    several = Explainer(
        lambda rows: np.where(model.predict(rows) == 1, "good", "bad"), SPACE, positive=["good", "fair"]
    )
    assert several.explain(TABLE.iloc[0]).flipsets == plain.flipsets
    with pytest.raises(InputError, match=r"the model answers numbers such as \[.\]; positive='god' is none"):
        Explainer(model.predict, SPACE, positive="god").explain(TABLE.iloc[0])
    three = Explainer(lambda rows: np.ones((len(rows), 3)), SPACE)
    with pytest.raises(InputError, match="the model returns 3 columns"):
        three.explain(TABLE.iloc[0])


def test_a_row_does_not_change_on_its_way_into_onnx() -> None:
    class Input:
        def __init__(self, name: str, kind: str) -> None:
            self.name, self.type = name, kind

    for kind, value, message in [
        ("tensor(int64)", 0.9, "takes whole numbers"),
        ("tensor(int64)", np.nan, "takes whole numbers"),
        ("tensor(bool)", np.nan, "takes whole numbers"),
        ("tensor(string)", None, "takes text"),
    ]:
        with pytest.raises(InputError, match=message):
            _cast(np.array([[value]], dtype=object), Input("a", kind))
    assert _cast(np.array([[2.0]]), Input("a", "tensor(int64)")).dtype == np.int64


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int32", 2.0**33), ("int64", 2.0**63), ("int32", 0.5), ("int64", np.nan), ("bool", 2.0), ("int32", -np.inf)],
)
def test_whole_inputs_of_onnx_take_what_they_hold(kind: str, value: float) -> None:
    from flipset.models.runtimes import _cast

    wanted = SimpleNamespace(name="a", type=f"tensor({kind})")
    assert _cast(np.array([[1.0], [0.0]]), wanted).dtype == np.dtype(kind)
    with pytest.raises(InputError, match="input 'a' of the ONNX model takes whole numbers from"):
        _cast(np.array([[1.0], [value]]), wanted)
