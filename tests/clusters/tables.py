"""A table of 20,000 rows, a model in a file, and what `explain_table` says of it."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import psutil
import xgboost

from flipset import Explainer, Explanations, Space
from flipset.clusters.batches import explain_batch

NAMES = tuple("abcdefgh")
FOLDER = Path(mkdtemp(prefix="flipset-clusters-"))


@cache
def table(rows: int = 20_000) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(np.round(rng.normal(size=(rows, len(NAMES))), 2), columns=list(NAMES))
    return frame.assign(id=np.arange(rows), region=rng.choice(["north", "south, east", "west"], rows))


@cache
def model() -> Path:
    frame = table()
    x = frame[list(NAMES)]
    weights = np.array([3.0, -2.0, 2.0, 1.5, -1.5, 1.0, 1.0, 0.5])
    y = (x.to_numpy() @ weights + np.minimum(x["a"], x["c"]) > 0.5).astype(int)
    signs = {name: int(sign) for name, sign in zip(NAMES, np.sign(weights), strict=True)}
    fitted = xgboost.XGBClassifier(n_estimators=60, max_depth=3, monotone_constraints=signs, n_jobs=1)
    fitted.fit(x, y)
    path = FOLDER / "model.ubj"
    fitted.save_model(path)
    return path


def explainer() -> Explainer:
    space = Space.from_frame(
        table()[list(NAMES)], increasing=list("acdfgh"), decreasing=list("be"), quantiles=(0.05, 0.95)
    )
    return Explainer(str(model()), space)


@cache
def expected(rows: int = 20_000) -> Explanations:
    return explainer().explain_table(table().head(rows), workers=2)


def same(found: pd.DataFrame, rows: int = 20_000) -> None:
    """Assert that a frame, in any order, holds just what `explain_table` says."""
    found = found.sort_values("id").reset_index(drop=True)
    assert found["id"].tolist() == list(range(rows))
    assert found["region"].tolist() == table()["region"].head(rows).tolist()
    for name, cells in expected(rows).to_dict().items():
        assert _plain(found[name].tolist()) == _plain(cells), name


def _plain(cells: list[Any]) -> list[Any]:
    return [None if cell is None or cell is pd.NA or cell != cell else cell for cell in cells]


# --- in a worker ------------------------------------------------------------------------------------------------------


def explain_and_die(job: Any, marks: str, which: str, batch: Any) -> Any:
    """Explain a batch; the first worker to come here kills itself, or its executor, in the midst of the work."""
    try:
        os.close(os.open(os.path.join(marks, which), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return explain_batch(job, batch)
    explain_batch(job, batch)
    here = psutil.Process()
    if which == "executor":
        while "java" not in here.name():
            here = here.parent()
    here.send_signal(signal.SIGKILL)
    signal.pause()
    return None
