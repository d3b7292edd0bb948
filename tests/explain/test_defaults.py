"""What is read off a model and a table where nothing else is said."""

from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, InputError, NotMonotone, Space
from flipset.explain.defaults import check_reach, space_of, threshold_of
from flipset.models.scorer import Scorer

TABLE = pd.DataFrame({"income": [1.0, 5.0], "debt": [2.0, 0.0], "note": ["x", "y"]})


def scorer(**more: Any) -> Scorer:
    return Scorer(lambda rows: np.zeros(len(rows)), **more)


def test_directions_are_the_models_and_bounds_the_tables() -> None:
    space = space_of(TABLE, scorer(names=("income", "debt"), directions={"income": 1, "debt": -1}))
    assert space.names == ("income", "debt")  # columns that the model does not take are left out
    assert [(f.direction, f.lower, f.upper) for f in space.features] == [(1, 1.0, 5.0), (-1, 0.0, 2.0)]


def test_a_column_without_direction_is_held_fixed() -> None:
    space = space_of(TABLE, scorer(names=("income", "debt"), directions={"income": 1}))
    assert [feature.ordered for feature in space.features] == [True, False]


def test_a_model_that_knows_no_directions_cannot_be_read() -> None:
    with pytest.raises(InputError, match="say it yourself"):
        space_of(TABLE, scorer())
    with pytest.raises(InputError, match=r"flipset.Space or a frame, got list"):
        space_of([[1, 2]], scorer(directions={"income": 1}))


def test_the_threshold_is_as_said_or_the_models_own() -> None:
    assert threshold_of(None, scorer(threshold=0.25)) == 0.25
    assert threshold_of(np.float32(0.5), scorer(threshold=0.25)) == 0.5
    assert threshold_of(3, scorer()) == 3.0
    with pytest.raises(InputError, match="needs a threshold"):
        threshold_of(None, scorer(threshold=None))


@pytest.mark.parametrize("threshold", [nan, inf, "0.5", [0.5]])
def test_a_threshold_is_a_finite_number(threshold: Any) -> None:
    with pytest.raises(InputError, match="threshold must be a finite number"):
        threshold_of(threshold, scorer())


@pytest.mark.parametrize(("threshold", "what"), [(50, "no score reaches it"), (0, "every score"), (-1, "every score")])
def test_b11_a_threshold_beyond_all_probabilities_is_refused(threshold: float, what: str) -> None:
    with pytest.raises(InputError, match=f"threshold={threshold}: {what}.*probabilities, from 0 to 1"):
        threshold_of(threshold, scorer(gives_probabilities=True))
    assert threshold_of(threshold, scorer()) == threshold
    assert threshold_of(1, scorer(gives_probabilities=True)) == 1


@pytest.mark.parametrize(("threshold", "what"), [(50.0, "no score reaches it"), (1.5, "no score reaches it")])
def test_b11_a_threshold_that_no_score_of_a_table_reaches_is_refused(threshold: float, what: str) -> None:
    space = Space.from_frame(TABLE[["income", "debt"]], increasing=["income"], decreasing=["debt"])

    def model(rows: Any) -> Any:
        return (rows["income"] - rows["debt"] + 5).to_numpy() / 20

    explainer = Explainer(model, space, threshold=threshold)
    with pytest.raises(InputError, match=f"{what}, because the scores of this table lie between"):
        explainer.explain_table(TABLE[["income", "debt"]])


def test_a_table_in_which_nothing_flips_is_no_mistake() -> None:
    space = Space.from_frame(TABLE[["income", "debt"]], increasing=["income"], decreasing=["debt"])
    for model, threshold in ((lambda rows: rows["income"].to_numpy() / 20, 0.9), (lambda rows: rows["income"] * 9, 50)):
        found = Explainer(model, space, threshold=threshold).explain_table(TABLE[["income", "debt"]])
        assert {e.status for e in found if isinstance(e, Explanation)} <= {"none", "optimal"}
        assert found.summary().errors == 0


def test_errors_alone_reach_nothing() -> None:
    check_reach([], 50)
    check_reach([NotMonotone(frozenset(), frozenset())], 50)
