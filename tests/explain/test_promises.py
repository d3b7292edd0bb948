"""What `Explainer` promises, one by one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import (
    Explainer,
    Feature,
    Flips,
    Group,
    InputError,
    NotMonotone,
    OracleError,
    Search,
    Space,
    ask,
    range_share,
)

INCOME = Feature("income", "integer", direction=+1, lower=0, upper=100)
DEBT = Feature("debt", "integer", direction=-1, lower=0, upper=100)
AGE = Feature("age", "integer", direction=+1, lower=18, upper=80, may_fall=False, fixed=True)


def balance(rows: Any) -> Any:
    """Approve where income exceeds debt by 60."""
    return rows[:, 0] - rows[:, 1] >= 60


def explain(row: Any, predict: Callable[[Any], Any] = balance, space: Space | None = None, **how: Any) -> Any:
    return Explainer(predict, space or Space([INCOME, DEBT, AGE])).explain(row, **how)


def test_one_feature_is_enough_and_how_much_of_it() -> None:
    e = explain([40, 30, 50])
    assert (e.decision, e.status, e.size, e.flipsets, e.reasons) == (
        False,
        "optimal",
        1,
        (("income",),),
        (("income",),),
    )
    (c,) = e.counterfactuals
    assert str(c) == "income: 40 → at least 90"
    assert (c.row, c.score, c.cost) == ({"income": 90, "debt": 30, "age": 50}, 1.0, 0.5)
    assert (e.held_fixed, e.features, e.grids) == (("age",), ("income", "debt"), {"income": "multiples of 1"})
    assert e.proof.check(2)


def test_an_approved_row_is_explained_the_other_way() -> None:
    e = explain([95, 20, 50])
    assert (e.decision, e.flipsets) == (True, (("income",), ("debt",)))
    assert [str(c) for c in e.counterfactuals] == ["income: 95 → at most 79", "debt: 20 → at least 36"]


def test_fixed_and_bounds_for_one_row() -> None:
    assert explain([40, 30, 50], fixed=["income"]).status == "none"
    e = explain([40, 30, 50], bounds={"income": (None, 85)})
    assert e.flipsets == (("income", "debt"),)
    assert {str(change) for change in e.counterfactuals[0].changes} <= {
        f"income: 40 → at least {85 - k}" for k in range(30)
    } | {f"debt: 30 → at most {25 - k}" for k in range(30)}
    assert explain([40, 30, 50]).flipsets == (("income",),)  # the explainer itself has not changed


def test_a_row_outside_its_bounds_is_never_pushed_the_wrong_way() -> None:
    e = explain([120, 70, 50])  # more income than the bound allows to reach: it stays there
    assert e.flipsets == (("debt",),)
    assert e.counterfactuals[0].row == {"income": 120, "debt": 60, "age": 50}
    assert explain([200, 0, 50]).counterfactuals[0].changes[0].after <= 100


def test_none_is_proved_and_says_why() -> None:
    e = explain([40, 30, 50], fixed=["income", "debt"])
    assert (e.status, e.flipsets, e.counterfactuals, e.lower, e.upper) == ("none", (), (), None, None)
    assert e.held_fixed == ("income", "debt", "age")
    e = explain([0, 100, 50], bounds={"income": (0, 50)})
    assert (e.status, e.size) == ("none", None)


def test_at_most_so_many_changes() -> None:
    row, bounds = [40, 30, 50], {"income": (0, 70)}
    assert explain(row, bounds=bounds).size == 2
    e = explain(row, bounds=bounds, max_changes=1)
    assert (e.status, e.lower, e.upper, e.flipsets) == ("none", 2, None, ())
    assert e.proof.lower() == 2
    assert explain(row, bounds=bounds, max_changes=2).size == 2
    with pytest.raises(InputError, match="max_changes must be a whole number of at least 1, got 0"):
        explain(row, max_changes=0)
    heavy = Space([Feature("a", "binary", direction=1, weight=2), Feature("b", "binary", direction=1)])
    with pytest.raises(InputError, match="use one of the two"):
        explain([0, 0], lambda rows: rows.sum(axis=1) >= 2, heavy, max_changes=1)


def test_weights_make_a_change_count_more() -> None:
    space = Space([Feature("a", "binary", direction=1, weight=3), *(Feature(n, "binary", direction=1) for n in "bc")])
    e = explain([0, 0, 0], lambda rows: (rows[:, 0] == 1) | (rows[:, 1:].sum(axis=1) == 2), space)
    assert (e.flipsets, e.size) == ((("b", "c"),), 2)


def test_options_of_features_without_order() -> None:
    space = Space([INCOME, Feature("job", "categorical", options=("a", "b", "c"))])

    def predict(rows: Any) -> Any:
        return [row[0] >= {"a": 90, "b": 50, "c": 70}[row[1]] for row in rows]

    e = explain([40, "a"], predict, space)
    assert e.flipsets == (("income",),)
    e = explain([40, "a"], predict, space, bounds={"income": (0, 60)})
    assert [str(c) for c in e.counterfactuals] == ["income: 40 → at least 50; job: a → b"]
    # A category that is no option may stay, or become one.
    e = explain([40, "z"], lambda rows: [row[0] >= {"a": 90, "b": 50}.get(row[1], 95) for row in rows], space)
    assert {str(c) for c in e.counterfactuals} == {"income: 40 → at least 95"}
    e = explain([55, "z"], lambda rows: [row[0] >= {"a": 90, "b": 50}.get(row[1], 95) for row in rows], space)
    assert {str(c) for c in e.counterfactuals} == {"income: 55 → at least 95", "job: z → b"}


def test_missing_values_can_be_left_and_are_entered_only_when_allowed() -> None:
    seen: list[Any] = []

    def predict(rows: Any) -> Any:
        seen.extend(rows[:, 0])
        return np.where(np.isnan(rows[:, 0]), 0.4, rows[:, 0] / 100)

    e = explain([None], predict, Space([INCOME]))
    assert (e.status, e.held_because) == ("none", {"income": "missing"})
    e = explain([None], predict, Space([replace(INCOME, missing="may be filled")]))
    assert str(e.counterfactuals[0]) == "income: missing → at least 50"
    seen.clear()
    explain([10], predict, Space([INCOME]))
    assert not np.isnan(seen).any()
    better_missing = Space([Feature("income", "integer", direction=+1, lower=0, upper=20, missing=True)])
    e = explain([10], lambda rows: np.isnan(rows[:, 0]), better_missing)
    assert str(e.counterfactuals[0]) == "income: 10 → missing"


def test_special_codes_are_outside_the_order() -> None:
    months = Feature("months", "integer", direction=+1, lower=0, upper=60, special=(-7, -8))

    def predict(rows: Any) -> Any:  # -7, "never delinquent", is best, though it is the least number
        return np.where(rows[:, 0] == -7, 0.9, np.where(rows[:, 0] == -8, 0.1, rows[:, 0] / 100))

    assert explain([12], predict, Space([months])).counterfactuals[0].changes[0].after == 50
    for code in (-7, -8):
        assert explain([code], predict, Space([months])).held_because == {"months": "special code"}
    leaves = replace(months, may_leave=(-7, -8))
    assert explain([-8], predict, Space([leaves])).counterfactuals[0].changes[0].after == 50
    e = explain([-7], predict, Space([leaves]))  # approved; from the code down into the order
    assert (e.decision, str(e.counterfactuals[0])) == (True, "months: -7 → at most 49")
    allowed = Space([replace(months, upper=40, may_become=(-7,))])
    assert str(explain([12], predict, allowed).counterfactuals[0]) == "months: 12 → -7"


def test_one_hot_columns_never_have_two_ones() -> None:
    columns = [Feature(name, "binary", group="job") for name in ("a", "b", "c")]
    seen: list[Any] = []

    def predict(rows: Any) -> Any:
        seen.extend(rows[:, :3].sum(axis=1))
        return rows[:, 2] == 1

    e = explain([1, 0, 0], predict, Space(columns))
    assert (e.flipsets, set(seen)) == ((("job",),), {1.0})
    assert e.counterfactuals[0].row == {"a": 0, "b": 0, "c": 1}
    empty = Space(columns, [Group("job", one_hot=True, may_be_empty=True)])
    e = explain([1, 0, 0], lambda rows: rows.sum(axis=1) == 0, empty)
    assert e.counterfactuals[0].row == {"a": 0, "b": 0, "c": 0}
    assert explain([1, 0, 0], lambda rows: rows.sum(axis=1) == 0, Space(columns)).status == "none"
    e = explain([1, 1, 0], predict, Space(columns))
    assert (e.status, e.held_because) == ("none", {"job": "unknown value"})


def test_linked_columns_count_as_one_change() -> None:
    parts = [Feature(name, "integer", direction=+1, lower=0, upper=5, group="both") for name in ("x", "y")]
    space = Space([*parts, Feature("z", "integer", direction=+1, lower=0, upper=5)])
    e = explain([0, 0, 0], lambda rows: rows[:, 0] + rows[:, 1] >= 7, space)
    assert (e.size, e.flipsets) == (1, (("both",),))
    assert sum(e.counterfactuals[0].row.values()) == 7


def test_a_categorical_with_an_order_costs_one_row() -> None:
    levels = ("none", "some", "good", "best")
    space = Space([Feature("school", "ordinal", direction=+1, options=levels)])

    def predict(rows: Any) -> Any:
        return [levels.index(row[0]) >= 2 for row in rows]

    e = explain(["none"], predict, space, batch=1)
    assert (str(e.counterfactuals[0]), e.queries) == ("school: none → at least good", 4)


def test_too_many_combinations_are_refused_by_name() -> None:
    space = Space([Feature(f"c{i}", "categorical", options=tuple("abcdefgh")) for i in range(5)])
    with pytest.raises(InputError, match=r"up to 32,768 queries, more than max_block=4,096.*'c0' \(8\)"):
        explain(["a"] * 5, lambda rows: np.zeros(len(rows)), space)
    assert explain(["a"] * 5, lambda rows: np.zeros(len(rows)), space, fixed=["c0"]).status == "none"


def test_cheapest_may_change_more_than_the_smallest_set() -> None:
    space = Space([INCOME, DEBT])
    cost = {"income": lambda before, after: (after - before) ** 2, "debt": lambda before, after: (before - after) ** 2}
    explainer = Explainer(balance, space, cost=cost)
    assert str(explainer.explain([40, 30]).counterfactuals[0]) == "income: 40 → at least 90"
    (c,) = explainer.explain([40, 30], objective="cost").counterfactuals
    assert (str(c), c.cost, c.flipset) == ("income: 40 → at least 65; debt: 30 → at most 5", 1250.0, ("income", "debt"))
    (c,) = explainer.explain([40, 30], objective="cost", max_changes=1).counterfactuals
    assert c.flipset == ("income",)
    with pytest.raises(InputError, match='objective must be "size" or "cost"'):
        explainer.explain([40, 30], objective="cheap")


def test_default_costs_are_shares_of_the_population() -> None:
    frame = pd.DataFrame({"income": [10, 20, 30, 40, 90, 95, 97, 98, 99, 100], "debt": [30] * 10})
    space = Space.from_frame(frame, increasing=["income"])
    e = Explainer(lambda rows: rows["income"] >= 90, space).explain({"income": 30, "debt": 30})
    assert e.counterfactuals[0].cost == 0.2  # the people at 40 and at 90
    e = Explainer(lambda rows: rows["income"] >= 90, space, cost=range_share).explain([30, 30])
    assert e.counterfactuals[0].cost == pytest.approx(60 / 90)


@pytest.mark.parametrize("module", [pd, pl], ids=["pandas", "polars"])
def test_the_model_gets_the_frame_it_was_made_for(module: Any) -> None:
    kind = pd.CategoricalDtype(["low", "high"]) if module is pd else pl.Enum(["low", "high"])
    frame = module.DataFrame(
        {
            "amount": module.Series([1.0, 2.0, 4.0], dtype="float32" if module is pd else pl.Float32),
            "count": [1, 2, 3],
            "level": module.Series(["low", "high", "low"], dtype=kind),
            "flag": [True, False, True],
        }
    )
    types = dict(frame.dtypes) if module is pd else dict(frame.schema)

    def predict(rows: Any) -> Any:
        assert (dict(rows.dtypes) if module is pd else dict(rows.schema)) == types
        high = np.array([level == "high" for level in rows["level"]])
        return np.asarray(rows["count"]) + 2 * high + np.asarray(rows["flag"]) >= 5

    space = Space.from_frame(frame, increasing=["amount", "count", "flag"], categorical=["level"])
    explainer = Explainer(predict, space)
    row = frame.iloc[0] if module is pd else frame[0]
    expected = explainer.explain({"amount": 1.0, "count": 1, "level": "low", "flag": True}).counterfactuals
    assert explainer.explain(row).counterfactuals == expected
    assert {c.flipset for c in expected} == {("count", "level")}
    assert expected[0].row == {"amount": 1.0, "count": 2, "level": "high", "flag": True}
    assert (
        Explainer(predict, Space.from_toml(space.to_toml()), reference=frame).explain(row).counterfactuals == expected
    )


def test_the_frontier_of_two_features() -> None:
    space = Space([INCOME, DEBT, AGE])
    frontier = Explainer(balance, space).frontier([40, 30, 50], ["income", "debt"], bounds={"income": (0, 85)})
    assert (frontier.features, frontier.before) == (("income", "debt"), (40, 30))
    assert frontier.points == tuple((60 + k, k) for k in range(26))
    with pytest.raises(InputError, match="changing 'income' and 'debt' does not change the decision"):
        Explainer(lambda rows: rows[:, 2] > 60, space).frontier([40, 30, 50], ["income", "debt"])
    with pytest.raises(InputError, match="'age' cannot move on this row; what can is 'income', 'debt'"):
        Explainer(balance, space).frontier([40, 30, 50], ["age", "debt"])
    with pytest.raises(InputError, match="two columns that follow an order"):
        Explainer(balance, space).frontier([40, 30, 50], ["income"])


def test_answers_that_contradict_the_directions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space([Feature(name, "binary", direction=+1) for name in "abc"])

    def curious(d: int, **how: Any) -> Search[tuple[Flips, ...]]:
        yield from ask([0b001, 0b011])
        return ()

    monkeypatch.setattr("flipset.explain.row.guided_search", curious)
    with pytest.raises(NotMonotone, match=r"flipping \{a\} changes the decision, flipping these and \{b\} does not"):
        explain([0, 0, 0], lambda rows: (rows[:, 0] == 1) & (rows[:, 1] == 0), space, batch=8)
    with pytest.raises(NotMonotone, match=r"flipping \{a\} changes the decision, flipping these and \{b, c\} does not"):
        explain([0, 0, 0], lambda rows: (rows[:, 0] == 1) & (rows[:, 1] == 0), space)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1, 2], "the row has 2 values; expected 3: 'income', 'debt', 'age'"),
        ({"income": 1, "debt": 2}, "the row has no 'age'"),
        ("row", "a row must be a mapping, a series, a list or an array, got str"),
        (pd.DataFrame({"income": [1, 2]}), "one row was expected, the frame has 2"),
    ],
)
def test_bad_rows_are_refused(row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explain(row)


@pytest.mark.parametrize(
    "row",
    [
        (40, 30, 50),
        np.array([40, 30, 50]),
        np.array([[40.0, 30.0, 50.0]]),
        {"age": 50, "debt": 30, "income": 40, "id": "x"},
        pd.Series({"debt": 30, "income": 40, "age": 50}),
        pd.DataFrame({"debt": [30], "income": [40], "age": [50]}),
        pl.DataFrame({"debt": [30], "income": [40], "age": [50]}),
    ],
    ids=["tuple", "array", "array of one row", "mapping", "series", "pandas", "polars"],
)
def test_a_row_in_any_form(row: Any) -> None:
    assert str(explain(row).counterfactuals[0]) == "income: 40 → at least 90"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Explainer(3, Space([AGE])), "a model must be a function of rows or have predict_proba"),
        (lambda: Explainer(balance, [AGE]), "space must be a flipset.Space or a frame, got list"),
        (lambda: Explainer(balance, Space([AGE]), threshold=float("nan")), "threshold must be a finite number"),
        (lambda: Explainer(balance, Space([AGE]), cost={"agee": abs}), "cost names 'agee', which is not a feature"),  # type: ignore[dict-item]
        (lambda: Explainer(balance, Space([AGE]), cost={"age": 3}), r"cost\['age'\] must be a function"),  # type: ignore[dict-item]
        (lambda: Explainer(balance, Space([AGE]), cost=3), "cost must be a measure"),  # type: ignore[arg-type]
        (
            lambda: Explainer(balance, Space([AGE]), reference=pd.DataFrame({"years": [1]})),
            "the reference must have the columns of the space, in order: 'age' is in only one of them",
        ),
    ],
)
def test_bad_explainers_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_model_that_cannot_be_read_is_blamed() -> None:
    with pytest.raises(OracleError, match=r"one score per row: shape \(1,\), got \(1, 2, 2\)"):
        explain([1, 2, 3], lambda rows: np.zeros((len(rows), 2, 2)))
    with pytest.raises(OracleError, match="the model raised AttributeError"):
        explain([1, 2, 3], lambda rows: rows.columns["x"])


def test_an_integer_column_cannot_become_missing() -> None:
    frame = pd.DataFrame({"n": [1, 2, 3]})
    space = Space([Feature("n", "integer", direction=+1, lower=1, upper=2, missing=True)])
    with pytest.raises(InputError, match="column 'n' of type int64 cannot hold None"):
        Explainer(lambda rows: rows["n"].isna(), space, reference=frame).explain([1])
