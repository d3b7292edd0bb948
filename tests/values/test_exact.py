"""Exact values, against enumeration on scales that are small enough to list."""

from __future__ import annotations

from math import inf, nextafter
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, InputError, NotMonotone, Space, range_share
from flipset.space.path import find_path
from flipset.values.exact import IN_BETWEEN, Scale, is_exact


def scale_of(feature: Feature, before: Any, frame: Any = None) -> Scale:
    reference = None if frame is None else Space([feature], reference=frame).reference
    path = find_path(feature, before, raise_score=True, reference=reference)
    assert path is not None
    return Scale(path, reference)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_numbers_follow_the_order_of_the_values_and_none_is_left_out(kind: str, direction: int) -> None:
    frame = pd.DataFrame({"x": np.array([-2, 0, 2], dtype=kind)})
    scale = scale_of(Feature("x", direction=direction, lower=-2, upper=2), -2.0 * direction, frame)  # type: ignore[arg-type]
    dtype: Any = np.dtype(kind)
    for start in (-1.5, -1e-4, 0.0, 1.0, 1.75):
        value = dtype.type(start)
        for _ in range(5):
            number = scale.number(float(value))
            assert scale.value(number) == float(value)
            further = np.nextafter(value, dtype.type(direction * inf))
            assert scale.number(float(further)) == number + 1
            value = further
    assert scale.number(-0.0) == scale.number(0.0) == 0


def test_whole_columns_have_whole_numbers() -> None:
    frame = pd.DataFrame({"x": [0, 1 << 60]})
    scale = scale_of(Feature("x", direction=1, lower=0, upper=1 << 60), (1 << 60) - 3, frame)
    assert scale.value(scale.first) == (1 << 60) - 2
    assert not scale.holds(0.5, 9)


def test_a_row_from_outside_enters_at_the_bound() -> None:
    feature = Feature("x", direction=1, lower=0.25, upper=1)
    assert scale_of(feature, -3.0).first == scale_of(feature, None).first
    assert scale_of(feature, None).value(scale_of(feature, None).first) == 0.25
    assert scale_of(feature, 0.25).value(scale_of(feature, 0.25).first) == nextafter(0.25, inf)


def test_one_column_to_the_last_number() -> None:
    rng = Random(1)
    table = pd.DataFrame({"x": [rng.uniform(-5, 5) for _ in range(300)]})
    space = Space.from_frame(table, increasing=["x"], steps="seen")
    for _ in range(20):
        limit = rng.uniform(-4, 4)
        explainer = Explainer(lambda rows, limit=limit: rows["x"] > limit, space)
        for value in table["x"][:4]:
            e = explainer.explain([value], exact=True, batch=1)
            (found,) = e.counterfactuals
            assert found.row["x"] == (limit if e.decision else nextafter(limit, inf))
            assert e.queries <= 3 + 9 + 64
            assert found.cost == found.cost_at_least
            assert e.grids == {"x": f"256 quantiles of the values seen{IN_BETWEEN}"}
            assert explainer.verify(e)


