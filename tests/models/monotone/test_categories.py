"""Models with native categories, or behind encoders: what is called proved holds for every row; witnesses are real.

"Holds" is checked with the library's own sums, for every row of a grid.
"""

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost

from flipset import Explainer, Feature, Space
from tests.models.monotone.category_models import GRID, KINDS, LEVELS, NUMBERS, draw_table, every_row

LAST_BITS = 1e-12
"""Sums of coefficients are computed in blocks of rows, so that their last bits may differ."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seeds",
    [range(4), *(pytest.param(range(k, k + 12), marks=pytest.mark.campaign) for k in range(4, 52, 12))],
    ids=str,
)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_proved_holds_and_what_is_refuted_is_false(name: str, seeds: range) -> None:
    kind = KINDS[name]
    counts = Counter[str]()
    for seed in seeds:
        rng = np.random.default_rng([seed, *name.encode()])
        rows, labels, signs = draw_table(rng, missing=bool(rng.integers(2)))
        how = ("constrained", "free", "spoilt", "free")[seed % 4]
        model = kind.fit(rows, labels, 0 * signs if how == "free" else signs, int(rng.integers(1, 7)), rng)
        if how == "spoilt" and kind.spoil is not None:
            model = kind.spoil(model, rng)
        positive = None if isinstance(model, xgboost.Booster) else int(rng.integers(2))
        side = -1 if positive == 0 else 1
        directions = dict(zip(NUMBERS, (side * signs).tolist(), strict=True))
        explainer = _explainer(model, kind.takes(rows), directions, positive)
        scores = side * np.asarray(kind.sums(model, every_row(kind))).reshape(len(GRID), len(GRID), -1)
        slack = LAST_BITS if name == "encoders, logistic" else 0
        for axis, (column, direction) in enumerate(directions.items()):
            along = np.moveaxis(scores, axis, 0)[: len(GRID) - 1]
            is_monotone = bool((np.diff(along, axis=0) * direction >= -slack).all())
            basis, is_refuted = explainer.monotonicity[column], column in explainer.monotonicity.contradicted
            assert is_monotone or basis != "proved", (seed, column)
            assert not (is_monotone and is_refuted), (seed, column)
            counts[basis] += 1
            counts["not monotone"] += not is_monotone
            counts["refuted"] += is_refuted
        for witness in explainer.monotonicity.witnesses:
            _check_witness(witness, model, kind, directions, side)
    assert counts["proved"]
    assert counts["refuted"] >= counts["not monotone"] / 2, counts


def _explainer(model: Any, table: Any, directions: dict[str, int], positive: int | None) -> Explainer:
    numbers = [Feature(name, direction=sign, lower=-1, upper=6) for name, sign in directions.items()]  # type: ignore[arg-type]
    categories = [Feature(name, "categorical", options=tuple(levels)) for name, levels in LEVELS.items()]
    given = {"threshold": 0.5} if positive is None else {"positive": positive}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Explainer(model, Space([*numbers, *categories]), reference=table, **given)


def _check_witness(witness: Any, model: Any, kind: Any, directions: dict[str, int], side: int) -> None:
    both = pd.DataFrame([witness.row, witness.better]).astype(dict.fromkeys(NUMBERS, float))
    low, high = side * np.asarray(kind.sums(model, kind.takes(both)))
    assert low > high, witness
    for name in (*NUMBERS, *LEVELS):
        before, after = both[name]
        is_same = before == after or (pd.isna(before) and pd.isna(after))
        assert is_same or (name in directions and (after - before) * directions[name] > 0), witness
