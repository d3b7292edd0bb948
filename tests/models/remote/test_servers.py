"""Real servers with real models: MLServer (Open Inference Protocol) and MLflow, on loopback."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from flipset import Explainer, Explanation, Space, Unavailable
from flipset.models.remote.endpoint import Endpoint
from tests.models.remote.test_endpoint import told

pytestmark = [pytest.mark.clusters, pytest.mark.filterwarnings("ignore::ResourceWarning")]
SERVERS = Path(__file__).parents[3] / ".venv-servers" / "bin"
RNG = np.random.default_rng(3)
ROWS = pd.DataFrame(np.round(RNG.normal(size=(400, 4)), 2), columns=list("abcd"))
ROWS.loc[::17, "c"] = np.nan
Y = (2 * ROWS["a"] + ROWS["b"] - ROWS["d"] + ROWS["c"].fillna(0) > 0.3).astype(int)
MIXED = ROWS.assign(kind=np.where(RNG.random(400) < 0.5, "new", "old"))
SIGNS = {"a": 1, "b": 1, "d": -1}


def fit() -> Any:
    return HistGradientBoostingClassifier(max_iter=30, monotonic_cst=[1, 1, 0, -1]).fit(ROWS, Y)


def fit_mixed() -> Any:
    encoder = make_column_transformer((OrdinalEncoder(), ["kind"]), remainder="passthrough")
    booster = HistGradientBoostingClassifier(max_iter=30, monotonic_cst=[0, 1, 1, 0, -1])
    return make_pipeline(encoder, booster).fit(MIXED, Y)


def fit_lgbm() -> Any:
    settings = {"objective": "binary", "monotone_constraints": [1, 1, 0, -1], "verbose": -1, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(ROWS, Y), 30)


def space(frame: pd.DataFrame) -> Space:
    categorical = ["kind"] if "kind" in frame else []
    return Space.from_frame(frame, increasing=["a", "b"], decreasing=["d"], categorical=categorical)


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    if not (SERVERS / "mlserver").exists():
        pytest.skip("the servers are not installed: make test-all does that")


@contextmanager
def running(command: list[Any], ready: str, folder: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MLSERVER_")}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(list(map(str, command)), cwd=folder, env=clean | env, stdout=log, stderr=log)
        try:
            _wait(server, ready, folder)
            yield server
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
            server.wait(30)


def _wait(server: "subprocess.Popen[bytes]", ready: str, folder: Path) -> None:
    pause = Event()
    for _ in range(600):
        assert server.poll() is None, (folder / "server.log").read_text()[-2000:]
        try:
            with urllib.request.urlopen(ready, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pause.wait(0.1)
    raise AssertionError((folder / "server.log").read_text()[-2000:])


def port() -> int:
    with socket.socket() as any_one:
        any_one.bind(("127.0.0.1", 0))
        return int(any_one.getsockname()[1])


@pytest.fixture(scope="module")
def mlserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mlserver")
    here = port()
    settings = {"host": "127.0.0.1", "http_port": here, "grpc_port": port(), "metrics_endpoint": None}
    (folder / "settings.json").write_text(json.dumps(settings | {"parallel_workers": 0}))
    kinds = {
        "hgb": (fit(), "model.joblib", "mlserver_sklearn.SKLearnModel", {"version": "v1"}),
        "mixed": (fit_mixed(), "model.joblib", "mlserver_sklearn.SKLearnModel", {"content_type": "pd"}),
        "lgbm": (fit_lgbm(), "model.bst", "mlserver_lightgbm.LightGBMModel", {}),
    }
    for name, (model, file, implementation, extra) in kinds.items():
        (folder / name).mkdir()
        model.save_model(folder / name / file) if name == "lgbm" else joblib.dump(model, folder / name / file)
        about = {"name": name, "implementation": implementation, "parameters": {"uri": f"./{file}", **extra}}
        (folder / name / "model-settings.json").write_text(json.dumps(about))
    address = f"http://127.0.0.1:{here}"
    with running([SERVERS / "mlserver", "start", folder], f"{address}/v2/health/ready", folder):
        yield address


SAVE = """
import json, sys, joblib, mlflow.sklearn, pandas as pd
from mlflow.models import infer_signature
model, rows = joblib.load(sys.argv[1]), pd.read_json(sys.argv[2], orient="split")
how = {"pyfunc_predict_fn": "predict_proba", "serialization_format": "cloudpickle"}
how["pip_requirements"] = ["scikit-learn"]
mlflow.sklearn.save_model(model, sys.argv[3], signature=infer_signature(rows, model.predict_proba(rows)), **how)
"""


@contextmanager
def mlflow_server(folder: Path, model: Any, rows: pd.DataFrame) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    joblib.dump(model, folder / "model.joblib")
    rows.to_json(folder / "rows.json", orient="split")
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    save = [SERVERS / "python", "-c", SAVE, folder / "model.joblib", folder / "rows.json", folder / "saved"]
    subprocess.run(list(map(str, save)), check=True, cwd=folder, env=os.environ | quiet, capture_output=True)
    here = port()
    app = "mlflow.pyfunc.scoring_server.app:app"
    command = [SERVERS / "python", "-m", "uvicorn", "--host", "127.0.0.1", "--port", here, app]
    address = f"http://127.0.0.1:{here}"
    env = {"__pyfunc_model_path__": str(folder / "saved"), **quiet}
    with running(command, f"{address}/ping", folder, **env) as server:
        yield f"{address}/invocations", server


def local(model: Any) -> Callable[[Any], Any]:
    return lambda rows: model.predict_proba(rows)[:, 1]


def as_here(endpoint: Endpoint, predict: Callable[[Any], Any], frame: pd.DataFrame, rows: int = 60) -> None:
    here = Explainer(predict, space(frame)).explain_table(frame.head(rows))
    with endpoint:
        there = Explainer(endpoint, space(frame)).explain_table(frame.head(rows))
    assert all(isinstance(e, Explanation) for e in there)
    assert list(map(told, there)) == list(map(told, here))


def test_mlserver_with_a_classifier_of_scikit_learn(mlserver: str) -> None:
    as_here(Endpoint(f"{mlserver}/v2/models/hgb/infer", output="predict_proba"), local(fit()), ROWS)


def test_mlserver_with_a_pipeline_that_takes_frames_with_text(mlserver: str) -> None:
    as_here(Endpoint(f"{mlserver}/v2/models/mixed/infer", output="predict_proba"), local(fit_mixed()), MIXED)


def test_mlserver_with_lightgbm(mlserver: str) -> None:
    booster = fit_lgbm()
    as_here(Endpoint(f"{mlserver}/v2/models/lgbm/infer"), lambda rows: booster.predict(rows), ROWS)


def test_mlserver_without_such_a_model_is_one_error(mlserver: str) -> None:
    with Endpoint(f"{mlserver}/v2/models/nope/infer") as endpoint, pytest.raises(Unavailable, match="404 Not Found"):
        Explainer(endpoint, space(ROWS)).explain(ROWS.iloc[[0]])


def test_mlflow_with_a_classifier_of_scikit_learn(tmp_path: Path) -> None:
    with mlflow_server(tmp_path, fit(), ROWS) as (address, _):
        as_here(Endpoint(address), local(fit()), ROWS)


def test_mlflow_with_text_and_a_death_in_mid_run(tmp_path: Path) -> None:
    with mlflow_server(tmp_path, fit_mixed(), MIXED) as (address, server):
        as_here(Endpoint(address), local(fit_mixed()), MIXED)
        done = 0

        def die(i: int, result: Any) -> None:
            nonlocal done
            done += 1
            if done == 10:
                server.kill()

        with Endpoint(address, attempts=2, rows_per_call=16) as endpoint:
            found = Explainer(endpoint, space(MIXED)).explain_table(MIXED, width=8, each=die)
    kept = [e for e in found if isinstance(e, Explanation)]
    assert 10 <= len(kept) < len(MIXED)
    assert {type(e) for e in found} == {Explanation, Unavailable}