class Half:
    """A case in float16, so that every row of a small range can be listed."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"half/{seed}")
        self.columns = rng.choice([1, 2, 2, 3])
        cells = {f"x{i}": np.array([rng.choice(STEPS) for _ in range(6)], "float16") for i in range(self.columns)}
        self.table = pd.DataFrame(cells)
        self.table["n"] = [rng.randrange(4) for _ in range(6)]
        up = [name for name in self.table if rng.random() < 0.6]
        down = [name for name in self.table if name not in up]
        self.space = Space.from_frame(self.table, increasing=up, decreasing=down, steps="seen")
        self.signs = [1 if name in up else -1 for name in self.table]
        self.weights = [rng.choice([0.5, 1, 2]) for _ in self.signs]
        self.threshold = rng.uniform(-1, 2)
        self.cost = rng.choice([None, range_share])
        self.row = self.table.iloc[[rng.randrange(6)]]
        self.explainer = Explainer(self.predict, self.space, threshold=self.threshold, cost=self.cost)

    def score(self, row: Any) -> float:
        return float(sum(s * w * v for s, w, v in zip(self.signs, self.weights, row, strict=True)))

    def predict(self, rows: Any) -> Any:
        return np.array([self.score(map(float, row)) for row in rows.to_numpy(dtype=float)])


STEPS = [float(value) for value in np.arange(np.float16(1).view(np.int16), dtype=np.int16)[-60:].view(np.float16)]


@pytest.mark.parametrize("seed", range(80))
def test_no_single_value_can_be_relaxed(seed: int) -> None:
    case = Half(seed)
    e = case.explainer.explain(case.row, exact=True, batch=(1, 8, 32)[seed % 3])
    grid = case.explainer.explain(case.row)
    assert e.flipsets == grid.flipsets
    assert case.explainer.verify(e)
    assert Explanation.from_json(e.to_json()).counterfactuals == e.counterfactuals
    by_set = {one.flipset: one for one in grid.counterfactuals}
    for one in e.counterfactuals:
        start = by_set[one.flipset]
        assert one.cost <= start.cost
        assert one.cost_at_least <= one.cost
        values = list(one.row.values())
        assert (case.score(values) >= case.threshold) != e.decision
        # Taken back by hand from the grid, number by number, in the order of the columns.
        expected = list(start.row.values())
        for i, name in enumerate(case.space.names[: case.columns]):
            own = np.float16(e.row[name])
            while np.float16(expected[i]) != own:
                nearer = [*expected]
                nearer[i] = float(np.nextafter(np.float16(expected[i]), own))
                if nearer[i] == own or (case.score(nearer) >= case.threshold) == e.decision:
                    break
                expected = nearer
        assert values == expected


@pytest.mark.parametrize("seed", range(0, 80, 7))
def test_every_path_gives_the_same_exact_values(seed: int) -> None:
    case = Half(seed)
    alone = [case.explainer.explain(case.table.iloc[[i]], exact=True, batch=1) for i in range(len(case.table))]
    together = case.explainer.explain_table(case.table, exact=True, width=3)
    limited = [case.explainer.explain(case.table.iloc[[i]], exact=True, max_queries=10**6) for i in range(6)]
    for one, other, third in zip(alone, together, limited, strict=True):
        assert isinstance(other, Explanation)
        assert one.counterfactuals == other.counterfactuals == third.counterfactuals
        assert one.grids == other.grids == third.grids


def test_a_budget_that_ends_leaves_a_row_that_flips() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0]})
    space = Space.from_frame(table, increasing=["x", "y"], steps="seen")
    explainer = Explainer(lambda rows: rows["x"] + rows["y"] >= 2.7, space)
    needed = explainer.explain([0.0, 0.0], exact=True, batch=1).queries
    seen = set()
    for queries in range(4, needed):
        e = explainer.explain([0.0, 0.0], exact=True, batch=1, max_queries=queries)
        for one in e.counterfactuals:
            assert one.score >= 0.5
            seen.add(tuple(one.row.values()))
        assert explainer.verify(e)
    assert len(seen) > 10  # the values get tighter with the budget


def test_with_a_step_the_threshold_is_rounded_outward() -> None:
    space = Space(
        [Feature("x", direction=1, lower=0, upper=1, step=0.1), Feature("n", "integer", direction=1, lower=0, upper=9)]
    )
    explainer = Explainer(lambda rows: rows[:, 0] + rows[:, 1] / 10 >= 0.4321, space)
    exact, grid = (explainer.explain([0.02, 0], exact=one) for one in (True, False))
    assert exact.counterfactuals == grid.counterfactuals
    assert [one.row for one in exact.counterfactuals] == [{"x": 0.5, "n": 0}, {"x": 0.02, "n": 5}]
    assert not is_exact(exact.grids)


def test_a_wrong_exact_value_is_refused() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    explainer = Explainer(lambda rows: rows["x"] >= 1.3, Space.from_frame(table, increasing=["x"], steps="seen"))
    e = explainer.explain([0.0], exact=True)
    text = e.to_json()
    assert explainer.verify(Explanation.from_json(text))
    beyond = Explanation.from_json(text.replace("1.3", "2.5"))
    assert any("which it cannot become" in problem for problem in explainer.verify(beyond).problems)
    unsaid = Explanation.from_json(text.replace(IN_BETWEEN, ""))
    assert any("which it cannot become" in problem for problem in explainer.verify(unsaid).problems)


def test_a_model_that_is_not_monotone_is_noticed() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    space = Space.from_frame(table, increasing=["x"], steps="seen")

    def bumpy(rows: Any) -> Any:
        return (rows["x"] >= 1.5) | ((rows["x"] > 1.1) & (rows["x"] < 1.35))

    explainer = Explainer(bumpy, space)
    found = []
    for batch in (1, 8):
        try:
            found.append(explainer.explain([0.0], exact=True, batch=batch).counterfactuals[0].row["x"])
        except NotMonotone as error:
            assert error.rows is not None
            found.append("error")
        e = explainer.explain([0.0], exact=True, batch=batch, strict=False)
        assert bumpy(pd.DataFrame([e.counterfactuals[0].row])).all()
    assert "error" in found


def test_exact_needs_values_and_a_cost_that_does_not_fall() -> None:
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    space = Space.from_frame(table, increasing=["x"], steps="seen")
    with pytest.raises(InputError, match="exact=True finds values, and values=False finds none"):
        Explainer(lambda rows: rows["x"] >= 1.3, space).explain([0.0], exact=True, values=False)
    odd = Explainer(lambda rows: rows["x"] >= 1.3, space, cost={"x": lambda _, after: 5 if after % 1 else after})
    with pytest.raises(InputError, match="feature 'x': its cost falls from"):
        odd.explain([0.0], exact=True)


def test_limits_for_one_row_hold_for_exact_values_too() -> None:
    space = Space(
        [Feature("x", direction=1, lower=0, upper=9, max_rise=2.5), Feature("y", direction=1, lower=0, upper=9)]
    )
    explainer = Explainer(lambda rows: rows[:, 0] > 3.3, space)
    e = explainer.explain([1.0, 0.0], exact=True)
    assert e.counterfactuals[0].row["x"] == nextafter(3.3, inf)
    assert explainer.explain([0.5, 0.0], exact=True).status == "none"
    # A bound that is nearer for this row: the value may not be taken back beyond it.
    e = explainer.explain([1.0, 0.0], exact=True, bounds={"x": (3.4, None)})
    assert e.counterfactuals[0].row["x"] == 3.4
