"""Running a verification: what the model is asked."""

from collections import Counter
from typing import Any

import numpy as np

from flipset import Explainer, Feature, Space


def test_each_row_is_asked_once() -> None:
    asked: Counter[tuple[float, ...]] = Counter()

    def approve(rows: Any) -> Any:
        asked.update(map(tuple, np.asarray(rows).tolist()))
        return rows[:, 0] + rows[:, 1] >= 2

    space = Space([Feature(name, "binary", direction=+1) for name in "abc"])
    explainer = Explainer(approve, space)
    e = explainer.explain([0, 0, 0])
    (best,) = [one.row for one in e.counterfactuals]
    asked.clear()
    assert explainer.verify(e)
    assert tuple(best.values()) in asked  # it is a counterfactual and the one of the proof
    assert max(asked.values()) == 1
