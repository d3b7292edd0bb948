"""What callers use: columns by name, in the order of the model; nothing is claimed where reading fails."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from flipset.models import read_model, settle
from flipset.models.monotone.linear import Weights
from flipset.models.monotone.show import Reading, show_monotone, structure_of, suggest_directions
from flipset.models.monotone.shown import NotRead
from flipset.models.scorer import Scorer
from tests.models.monotone.forests import draw_rows

ROWS, LABELS = draw_rows()
WHOLE = np.nan_to_num(ROWS)


def scorer_of(weights: list[float], **how: Any) -> Scorer:
    return Scorer(len, structure=structure_of(lambda: Reading(Weights(np.array(weights)), **how)))


def test_each_direction_is_proved_or_has_a_reason() -> None:
    shown = show_monotone(scorer_of([1, -1, 0], notes=("as computed",)), {"a": 1, "b": 1, "c": -1}, "abc")
    assert shown.proved == {"a", "c"}
    assert shown.why_not == {"b": "its coefficient is -1"}
    assert shown.notes == ("as computed",)


def test_the_first_class_turns_directions_round() -> None:
    assert show_monotone(scorer_of([1, -1], sign=-1), {"a": -1, "b": 1}, "ab").proved == {"a", "b"}


def test_directions_are_suggested() -> None:
    suggested = suggest_directions(scorer_of([1, -1, 0]), "abc")
    assert suggested.directions == {"a": 1, "b": -1}
    assert suggested.unused == {"c"}
    assert suggested.why_not == {}


def test_names_of_the_model_decide_and_not_the_order_of_the_table() -> None:
    frame = pd.DataFrame(WHOLE, columns=["mean a", "b", "c", "d"])
    model = LogisticRegression().fit(frame, LABELS)
    expected = {name: 1 if weight > 0 else -1 for name, weight in zip(frame.columns, model.coef_[0], strict=True)}
    scorer = read_model(model)
    assert suggest_directions(scorer).directions == expected
    assert suggest_directions(scorer, ("d", "c", "unused", "b", "mean a")).directions == expected
    assert show_monotone(scorer, {"unused": 1}, (*frame.columns, "unused")).proved == {"unused"}  # it never gets this


def test_a_name_that_nobody_has_is_not_proved() -> None:
    words = "the model has no column of this name"
    named = read_model(LogisticRegression().fit(pd.DataFrame(WHOLE, columns=list("abcd")), LABELS))
    for scorer, columns in ((scorer_of([1]), None), (scorer_of([1]), "a"), (named, None), (named, "abcd")):
        assert show_monotone(scorer, {"typing error": 1}, columns).why_not == {"typing error": words}
    # What a function does with a column is not known, whether it is named or not.
    assert show_monotone(read_model(len), {"a": 1, "b": 1}, "a").proved == frozenset()


def test_the_structure_stays_with_copies_of_a_scorer() -> None:
    model = LogisticRegression().fit(WHOLE, LABELS)
    for positive in (None, 0, 1):
        scorer = read_model(model, positive)
        shown = suggest_directions(scorer, "abcd")
        for copy in (scorer.then(np.asarray), scorer.with_names_of("abcd"), settle(scorer, 0.5), settle(scorer, 0.7)):
            assert suggest_directions(copy, "abcd") == shown
    first, second = (suggest_directions(read_model(model, positive), "abcd").directions for positive in (0, 1))
    assert first == {name: -sign for name, sign in second.items()}


def test_nothing_is_read_before_it_is_asked_for_and_then_once() -> None:
    read: list[str] = []

    def reading() -> Reading:
        read.append("once")
        return Reading(Weights(np.array([1.0])))

    scorer = Scorer(len, structure=structure_of(reading))
    assert read == []
    suggest_directions(scorer, "a")
    assert read == ["once"]


@pytest.mark.parametrize("error", [AttributeError("_predictors"), KeyError("trees"), RuntimeError("no"), MemoryError()])
def test_a_form_that_is_not_known_claims_nothing(error: Exception) -> None:
    def fails() -> Reading:
        raise error

    shown = show_monotone(Scorer(len, structure=structure_of(fails)), {"a": 1}, "a")
    assert shown.proved == frozenset()
    assert f"a form that is not known ({type(error).__name__})" in shown.why_not["a"]


def test_columns_that_do_not_fit_claim_nothing() -> None:
    shown = show_monotone(scorer_of([1, 2]), {"a": 1}, "abc")
    assert shown.why_not == {"a": "the model takes 2 inputs, and its columns make 3"}


def test_refusals_are_reasons() -> None:
    def refuses() -> Reading:
        raise NotRead("linear trees are not read")

    shown = show_monotone(Scorer(len, structure=structure_of(refuses)), {"a": 1}, "a")
    assert shown.why_not == {"a": "linear trees are not read"}


def test_a_function_shows_nothing() -> None:
    shown = show_monotone(read_model(lambda rows: rows[:, 0]), {"a": 1}, "a")
    assert shown.why_not == {"a": "only the scores of the model are known"}


def test_derived_inputs_take_the_order_of_what_they_are_made_of() -> None:
    def reading() -> Reading:
        return Reading(Weights(np.array([1.0, 1.0, 1.0])), derived=(frozenset({1}),))

    shown = show_monotone(Scorer(len, structure=structure_of(reading)), {"a": 1, "b": 1}, "ab")
    assert shown.proved == {"a"}
    assert "statistics" in shown.why_not["b"]


def test_suspects_of_a_model_without_constraints_name_columns() -> None:
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1).fit(ROWS, LABELS)
    shown = show_monotone(read_model(model), dict.fromkeys("abcd", 1), "abcd")
    assert shown.suspects
    for suspect in shown.suspects:
        assert suspect.feature in shown.why_not
        differing = [name for name in suspect.worse if suspect.worse[name] != suspect.better[name]]
        assert differing == [suspect.feature]


@pytest.mark.parametrize("positive", [0, 1])
def test_pairs_of_rows_are_in_the_direction_of_the_score(positive: int) -> None:
    """Of the first class, the score falls where the sum rises: the better row of the sum is the worse one."""
    rng = np.random.default_rng(positive)
    rows = rng.integers(0, 6, (200, 3)).astype(float)
    labels = (rows[:, 0] + 3 * np.sin(2 * rows[:, 1]) + rng.normal(0, 1, 200) > 3).astype(int)
    model = GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0).fit(rows, labels)
    wrong = 0
    for direction in (1, -1):
        shown = show_monotone(read_model(model, positive), dict.fromkeys("abc", direction), "abc")
        for one in shown.suspects:
            assert (one.better[one.feature] - one.worse[one.feature]) * direction > 0  # type: ignore[operator]
            pair = [[cells.get(name, 0.0) for name in "abc"] for cells in (one.worse, one.better)]
            low, high = model.predict_proba(pair)[:, positive]
            wrong += high < low
    assert wrong > 0
