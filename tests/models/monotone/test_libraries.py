"""Models of every library: what is called proved is never wrong, and constraints that a library keeps are proved.

"Never wrong" is checked by trying every row with the library itself.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from flipset.models import read_model
from flipset.models.monotone.show import show_monotone, suggest_directions
from flipset.models.monotone.shown import Cell
from tests.models.monotone.forests import in_order
from tests.models.monotone.libraries import CASES, GRID, NAMES, draw_table

FAST = 12
PER_CASE = 360  # 5,040 models over all cases


@pytest.mark.parametrize(
    "seeds",
    [range(FAST), *(pytest.param(range(k, k + 58), marks=pytest.mark.campaign) for k in range(FAST, PER_CASE, 58))],
    ids=str,
)
@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_holds_for_every_row(name: str, seeds: range) -> None:
    case = CASES[name]
    wrong = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, *name.encode()])
        rows, labels, signs = draw_table(rng, missing=case.takes_missing and bool(rng.integers(2)))
        kind = ("constrained", "free", "spoilt", "spoilt")[seed % 4]
        trees = int(rng.integers(1, 6))
        model = case.fit(rows, labels, 0 * signs if kind == "free" else signs, trees)
        if kind == "spoilt":
            model = case.spoil(model, rng)
        directions = {NAMES[i]: int(sign) for i, sign in enumerate(signs) if sign}
        scorer = read_model(model)
        shown = show_monotone(scorer, directions, NAMES)
        assert shown.proved | shown.why_not.keys() == directions.keys()
        if kind == "constrained" and case.keeps_constraints:
            assert not shown.why_not, (seed, shown.why_not)
        grid = GRID if case.takes_missing else [values[:-1] for values in GRID]
        out_of_order = {
            NAMES[i] for i, sign in enumerate(signs) if sign and not in_order(scorer.predict, grid, i, int(sign))
        }
        wrong += len(out_of_order)
        assert out_of_order <= shown.why_not.keys(), seed
        if trees == 1 or name == "decision tree":  # what one tree has in the wrong order, the model has
            for suspect in shown.suspects:
                assert _score(scorer, suspect.worse) > _score(scorer, suspect.better), (seed, suspect)
            found = {suspect.feature for suspect in shown.suspects}
            assert out_of_order <= found <= shown.why_not.keys(), seed
            if not np.isnan(rows).any():  # else leaves may differ at numbers only that a library means as missing
                assert found == shown.why_not.keys()
    assert wrong >= len(seeds) // 6  # the test has something to find


def _score(scorer: Any, row: Mapping[str, Cell]) -> float:
    cells = [row.get(name, 2.0) for name in NAMES]
    return float(scorer.predict(np.array([[np.nan if cell is None else cell for cell in cells]]))[0])


@pytest.mark.parametrize("name", CASES)
def test_suggested_directions_hold_for_every_row(name: str) -> None:
    case = CASES[name]
    grid = GRID if case.takes_missing else [values[:-1] for values in GRID]
    found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, labels, signs = draw_table(rng, missing=False)
        scorer = read_model(case.fit(rows, labels, signs, 2))
        suggested = suggest_directions(scorer, NAMES)
        for i, column in enumerate(NAMES):
            both = [in_order(scorer.predict, grid, i, sign) for sign in (+1, -1)]
            if column in suggested.unused:
                assert both == [True, True]
            elif column in suggested.directions:
                assert both[0 if suggested.directions[column] > 0 else 1]
                found += 1
            else:
                assert column in suggested.why_not
    assert found
