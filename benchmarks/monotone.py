"""How long it takes to show that a model is monotone: 500 trees of depth 6 with 30 columns, of every library.

    python -m benchmarks.monotone

Models with constraints are proved; models without are out of order. Reading the trees is part of the time.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.models import read_model
from flipset.models.monotone.show import show_monotone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TREES, COLUMNS, ROWS = 500, 30, 2_000


def models(signs: list[int]) -> Iterator[tuple[str, Callable[[], Any]]]:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    yield (
        "XGBoost",
        lambda: xgboost.XGBClassifier(
            n_estimators=TREES, max_depth=6, min_child_weight=0, learning_rate=0.05, monotone_constraints=tuple(signs)
        ),
    )
    yield (
        "LightGBM",
        lambda: lightgbm.LGBMClassifier(
            n_estimators=TREES, num_leaves=64, max_depth=6, min_child_samples=2, monotone_constraints=signs, verbose=-1
        ),
    )
    yield (
        "CatBoost",
        lambda: catboost.CatBoostClassifier(
            iterations=TREES, depth=6, monotone_constraints=signs, verbose=0, allow_writing_files=False
        ),
    )
    yield (
        "histogram boosting",
        lambda: HistGradientBoostingClassifier(
            max_iter=TREES,
            max_leaf_nodes=64,
            max_depth=6,
            min_samples_leaf=2,
            monotonic_cst=signs,
            early_stopping=False,
        ),
    )
    yield "random forest, not limited in depth", lambda: RandomForestClassifier(TREES, monotonic_cst=signs)


def main() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(ROWS, COLUMNS))
    weights = rng.normal(size=COLUMNS)
    labels = (rows @ weights + rng.normal(size=ROWS) > 0).astype(int)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    signs = [int(np.sign(weight)) for weight in weights]
    names = [f"column {i}" for i in range(COLUMNS)]
    print("| model | constraints | proved | seconds |\n|---|---|---|---|")
    for constraints in (signs, [0] * COLUMNS):
        for name, make in models(constraints):
            scorer = read_model(make().fit(rows, labels))
            start = perf_counter()
            shown = show_monotone(scorer, dict(zip(names, signs, strict=True)), names)
            seconds = perf_counter() - start
            kept = "yes" if any(constraints) else "no"
            print(f"| {name} | {kept} | {len(shown.proved)} of {COLUMNS} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
