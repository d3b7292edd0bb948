"""Edges of spaces, rows and types where explanations could go wrong in silence."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import Explainer, Explanation, Feature, FlipsetError, InputError, NotMonotone, Space


def whole(name: str, direction: Any = +1, upper: int = 100, **how: Any) -> Feature:
    return Feature(name, "integer", direction=direction, lower=0, upper=upper, **how)


def test_advice_is_printed_exactly() -> None:
    space = Space([Feature("income", direction=+1, lower=0, upper=2e6, step=0.25)])
    c = Explainer(lambda rows: rows[:, 0] >= 1234564.25, space).explain([0]).counterfactuals[0]
    assert str(c) == "income: 0 → at least 1234564.25"


def test_no_value_changes_on_its_way_to_the_model() -> None:
    frame = pd.DataFrame({"home": pd.Series(["flat", "house"], dtype="category")})
    explainer = Explainer(
        lambda rows: rows["home"].isna(), Space.from_frame(frame, categorical={"home": ["flat", "castle"]})
    )
    with pytest.raises(InputError, match="column 'home' of type category cannot hold 'castle'"):
        explainer.explain(["flat"])
    flags = pd.DataFrame({"b": [True, False]})
    with pytest.raises(InputError, match="column 'b' of type bool cannot hold None"):
        Explainer(lambda rows: ~rows["b"], Space.from_frame(flags, increasing=["b"])).explain([None])


def test_limits_hold_for_options_and_one_hot_columns_too() -> None:
    job = [Feature(name, "binary", group="job") for name in ("clerk", "nurse", "driver")]

    def drives(rows: Any) -> Any:
        return rows[:, 2] == 1

    assert Explainer(drives, Space(job)).explain([1, 0, 0]).status == "optimal"
    assert Explainer(drives, Space(job)).explain([1, 0, 0], bounds={"driver": (0, 0)}).status == "none"
    assert Explainer(drives, Space([*job[:2], replace(job[2], may_rise=False)])).explain([1, 0, 0]).status == "none"
    assert Explainer(drives, Space([replace(job[0], may_fall=False), *job[1:]])).explain([1, 0, 0]).status == "none"
    x = Feature("x", "integer", options=(1, 2, 3))

    def three(rows: Any) -> Any:
        return rows[:, 0] == 3

    assert Explainer(three, Space([x])).explain([1]).status == "optimal"
    assert Explainer(three, Space([x])).explain([1], bounds={"x": (1, 2)}).status == "none"
    assert Explainer(three, Space([replace(x, may_rise=False)])).explain([1]).status == "none"


def test_special_codes_may_not_lie_in_the_range() -> None:
    with pytest.raises(InputError, match="the special code 50 lies between its bounds 0 and 60"):
        whole("months", upper=60, special=(50,))
    with pytest.raises(InputError, match="'b' is both a special code and one of its values"):
        Feature("x", "ordinal", direction=+1, options=("a", "b"), special=("b",))


def test_a_level_that_was_not_seen_is_still_a_column_of_its_one_hot_group() -> None:
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 0], "c": [0, 0, 0]})
    space = Space.from_frame(frame, groups={"job": ["a", "b", "c"]})
    assert space.groups[0].one_hot
    assert Explainer(lambda rows: rows["c"] == 1, space).explain([1, 0, 0]).flipsets == (("job",),)


def test_the_frontier_of_sets_that_are_not_minimal_and_of_missing_values() -> None:
    two = Space([whole("a", upper=9), whole("b", upper=9)])
    assert Explainer(lambda rows: rows[:, 0] >= 5, two).frontier([0, 0], ["a", "b"]).points == ((5, 0),)

    def only_missing(rows: Any) -> Any:
        return np.isnan(rows[:, 0]) & (rows[:, 1] >= 5)

    filled = Space([replace(one, missing="may be filled") for one in two.features])
    with pytest.raises(InputError, match="does not change the decision"):
        Explainer(only_missing, filled).frontier([None, 0], ["a", "b"])
    linked = Space([whole("a", upper=9, group="g"), whole("b", upper=9, group="g")])
    points = Explainer(lambda rows: rows[:, 0] + 2 * rows[:, 1] >= 15, linked).frontier([1, 1], ["g"]).points
    assert points == ((1, 7), (3, 6), (5, 5), (7, 4), (9, 3))


def test_verify_checks_every_claim() -> None:
    explainer = Explainer(lambda rows: rows[:, 0] - rows[:, 1] >= 60, Space([whole("a"), whole("b", -1)]))
    e = explainer.explain([40, 30])
    assert explainer.verify(e)
    c = e.counterfactuals[0]
    for forged in (
        replace(e, flipsets=(("b",),)),
        replace(e, size=7, lower=7, upper=7),
        replace(e, reasons=(("zzz",),)),
        replace(e, status="none", flipsets=(), lower=None, upper=None, size=None),
        replace(e, threshold=0.9),
        replace(e, score=99.0),
        replace(e, counterfactuals=(replace(c, score=0.7),)),
        replace(e, counterfactuals=(replace(c, row=e.row, score=0.0),)),
    ):
        assert not explainer.verify(forged)


def test_weights_are_one_scale_for_all_rows() -> None:
    explainer = Explainer(lambda rows: rows.sum(axis=1) >= 150, Space([whole("a", weight=2), whole("b", weight=3)]))
    assert [explainer.explain(row).size for row in ([0, 0], [100, 0])] == [5, 3]


def test_rows_far_away_and_very_large_whole_numbers() -> None:
    far = Explainer(lambda rows: rows[:, 0] > 50, Space([whole("a")]))
    for value in (-1e22, -1e300):
        assert far.explain([value]).counterfactuals[0].changes[0].after == 51
    start = 2**60 + 1
    frame = pd.DataFrame({"a": [start, start + 1000]})
    explainer = Explainer(lambda rows: rows["a"] > start, Space.from_frame(frame, increasing=["a"]))
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=2**62)], reference=frame)
    assert Explainer(lambda rows: rows["a"] > start, space).explain([start]).counterfactuals[0].row["a"] == start + 1
    assert explainer.explain([start]).status == "optimal"


def test_booleans_stay_booleans() -> None:
    seen: list[Any] = []

    def predict(rows: Any) -> Any:
        seen.extend(rows["b"].to_list())
        return np.array([value is True for value in rows["b"].to_list()])

    for frame in (pl.DataFrame({"b": [True, False, None]}), pd.DataFrame({"b": [True, False, None]}, dtype=object)):
        (feature,) = Space.from_frame(frame, increasing=["b"]).features
        space = Space([replace(feature, missing="may be filled")], reference=frame)
        e = Explainer(predict, space).explain({"b": None})
        assert e.counterfactuals[0].row["b"] is True
    assert {type(value) for value in seen} == {bool, type(None)}
    options = Space([Feature("b", "binary", options=(0, 1))], reference=pd.DataFrame({"b": [True, False]}))
    assert Explainer(lambda rows: ~rows["b"], options).explain([True]).counterfactuals[0].row == {"b": False}


def test_cells_that_do_not_change_reach_the_model_as_they_were() -> None:
    frame = pd.DataFrame({"c": pd.Series(["x", np.nan, "y"], dtype=object), "a": [1, 2, 3]})

    def predict(rows: Any) -> Any:
        assert not any(value is None for value in rows["c"])
        return rows["a"] >= 3

    e = Explainer(predict, Space.from_frame(frame, increasing=["a"])).explain(frame.iloc[1])
    assert e.status == "optimal"


def test_numbers_with_an_order_move_by_one() -> None:
    space = Space([Feature("grade", "ordinal", direction=+1, lower=1, upper=5)])
    assert (
        str(Explainer(lambda rows: rows[:, 0] >= 2.5, space).explain([1]).counterfactuals[0]) == "grade: 1 → at least 3"
    )


def test_a_missing_value_can_be_left_whichever_way_the_column_may_move() -> None:
    space = Space([whole("a", may_rise=False, missing="may be filled")])
    e = Explainer(lambda rows: rows[:, 0] >= 50, space).explain([None])
    assert e.counterfactuals[0].row == {"a": 50}


def test_columns_of_a_group_that_cannot_move_are_listed() -> None:
    space = Space([whole("a", group="g"), Feature("b", group="g")])
    assert Explainer(lambda rows: rows[:, 0] >= 50, space).explain([1, 1]).held_fixed == ("b",)


def test_models_that_are_not_monotone_never_end_in_a_raw_error() -> None:
    def noisy(rows: Any, seed: int) -> Any:
        return np.array([Random(f"{seed}/{row}").random() < 0.4 for row in rows.tolist()])

    outcomes = set()
    for seed in range(400):
        space = Space([whole(f"x{i}", upper=4) for i in range(3)])
        objectives: tuple[Literal["size", "cost"], ...] = ("size", "cost")
        for objective in objectives:
            explainer = Explainer(partial(noisy, seed=seed), space)
            try:
                e = explainer.explain([0, 0, 0], objective=objective, batch=(1, 8)[seed % 2])
            except NotMonotone:
                outcomes.add("refused")
            else:
                outcomes.add(e.status)
                for c in e.counterfactuals:
                    assert bool(noisy(np.array([[float(v) for v in c.row.values()]]), seed)[0]) != e.decision
    assert {"refused", "optimal"} <= outcomes


def test_going_on_after_a_contradiction_marks_the_result_and_shows_the_rows() -> None:
    def noisy(rows: Any, seed: int) -> Any:
        return np.array([Random(f"{seed}/{row}").random() < 0.4 for row in np.asarray(rows, dtype=float).tolist()])

    outcomes = set()
    objectives: tuple[Literal["size", "cost"], ...] = ("size", "cost")
    for seed in range(300):
        space = Space([whole(f"x{i}", upper=4) for i in range(4)])
        explainer = Explainer(partial(noisy, seed=seed), space)
        for objective in objectives:
            row = [seed % 3, 0, 1, 0]
            e = explainer.explain(row, objective=objective, batch=(1, 8)[seed % 2], values=bool(seed % 5), strict=False)
            outcomes.add(e.status)
            assert Explanation.from_json(e.to_json()) == e
            if e.status != "unproved":
                assert not e.contradictions
                continue
            assert (e.size, e.lower) == (None, None)
            assert not explainer.verify(e)
            for turned, stays in e.contradictions:
                asked = noisy([list(turned.values()), list(stays.values())], seed)
                assert [bool(label) != e.decision for label in asked] == [True, False]
                sign = -1 if e.decision else 1
                assert all(sign * (stays[name] - turned[name]) >= 0 for name in turned)
            for c in e.counterfactuals:
                assert bool(noisy([list(c.row.values())], seed)[0]) != e.decision
                assert c.cost_at_least == 0
    assert {"unproved", "optimal", "none"} <= outcomes


def test_a_contradiction_is_shown_as_two_rows() -> None:
    space = Space([whole("a", upper=9), whole("b", upper=9)])
    found = []
    for seed in range(60):
        try:
            Explainer(lambda rows, seed=seed: (rows[:, 0] * 7 + rows[:, 1] * 5 + seed) % 11 >= 6, space).explain([0, 0])
        except NotMonotone as error:
            assert error.rows is not None
            found.append(error)
            again = pickle.loads(pickle.dumps(error))
            assert (str(again), again.rows, again.smaller) == (str(error), error.rows, error.smaller)
    assert found


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["12"], "feature 'a': the row has '12'; expected a finite number"),
        ([float("inf")], "the row has inf; expected a finite number"),
        (np.zeros((2, 1)), "the row has 2 values; expected 1"),
        ([[1, 2]], "the row has 2 values; expected 1"),
    ],
)
def test_odd_cells_are_refused(row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Explainer(lambda rows: rows[:, 0] >= 50, Space([whole("a")])).explain(row)


def test_odd_cells_that_can_be_read_are() -> None:
    explainer = Explainer(lambda rows: rows[:, 0] >= 50, Space([whole("a")]))
    for row in ([True], np.array([[5.0]]), [np.int64(5)], {"a": np.float32(5)}):
        assert explainer.explain(row).counterfactuals[0].changes[0].after == 50
    with pytest.raises(InputError, match="one row was expected, not several"):
        Explainer(lambda rows: rows[:, 0] >= 50, Space([whole("a"), whole("b")])).explain(np.zeros((2, 2)))


BASE = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
AnyFeature: Any = Feature
AnySpace: Any = Space
AnyExplainer: Any = Explainer


def one(cost: Any = None, **how: Any) -> Any:
    return AnyExplainer(lambda rows: rows[:, 0] >= 50, Space([whole("a")]), cost=cost).explain([0], **how)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: AnyFeature("x", options=([1], [2])),
        lambda: AnyFeature("x", options=("a", None)),
        lambda: AnyFeature("x", group=["g"]),
        lambda: AnyFeature("x", fixed="yes"),
        lambda: AnyFeature("x", direction=+1, lower=False, upper=3),
        lambda: AnySpace(5),
        lambda: AnySpace(whole("a")),
        lambda: AnySpace([whole("a", group="g")], {"g": ["a"]}),
        lambda: AnySpace.from_json(None),
        lambda: AnySpace.from_toml(None),
        lambda: AnySpace.from_frame(BASE, special={"x": -7}),
        lambda: AnySpace.from_frame(BASE, ordinal=["x"]),
        lambda: AnySpace.from_frame(BASE, groups=["x"]),
        lambda: AnySpace.from_frame(BASE, steps=0.5),
        lambda: AnySpace.from_frame(BASE, quantiles=("a", "b")),
        lambda: AnySpace.from_frame(pd.DataFrame([[1, 2]], columns=["x", "x"])),
        lambda: AnySpace([whole("a")]).with_changes(fixed=3),
        lambda: AnySpace([whole("a")]).with_changes(bounds=["a"]),
        lambda: one(max_block="x"),
        lambda: one(cost=lambda before, after: after - before),
        lambda: one(cost={"a": lambda before, after: 1 / 0}),
    ],
)
def test_bad_arguments_end_in_one_clear_error(attempt: Callable[[], Any]) -> None:
    with pytest.raises(InputError) as raised:
        attempt()
    assert isinstance(raised.value, FlipsetError)
    assert len(str(raised.value)) > 20


def test_what_libraries_hand_over_is_taken() -> None:
    feature = AnyFeature("x😀", direction=np.int64(1), lower=np.float32(0), upper=np.int64(9), weight=np.int64(2))
    space = AnySpace([feature, AnyFeature("\x7f\t", "binary", direction=-1)])
    assert AnySpace.from_toml(space.to_toml()) == AnySpace.from_json(space.to_json()) == space
    AnySpace.from_frame(BASE, increasing=["x"], quantiles=[0.1, 0.9], fixed=None, bounds=None)
    explainer = AnyExplainer(lambda rows: rows[:, 0], Space([whole("a")]), threshold=np.float32(50))
    assert explainer.explain([0]).counterfactuals[0].row == {"a": 50}
    prices = {"a": lambda before, after: np.float32(after - before)}
    assert one(cost=prices).counterfactuals[0].cost == 50
