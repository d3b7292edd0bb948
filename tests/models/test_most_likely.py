"""Decisions for the most likely class are the model's own, also where classes tie."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from flipset import Explainer, Explanation, Feature, InputError, Space
from flipset.models.most_likely import MostLikely, deciding_classes, margin_of, usual_threshold

SPACE = Space([Feature("a", "integer", direction=1, lower=0, upper=9), Feature("b", "integer", lower=0, upper=9)])


def test_a_margin_reaches_zero_exactly_where_numpy_chooses_a_class_that_counts() -> None:
    rows = np.array(list(itertools.product([0.0, 0.25, 0.5, 1.0], repeat=3)))
    for columns in ([0], [1], [2], [0, 1], [0, 2], [1, 2]):
        margins = margin_of(rows, columns)
        assert ((margins >= 0) == np.isin(rows.argmax(axis=1), columns)).all()
        assert (np.abs(margins) <= 1).all()


def test_a_better_class_never_lowers_the_margin() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (500, 3)) / 4
    better = rows.copy()
    better[:, 1] += rng.integers(0, 3, 500) / 4
    assert (margin_of(better, [1]) >= margin_of(rows, [1])).all()


def test_how_to_decide_is_checked() -> None:
    assert deciding_classes("A", "probability") == "A"
    assert deciding_classes("A", "argmax") == MostLikely(("A",))
    assert deciding_classes(["A", "B"], "argmax") == MostLikely(("A", "B"))
    with pytest.raises(InputError, match='decide must be "probability" or "argmax"'):
        deciding_classes("A", "max")
    with pytest.raises(InputError, match='decide="argmax" needs positive'):
        deciding_classes(None, "argmax")
    assert (usual_threshold(MostLikely((1,))), usual_threshold(1)) == (0.0, 0.5)


def fitted() -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 10, 300), "b": rng.integers(0, 10, 300)})
    grade = np.where(frame["a"] > 6, "A", np.where(frame["a"] + frame["b"] > 7, "B", "C"))
    return LogisticRegression().fit(frame, grade), frame


def test_the_decision_is_the_models_own() -> None:
    model, frame = fitted()
    explainer = Explainer(model, SPACE, positive="A", decide="argmax")
    assert explainer.threshold == 0
    assert (explainer.predict(frame) >= 0).tolist() == (model.predict(frame) == "A").tolist()
    row = frame[model.predict(frame) != "A"].iloc[0]
    e = explainer.explain(row)
    (found,) = e.counterfactuals
    assert model.predict(pd.DataFrame([found.row])).tolist() == ["A"]
    assert e.basis == {"a": "assumed"}, "a constraint of one class says nothing about the difference of two"
    assert bool(Explanation.from_json(e.to_json()).verify(model, space=SPACE, positive="A", decide="argmax"))
    other = Explanation.from_json(e.to_json()).verify(model, space=SPACE, positive="A")
    assert not other, "the probability of the class is another score"


def test_functions_that_return_a_column_for_each_class() -> None:
    def probabilities(rows: Any) -> Any:
        return np.stack([9 - rows[:, 0], np.full(len(rows), 5), rows[:, 0]], axis=1) / 14

    explainer = Explainer(probabilities, SPACE, positive=[2], decide="argmax")
    assert [explainer.explain([a, 0]).decision for a in (0, 4, 5, 6)] == [False, False, False, True]
    with pytest.raises(InputError, match="a column for each class"):
        Explainer(lambda rows: rows[:, 0], SPACE, positive=1, decide="argmax").explain([0, 0])
