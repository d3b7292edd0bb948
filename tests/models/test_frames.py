"""Frames of every type: what reaches the model is what the frame held, type by type."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import Explainer, FlipsetError, OracleError, Space

N = 24


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "small": rng.random(N).astype(np.float32),
            "count": pd.array([None, *range(1, N)], dtype="Int64"),
            "whole": np.arange(N, dtype=np.int16),
            "ratio": pd.array([0.5, None, *np.linspace(0, 1, N - 2)], dtype="Float64"),
            "flag": np.arange(N) % 2 == 0,
            "maybe": pd.array([True, None, *([False, True] * (N // 2 - 1))], dtype="boolean"),
            "city": pd.array(["a", "b", "c"] * (N // 3), dtype="string"),
            "grade": pd.Categorical(["low", "mid", "high"] * (N // 3), categories=["low", "mid", "high"], ordered=True),
        }
    )


def points(rows: Any) -> Any:
    """A score that is monotone in all but the city."""
    numbers = rows["small"] * 4 + rows["count"].fillna(0).astype(float) / 8 + rows["whole"] / 8
    numbers = numbers + rows["ratio"].fillna(0).astype(float) * 2 + rows["flag"].astype(float)
    numbers = numbers + rows["maybe"].fillna(False).astype(float) + rows["grade"].cat.codes
    return np.asarray(numbers, dtype=float) + 2 * np.asarray(rows["city"] == "b", dtype=float)


def test_every_type_reaches_the_model_as_it_was() -> None:
    table = frame()
    space = Space.from_frame(
        table,
        increasing=["small", "count", "whole", "ratio", "flag", "maybe", "grade"],
        ordinal={"grade": ["low", "mid", "high"]},
        categorical=["city"],
    )
    calls = 0

    def model(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        assert (rows.dtypes == table.dtypes).all()
        assert list(rows.columns) == list(table.columns)
        return points(rows)

    explainer = Explainer(model, space, threshold=9.0)
    t = explainer.explain_table(table)
    assert calls == t.rounds
    for e, score in zip(t, points(table), strict=True):
        assert not isinstance(e, FlipsetError), e
        assert (e.decision, e.score) == (score >= 9.0, score)
        for c in e.counterfactuals:
            again = explainer.explain(c.row)
            assert again.decision != e.decision
            assert again.score == c.score
        assert explainer.verify(e)


def test_polars_and_pandas_say_the_same() -> None:
    table = frame().drop(columns=["grade", "small"])
    given = {"increasing": ["count", "whole", "ratio", "flag", "maybe"], "categorical": ["city"]}
    other = pl.DataFrame({name: [None if pd.isna(v) else v for v in table[name]] for name in table.columns})

    def pandas_model(rows: Any) -> Any:
        return points(rows.assign(small=0.0, grade=pd.Categorical(["low"] * len(rows), categories=["low"])))

    def polars_model(rows: Any) -> Any:
        assert rows.schema == other.schema
        whole = rows["count"].fill_null(0) / 8 + rows["whole"] / 8 + rows["ratio"].fill_null(0) * 2
        flags = rows["flag"].cast(float) + rows["maybe"].fill_null(False).cast(float)
        return (whole + flags + (rows["city"] == "b").cast(float) * 2).to_numpy()

    ours = Explainer(pandas_model, Space.from_frame(table, **given), threshold=5.0).explain_table(table)  # type: ignore[arg-type]
    theirs = Explainer(polars_model, Space.from_frame(other, **given), threshold=5.0).explain_table(other)  # type: ignore[arg-type]
    for a, b in zip(ours, theirs, strict=True):
        assert not isinstance(a, FlipsetError)
        assert not isinstance(b, FlipsetError)
        assert (a.decision, a.flipsets, [c.changes for c in a.counterfactuals]) == (
            b.decision,
            b.flipsets,
            [c.changes for c in b.counterfactuals],
        )


def test_scores_that_are_not_finite() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 2.0]})
    space = Space.from_frame(table, increasing=["a", "b"])
    e = Explainer(lambda rows: np.where(rows["a"] >= 3, np.inf, -np.inf), space, threshold=0).explain([1.0, 0.0])
    assert (e.flipsets, e.score, e.counterfactuals[0].score) == ((("a",),), -np.inf, np.inf)
    nan = Explainer(lambda rows: np.where(rows["a"] >= 3, np.nan, 0.0), space, threshold=0.5)
    with pytest.raises(OracleError, match="the model returned NaN"):
        nan.explain([1.0, 0.0])


def test_a_tie_in_few_digits_is_the_models_tie() -> None:
    """The score is a float32 that is not what the threshold is as a float64."""
    table = pd.DataFrame({"a": np.linspace(0, 1, 11)})
    space = Space.from_frame(table, increasing=["a"], steps={"a": 0.1})
    for threshold in (0.3, float(np.float32(0.3))):
        explainer = Explainer(lambda rows: rows["a"].to_numpy(dtype=np.float32), space, threshold=threshold)
        e = explainer.explain([0.0])
        assert e.counterfactuals[0].row["a"] == 0.3
        assert float(np.float32(0.3)) >= threshold
        assert explainer.explain([0.3]).decision is True
