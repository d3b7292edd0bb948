"""What it costs to run a model in a process of its own: python -m benchmarks.isolation.

The same file is opened in this process and in one of its own, and asked the same rows in turn, on one thread. Times are
the best of many, which other work on the machine disturbs least. Scores are compared byte by byte, and explanations of
a table cell by cell.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import skops.io
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flipset import Explainer, Space, load_model
from flipset.explain.threads import one_thread
from flipset.models import read_model

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1, 32, 1_000)
REPEATS = 300
COLUMNS = 20
TABLE_ROWS = 40
RUNS = 3


def main() -> None:
    """Print the table of the documentation."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2_000, COLUMNS)), columns=[f"x{i}" for i in range(COLUMNS)])
    good = frame.to_numpy() @ rng.random(COLUMNS) + rng.normal(size=len(frame)) > 0.5
    up = (1,) * COLUMNS
    models = {
        "XGBoost, 200 trees (.ubj)": xgboost.XGBClassifier(n_estimators=200, max_depth=4, monotone_constraints=up),
        "histogram boosting, 100 trees (.skops)": HistGradientBoostingClassifier(monotonic_cst=list(up)),
        "logistic regression (.skops)": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    print("| model | opened in | call | direct | isolated | ratio |\n|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder, one_thread():
        for name, model in models.items():
            path = Path(folder) / f"model{name[name.index('.') : -1]}"
            model.fit(frame, good)
            if path.suffix == ".ubj":
                model.save_model(path)
            else:
                skops.io.dump(model, path)
            measure(name, path, frame)


def measure(name: str, path: Path, frame: pd.DataFrame) -> None:
    direct = load_model(path)
    began = time.perf_counter()
    isolated = load_model(path, isolate=True)
    opened = f"{time.perf_counter() - began:.1f} s"
    here, there = read_model(direct), read_model(isolated)
    for size in SIZES:
        rows = frame.iloc[:size]
        same = np.asarray(here.predict(rows)).tobytes() == there.predict(rows).tobytes()
        assert same, "the scores differ"
        times = [(seconds(here.predict, rows), seconds(there.predict, rows)) for _ in range(REPEATS)]
        line(
            name,
            opened,
            f"{size:,} row{'s' if size > 1 else ''}",
            *(min(column) for column in zip(*times, strict=True)),
        )
    space = Space.from_frame(frame, increasing=list(frame.columns), quantiles=(0.15, 0.85))
    table = frame.iloc[:TABLE_ROWS]
    explainers = [Explainer(model, space) for model in (direct, isolated)]
    found = [explainer.explain_table(table).to_dict() for explainer in explainers]
    assert found[0] == found[1], "the explanations differ"
    rounds = [[seconds(explainer.explain_table, table) for explainer in explainers] for _ in range(RUNS)]
    line(name, opened, f"{TABLE_ROWS} rows explained", *(min(column) for column in zip(*rounds, strict=True)))


def seconds(call: Callable[[Any], Any], rows: Any) -> float:
    began = time.perf_counter()
    call(rows)
    return time.perf_counter() - began


def line(name: str, opened: str, what: str, direct: float, isolated: float) -> None:
    cells = (name, opened, what, f"{direct * 1e3:,.2f} ms", f"{isolated * 1e3:,.2f} ms", f"{isolated / direct:.2f}")
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
