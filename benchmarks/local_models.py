"""Models of 200 trees in this process, on tables, and the rows and spaces that they are measured on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import TREES
from flipset import Explainer, Space
from flipset.space.moves import find_moves
from flipset.space.rows import check_rows, read_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.cases import Table

LIBRARIES = (("XGBoost", "xgboost"), ("LightGBM", "lightgbm"), ("HistGradientBoosting", "sklearn"))
MOST_ROWS = 20_000  # for fitting


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A fitted classifier, the table it was fitted on, and the directions of its columns."""

    name: str
    library: str
    model: Any
    frame: Any
    directions: tuple[int, ...]

    def threshold(self, declined: float) -> float:
        """Return the score below which this share of the table lies, but at least one half."""
        return max(0.5, float(np.quantile(self.scores(self.frame), declined)))

    def scores(self, rows: Any) -> NDArray[Any]:
        """Return the score of each row of a frame or matrix."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # LightGBM misses the names of a matrix's columns
            scores: NDArray[Any] = self.model.predict_proba(rows)[:, 1]
        return scores

    def space(self, quantile: float, columns: int | None = None, **how: Any) -> Space:
        """Return the space whose bounds are quantiles of the table; only the first `columns` may move."""
        signs = dict(zip(self.frame.columns, self.directions, strict=True))
        return Space.from_frame(
            self.frame,
            increasing=[name for name, sign in signs.items() if sign > 0],
            decreasing=[name for name, sign in signs.items() if sign < 0],
            fixed=() if columns is None else list(self.frame.columns[columns:]),
            quantiles=(quantile, 1 - quantile),
            **how,
        )

    def explainer(self, quantile: float = 0.0, declined: float = 0.0) -> Explainer:
        """Return an explainer that declines a share of the table, or scores below one half if that is more."""
        return Explainer(self.model, self.space(quantile), threshold=self.threshold(declined))

    def declined(self, n: int, threshold: float) -> Any:
        """Return up to n different declined rows: those of the table, and crossings of its rows."""
        pool = rows_like(self.frame, max(len(self.frame), 4 * n))
        return pool[self.scores(pool) < threshold].head(n)

    def matrix(self, rows: Any) -> Any:
        """Return rows as the matrix that the library reads fastest."""
        return np.ascontiguousarray(rows, dtype=np.float32 if self.library == "XGBoost" else np.float64)

    def best(self, rows: Any, space: Space) -> Any:
        """Return rows, given as a matrix, with every column at its best allowed value on its grid."""
        rising = np.array([sign > 0 for sign in self.directions])
        worst = np.where(rising, self.frame.min(), self.frame.max())
        [row] = check_rows(space, read_rows(worst[None], space.names))
        moves = find_moves(space, row, raise_score=True)
        best = rows.copy()
        for column, value in moves.rows((1 << len(moves.units)) - 1)[0]:
            pick = np.maximum if rising[column] else np.minimum
            best[:, column] = pick(rows[:, column], rows.dtype.type(value))
        return best


def fit(library: str, table: Table) -> LocalModel:
    """Fit 200 trees with the table's directions, on its complete rows."""
    import pandas as pd

    complete = np.flatnonzero(~np.isnan(table.rows).any(axis=1))[:MOST_ROWS]
    names = [f"x{i}" for i in range(table.rows.shape[1])]
    frame, signs = pd.DataFrame(table.rows[complete], columns=names), list(table.directions)
    model: Any
    if library == "XGBoost":
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=TREES, max_depth=4, monotone_constraints=tuple(signs), n_jobs=1)
    elif library == "LightGBM":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=TREES, monotone_constraints=signs, n_jobs=1, verbose=-1)
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            monotonic_cst=signs, max_iter=TREES, early_stopping=False, random_state=0
        )
    model.fit(frame, table.good[complete])
    return LocalModel(f"{table.name}, {library}", library, model, frame, tuple(signs))


def libraries_here(names: tuple[str, ...]) -> list[str]:
    """Return those of the libraries that are installed."""
    return [name for name, module in LIBRARIES if name in names and find_spec(module)]


def rows_like(frame: Any, n: int) -> Any:
    """Return n different rows: those of the table, then crossings of two of them."""
    import pandas as pd

    rng = np.random.default_rng(0)
    real = np.unique(frame.to_numpy(), axis=0)
    real = real[rng.permutation(len(real))]
    while len(real) < n:
        mothers, fathers = rng.integers(0, len(frame), (2, n))
        cells = frame.to_numpy()
        mixed = np.where(rng.random((n, cells.shape[1])) < 0.5, cells[mothers], cells[fathers])
        real = np.unique(np.vstack([real, mixed]), axis=0)
        real = real[rng.permutation(len(real))]
    return pd.DataFrame(real[:n], columns=frame.columns)
