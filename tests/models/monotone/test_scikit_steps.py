"""Steps before a model: what is said about the order of values is what the step does to them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from flipset.models import read_model
from flipset.models.monotone.inputs import Inputs, columns_of
from flipset.models.monotone.scikit_steps import through
from flipset.models.monotone.show import show_monotone
from flipset.models.monotone.shown import Declared, NotRead
from tests.models.monotone.forests import draw_rows

ROWS, LABELS = draw_rows()
WHOLE = np.round(np.nan_to_num(ROWS), 1)
WHOLE[:, 3] = (WHOLE[:, 3] > 3).astype(float)  # two values


def inputs_of(width: int = 4, **levels: Any) -> Inputs:
    return columns_of(Declared("abcd"[:width], {}, levels))


def check(step: Any, rows: Any, inputs: Inputs, made: Inputs) -> None:
    """Move one column at a time through the step, and compare with what is said about each output."""
    first = np.asarray(_dense(step.transform(rows[:1])))
    assert first.shape[1] == len(made)
    for column in range(rows.shape[1]):
        values = np.unique(rows[:, column])
        values = values[~np.isnan(values)]
        if not values.size:
            continue
        line = np.repeat(rows[:1], len(values), axis=0)
        line[:, column] = values
        outputs = np.asarray(_dense(step.transform(line)), dtype=float)
        for one, output in zip(made, outputs.T, strict=True):
            if column not in one.columns:
                assert len(np.unique(output[~np.isnan(output)])) <= 1
            elif one.sign:
                assert (np.diff(output) * one.sign >= 0).all(), (column, one)
                if one.undo is not None:
                    assert [one.undo(value) for value in output] == pytest.approx(values.tolist())


def _dense(table: Any) -> Any:
    return table.toarray() if hasattr(table, "toarray") else table


KEEP = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    RobustScaler(),
    RobustScaler(with_centering=False, with_scaling=False),
    MaxAbsScaler(),
    MinMaxScaler(),
    MinMaxScaler((-3, 5)),
    SimpleImputer(),
    SimpleImputer(strategy="constant", fill_value=-1),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=20),
    KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
    OrdinalEncoder(),
    FunctionTransformer(),
    VarianceThreshold(),
    SelectKBest(k=2),
    make_pipeline(SimpleImputer(), StandardScaler(), MinMaxScaler()),
    FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())], transformer_weights={"a": -2.0}),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", KEEP, ids=repr)
def test_steps_that_keep_order(step: Any) -> None:
    fitted = step.fit(WHOLE, LABELS)
    made = through(fitted, inputs_of(), "step")
    check(fitted, WHOLE, inputs_of(), made)
    assert all(one.sign for one in made)
    trusted = isinstance(step, (PowerTransformer, QuantileTransformer))
    assert all(bool(one.note) == trusted for one in made)


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_missing_values_and_their_indicators() -> None:
    rows = ROWS.copy()
    rows[:, 2] = np.nan
    step = SimpleImputer(add_indicator=True).fit(rows[:, :3])
    made = through(step, inputs_of(3), "fill")
    assert [(sorted(one.columns), one.sign) for one in made] == [([0], 1), ([1], 1), ([], 1), ([], 1), ([], 1)]
    check(step, rows[:, :3], inputs_of(3), made)
    indicator = MissingIndicator().fit(ROWS)
    assert [one.columns for one in through(indicator, inputs_of(), "which")] == [frozenset()] * 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "step",
    [
        SimpleImputer(strategy="constant", fill_value=7, add_indicator=True),
        SimpleImputer(strategy="constant", fill_value=7, keep_empty_features=True),
        SimpleImputer(keep_empty_features=True),
        MinMaxScaler(),
        MinMaxScaler((-5, -1), clip=True),
        StandardScaler(),
        RobustScaler(),
        MaxAbsScaler(),
    ],
    ids=repr,
)
def test_a_column_without_values_leaves_the_others_in_order(step: Any) -> None:
    rows = WHOLE[:, :3].copy()
    rows[:, 1] = np.nan
    step = step.fit(rows)
    made = through(step, inputs_of(3), "step")
    check(step, rows, inputs_of(3), made)
    for column in (0, 2):
        (own,) = [one for one in made if column in one.columns]
        assert own.sign == 1


def test_a_number_that_stands_for_missing_has_no_place_in_the_order() -> None:
    step = SimpleImputer(missing_values=-7.0).fit(WHOLE)
    assert {one.why_not for one in through(step, inputs_of(), "fill")} == {"the step 'fill' reads -7.0 as missing"}


@pytest.mark.parametrize(
    ("levels", "categories", "how", "sign"),
    [
        (["low", "mid", "high"], ["low", "mid", "high"], {}, 1),
        (["low", "mid", "high"], ["high", "mid", "low"], {}, -1),
        (["low", "mid", "high"], ["high", "low", "mid"], {}, 0),
        (["low", "high"], ["low", "mid", "high"], {}, 1),
        (["low", "mid", "high"], ["low", "mid"], {"handle_unknown": "use_encoded_value", "unknown_value": 9}, 0),
        (["low", "mid"], ["low", "mid"], {"handle_unknown": "use_encoded_value", "unknown_value": 9}, 1),
        (None, ["low", "mid", "high"], {}, 0),
        (None, [1, 2, 5], {}, 1),
        (None, [1, 2, 5], {"handle_unknown": "use_encoded_value", "unknown_value": 9}, 0),
        ([1, 2, 5], [1, 2, 5], {"handle_unknown": "use_encoded_value", "unknown_value": 9}, 1),
        ([2, 5, 1], [1, 2, 5], {}, 0),
        (None, [1, 2, 5], {"max_categories": 2}, 0),
        (["low", "high"], ["low", None, "high"], {}, 1),
    ],
)
def test_ordinal_encoders_keep_the_order_of_levels(
    levels: Any, categories: list[Any], how: dict[str, Any], sign: int
) -> None:
    step = OrdinalEncoder(categories=[categories], **how).fit(np.array(categories, dtype=object)[:, None])
    given = inputs_of(1) if levels is None else inputs_of(1, a=levels)
    (made,) = through(step, given, "encode")
    assert made.sign == sign
    assert bool(made.why_not) == (sign == 0)
    if sign and levels is not None:
        codes = step.transform(np.array(levels, dtype=object)[:, None])[:, 0]
        assert (np.diff(codes) * sign > 0).all()


@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
def test_one_hot_columns_follow_a_column_of_two_values_only(drop: Any) -> None:
    rows = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    step = OneHotEncoder(drop=drop).fit(rows)
    made = through(step, inputs_of(2), "encode")
    check(step, rows, inputs_of(2), made)
    assert all(one.sign for one in made if one.columns == {0})
    assert not all(one.sign for one in made if one.columns == {1})
    lenient = OneHotEncoder(handle_unknown="ignore").fit(rows)
    assert not any(one.sign for one in through(lenient, inputs_of(2), "encode"))
    assert any(one.sign for one in through(lenient, inputs_of(2, a=[False, True]), "encode"))
    rare = OneHotEncoder(max_categories=2).fit(rows)
    assert not any(one.sign for one in through(rare, inputs_of(2), "encode"))


@pytest.mark.parametrize(
    "step",
    [PCA(2), KNNImputer(), FunctionTransformer(np.abs), KBinsDiscretizer(3, encode="onehot", strategy="uniform")],
)
@pytest.mark.filterwarnings("ignore")
def test_other_steps_keep_no_order(step: Any) -> None:
    fitted = step.fit(WHOLE)
    try:
        made = through(fitted, inputs_of(), "odd")
    except NotRead as why_not:
        assert "'odd'" in str(why_not)
    else:
        assert not any(one.sign for one in made)
        assert all("'odd'" in one.why_not for one in made)


def frame() -> pd.DataFrame:
    made = pd.DataFrame(ROWS, columns=list("abcd"))
    made["d"] = made["d"].fillna(0).astype(int).astype(str)
    made["e"] = np.where(WHOLE[:, 0] > 0, "high", "low")
    return made


def test_the_parts_of_a_table_go_their_own_ways() -> None:
    table = frame()
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
            ("kinds", OneHotEncoder(), ["d"]),
            ("levels", OrdinalEncoder(categories=[["low", "high"]]), ["e"]),
            ("mixed", make_pipeline(SimpleImputer(), PCA(1)), ["b", "c"]),
            ("dropped", "drop", ["c"]),
        ],
        transformer_weights={"levels": -1.0},
    )
    model = make_pipeline(columns, LogisticRegression()).fit(table, LABELS)
    weights = model[-1].coef_[0]
    scorer = read_model(model)
    up = {"a": int(np.sign(weights[0])), "b": 1, "c": 1, "d": 1, "e": -int(np.sign(weights[-2]))}
    shown = show_monotone(scorer, up, levels={"e": ["low", "high"]})
    assert shown.proved == {"a", "e"}
    assert shown.why_not == {
        "b": "the step 'pca' (PCA) is not read",
        "c": "the step 'pca' (PCA) is not read",
        "d": "the step 'kinds' makes a column of each of its values",
    }
    turned = show_monotone(scorer, {name: -sign for name, sign in up.items()}, levels={"e": ["low", "high"]})
    assert "a" in turned.why_not
    assert "e" in turned.why_not


def test_what_is_left_over_passes_through() -> None:
    columns = ColumnTransformer([("scale", MinMaxScaler(), [1])], remainder="passthrough").fit(WHOLE)
    made = through(columns, inputs_of(), "columns")
    assert [sorted(one.columns) for one in made] == [[1], [0], [2], [3]]
    check(columns, WHOLE, inputs_of(), made)


def test_a_step_that_is_not_read_names_itself() -> None:
    model = Pipeline([("turn", PCA(4)), ("model", LogisticRegression())]).fit(WHOLE, LABELS)
    shown = show_monotone(read_model(model), {"a": 1}, "abcd")
    assert shown.why_not == {"a": "the step 'turn' (PCA) is not read"}


def test_a_class_of_somebody_else_is_not_taken_for_that_of_scikit_learn() -> None:
    class Mine(StandardScaler):  # type: ignore[misc]
        def transform(self, X: Any, copy: Any = None) -> Any:
            return -super().transform(X, copy)

    Mine.__name__ = "StandardScaler"
    with pytest.raises(NotRead, match="is not read"):
        through(Mine().fit(WHOLE), inputs_of(), "scale")


def test_steps_of_another_width_are_refused() -> None:
    with pytest.raises(NotRead, match="takes 4 inputs, not 3"):
        through(StandardScaler().fit(WHOLE), inputs_of(3), "scale")
