"""Why a model is taken to follow the directions of a space."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from flipset import Explainer, Explanation, Feature, InputError, NotMonotone, NotMonotoneWarning, Space
from flipset.explain.monotonicity import Monotonicity, moving_features

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.integers(0, 10, (300, 3)).astype(float), columns=list("abc"))
LABEL = (TABLE["a"] + TABLE["b"] - TABLE["c"] + RNG.normal(0, 2, 300) > 5).astype(int)
UP: dict[str, Any]
DOWN: dict[str, Any]
UP, DOWN = {"increasing": ["a", "b"], "decreasing": ["c"]}, {"increasing": ["c"], "decreasing": ["a", "b"]}
CONSTRAINED = HistGradientBoostingClassifier(max_iter=20, monotonic_cst={"a": 1, "b": 1, "c": -1}).fit(TABLE, LABEL)
FREE = RandomForestClassifier(10, random_state=0).fit(TABLE, LABEL)


def declined(explainer: Explainer) -> Any:
    return next(TABLE.iloc[[i]] for i, score in enumerate(explainer.scores(TABLE)) if score < 0.3)


def test_a_constrained_model_is_proved() -> None:
    explainer = Explainer(CONSTRAINED, TABLE)
    assert dict(explainer.monotonicity) == {"a": "proved", "b": "proved", "c": "proved"}
    assert explainer.monotonicity.weakest == "proved"
    e = explainer.explain(declined(explainer))
    assert set(e.basis.values()) == {"proved"}
    assert "proved from the model itself" in " ".join(str(e).split())


def test_a_free_forest_is_assumed_and_says_so() -> None:
    space = Space.from_frame(TABLE, **UP)
    with pytest.warns(NotMonotoneWarning, match="does not follow the direction") as seen:
        explainer = Explainer(FREE, space)
    assert set(explainer.monotonicity.values()) == {"assumed"}
    warned = seen[0].message
    assert isinstance(warned, NotMonotoneWarning)
    assert warned.features == explainer.monotonicity.contradicted
    for witness in explainer.monotonicity.witnesses:
        worse, better = (float(explainer.scores(pd.DataFrame([row]))[0]) for row in (witness.row, witness.better))
        assert (worse, better) == (witness.score, witness.better_score)
        assert better < worse


def test_no_answer_of_a_free_forest_without_assumed_or_audited() -> None:
    space = Space.from_frame(TABLE, **UP)
    for audit in (None, 500):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotMonotoneWarning)
            explainer = Explainer(FREE, space, audit=audit)
        for e in explainer.explain_table(TABLE[:40]):
            assert isinstance(e, (NotMonotone, Explanation))
            assert isinstance(e, NotMonotone) or set(e.basis.values()) <= {"assumed", "audited"}


@pytest.mark.parametrize("positive", [None, 1, 0])
def test_directions_that_contradict_the_constraints_are_refused(positive: Any) -> None:
    wrong = UP if positive == 0 else DOWN
    match = r"'a' is (in|de)creasing in the space and (in|de)creasing in the model.*positive="
    with pytest.raises(InputError, match=match):
        Explainer(CONSTRAINED, Space.from_frame(TABLE, **wrong), positive=positive)
    right = DOWN if positive == 0 else UP
    assert Explainer(CONSTRAINED, Space.from_frame(TABLE, **right), positive=positive).monotonicity.weakest == "proved"


def test_a_feature_that_is_held_fixed_contradicts_nothing() -> None:
    space = Space.from_frame(TABLE, **DOWN).with_changes(fixed=["a", "b", "c"])
    assert dict(Explainer(CONSTRAINED, space).monotonicity) == {}


def test_coefficients_prove_and_contradict() -> None:
    model = LogisticRegression().fit(TABLE, LABEL)
    space = Space.from_frame(TABLE, increasing=["a", "b", "c"])
    with pytest.warns(NotMonotoneWarning, match="of 'c'"):
        explainer = Explainer(model, space)
    assert dict(explainer.monotonicity) == {"a": "proved", "b": "proved", "c": "assumed"}


def test_an_audit_speaks_for_what_is_assumed() -> None:
    def model(rows: pd.DataFrame) -> Any:
        return (rows["a"] + rows["b"] - rows["c"]).to_numpy() / 20

    space = Space.from_frame(TABLE, **UP)
    explainer = Explainer(model, space, threshold=0.5, audit=400)
    assert set(explainer.monotonicity.values()) == {"audited"}
    e = explainer.explain(declined(explainer))
    assert e.audited_pairs == explainer.monotonicity.audited_pairs
    assert f"none of {e.audited_pairs} pairs of rows was in the wrong order" in " ".join(str(e).split())
    assert explainer.verify(e)
    assert "an audit is not repeated" in explainer.verify(e).not_checked["audited_pairs"]
    plain = Explainer(model, space, threshold=0.5)
    assert set(plain.monotonicity.values()) == {"assumed"}
    (again,) = plain.explain_table(declined(plain), audit=50)
    assert isinstance(again, Explanation)
    assert set(again.basis.values()) == {"audited"}
    assert set(plain.monotonicity.values()) == {"assumed"}


def test_an_audit_that_finds_a_pair_leaves_it_assumed() -> None:
    space = Space.from_frame(TABLE, increasing=["a", "b"])
    with pytest.warns(NotMonotoneWarning, match="of 'b'"):
        explainer = Explainer(lambda rows: (rows["a"] - 2 * rows["b"]).to_numpy(), space, audit=300)
    assert dict(explainer.monotonicity) == {"a": "assumed", "b": "assumed"}  # chains of both are out of order
    assert "in the wrong order" in explainer.monotonicity.notes["b"]
    assert explainer.monotonicity.contradicted == ("b",)
    e = explainer.explain([1.0, 5.0, 0.0], strict=False)
    assert set(e.contradicted) == {"b"} & set(e.basis)


def test_an_audit_needs_rows() -> None:
    with pytest.raises(InputError, match="audit needs rows to start from: give reference="):
        Explainer(lambda rows: rows[:, 0], Space([Feature("a", direction=1, lower=0, upper=1)]), audit=10)


def test_what_is_known_goes_along_to_other_processes() -> None:
    explainer = Explainer(CONSTRAINED, Space.from_frame(TABLE, **UP), audit=100)
    again = pickle.loads(pickle.dumps(explainer))
    assert again.monotonicity == explainer.monotonicity


def test_features_that_move() -> None:
    space = Space([
        Feature("up", direction=1, lower=0, upper=1),
        Feature("options", "categorical", options=("x", "y")),
        Feature("fixed", direction=1, lower=0, upper=1, fixed=True),
        Feature("idle"),
    ])  # fmt: skip
    assert [feature.name for feature in moving_features(space)] == ["up", "options"]
    explainer = Explainer(lambda rows: rows[:, 0], space)
    assert dict(explainer.monotonicity) == {"up": "assumed", "options": "proved"}


def test_text() -> None:
    known = Monotonicity({"a": "proved", "longer": "assumed"}, {"longer": "tree 1 of 2 is out of order"}, ("A note",))
    assert str(known).splitlines() == ["a       proved", "longer  assumed: tree 1 of 2 is out of order", "A note."]
    assert repr(known) == "<Monotonicity: proved: 1, assumed: 1>"
    assert str(Monotonicity({})) == "No feature may move."
