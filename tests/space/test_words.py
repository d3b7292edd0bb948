"""Words change what people read, and no answer."""

import json
from typing import Any

import pandas as pd
import pytest

from flipset import Decision, Explainer, Explanation, Feature, Group, InputError, Space
from flipset.space.fingerprints import space_fingerprint
from flipset.space.words import FeatureWords, Words, label_key, read_labels, write_number
from flipset.values.change import Change

BARE = [
    Feature("inc", "integer", direction=+1, lower=0, upper=100_000, step=500),
    Feature("debt", direction=-1, lower=0, upper=1, step=0.05),
    Feature("late", "binary", direction=-1),
    Feature("home", "categorical", options=("r", "o")),
]
NAMED = [
    Feature("inc", "integer", direction=+1, lower=0, upper=100_000, step=500, label="income", unit="USD a year",
            number_format="thousands"),
    Feature("debt", direction=-1, lower=0, upper=1, step=0.05, label="debt to income", number_format="percent"),
    Feature("late", "binary", direction=-1, label="late payments", value_labels={0: "none", 1: "some"}),
    Feature("home", "categorical", options=("r", "o"), label="housing", value_labels={"r": "rents", "o": "owns"}),
]  # fmt: skip
RISK = Decision(0.1, "below", score_label="default risk")


def risk(rows: Any) -> Any:
    """A probability of default, which is good when it is low."""
    inc, debt, late, home = (rows[:, i] for i in range(4))
    return 0.3 - inc.astype(float) / 400_000 + debt.astype(float) / 5 + 0.1 * late.astype(float) - 0.05 * (home == "o")


def reversed_directions(features: list[Feature]) -> list[Feature]:
    """The directions are those of the score, which is a risk."""
    from dataclasses import replace

    return [one if one.direction is None else replace(one, direction=-one.direction) for one in features]


PLAIN_SPACE = Space(reversed_directions(BARE))
SPACE = Space(reversed_directions(NAMED), decision=RISK)
ROW = [40_000, 0.35, 1, "r"]


def test_words_change_no_answer_and_no_fingerprint() -> None:
    plain = Explainer(risk, PLAIN_SPACE, threshold=0.1).explain(ROW)
    named = Explainer(risk, SPACE).explain(ROW)
    assert named == plain
    assert named.threshold == 0.1
    assert space_fingerprint(SPACE) == space_fingerprint(PLAIN_SPACE)
    assert [change.feature for change in named.counterfactuals[0].changes] == ["inc", "debt", "late"]


def test_low_scores_are_favorable_where_the_space_says_so() -> None:
    e = Explainer(risk, SPACE).explain(ROW)
    assert (e.decision, e.is_favorable, e.outcome) == (True, False, "declined")
    good = Explainer(risk, SPACE).explain([90_000, 0.0, 0, "o"])
    assert (good.decision, good.is_favorable, good.outcome) == (False, True, "approved")
    text = str(e)
    assert "default risk" in text
    # A score at the threshold is not below it.
    at = Explainer(lambda rows: rows[:, 0] / 10.0, Space([Feature("x", "integer", direction=1, lower=0, upper=9)],
                   decision=RISK)).explain([1])  # fmt: skip
    assert (at.score, at.outcome) == (0.1, "declined")


def test_changes_read_as_people_say_them() -> None:
    e = Explainer(risk, SPACE).explain(ROW)
    texts = {change.feature: str(change) for one in e.counterfactuals for change in one.changes}
    assert texts["late"] == "late payments: some → none"
    assert texts["inc"] == "income: 40,000 → at least 88,000 USD a year"
    assert texts["debt"].startswith("debt to income: 35 % → at most ")


def test_words_come_back_from_files() -> None:
    for text, read in ((SPACE.to_json(), Space.from_json), (SPACE.to_toml(), Space.from_toml)):
        again = read(text)
        assert again == SPACE
        assert again.words == SPACE.words
        assert again.decision == RISK
    e = Explainer(risk, SPACE).explain(ROW)
    back = Explanation.from_json(e.to_json())
    assert back.words == e.words
    assert str(back) == str(e)
    assert back.words.decision.threshold is None, "an explanation has a threshold of its own"
    assert "words" in json.loads(e.to_json())


def test_a_frame_may_carry_words_in_its_attrs() -> None:
    frame = pd.DataFrame({"inc": [1, 2, 9], "late": [0, 1, 1]})
    frame.attrs = {"labels": {"inc": "income", "gone": "no column"}, "units": {"inc": "USD"}, "value_labels": "other"}
    space = Space.from_frame(frame, increasing=["inc"], decreasing=["late"])
    assert (space["inc"].label, space["inc"].unit) == ("income", "USD")
    given = Space.from_frame(frame, increasing=["inc"], labels={"inc": "wage"}, value_labels={"late": {1: "yes!"}})
    assert given["inc"].label == "wage"
    assert given["late"].value_labels == (("1", "yes!"),)


def test_words_of_columns_that_do_not_exist_are_refused() -> None:
    frame = pd.DataFrame({"inc": [1, 2], "a": [0, 1], "b": [1, 0]})
    with pytest.raises(InputError, match="units names 'income', which is not a column"):
        Space.from_frame(frame, units={"income": "USD"})
    space = Space.from_frame(frame, groups={"home": ["a", "b"]}, labels={"home": "the home"})
    assert space.words.label("home") == "the home"


def test_labels_differ() -> None:
    with pytest.raises(InputError, match="two features or groups are labelled 'debt'"):
        Space([Feature("debt"), Feature("d2", label="debt")])
    with pytest.raises(InputError, match="labelled 'home'"):
        Space(
            [Feature("a", "binary", group="g"), Feature("b", "binary", group="g"), Feature("c", label="home")],
            [Group("g", one_hot=True, label="home")],
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outcomes": ("no",)}, "two different words"),
        ({"outcomes": ("no", "no")}, "two different words"),
        ({"outcomes": "no"}, "two different words"),
        ({"outcome_nouns": ("", "approval")}, "two different words"),
        ({"favorable": "low"}, 'must be "above" or "below"'),
        ({"score_label": ""}, "score_label must be a text"),
        ({"score_format": "%"}, "score_format must be one of"),
        ({"threshold": float("nan")}, "must be a finite number"),
        ({"threshold": True}, "must be a finite number"),
    ],
)
def test_decisions_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Decision(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"value_labels": {1: 2}}, "must be a mapping from values to labels"),
        ({"value_labels": {1: "a"}.items()}, "must be a mapping"),
        ({"value_labels": [(1, "a"), (1.0, "b")]}, "two labels for one value"),
        ({"number_format": "money"}, "number_format must be one of"),
        ({"label": 3}, "label must be a text"),
    ],
)
def test_words_of_features_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Feature("x", **given)


def test_values_are_looked_up_by_their_text() -> None:
    words = FeatureWords("x", value_labels=read_labels({1: "one", "b": "bee", None: "unknown", 0.5: "half"}))
    assert [words.label_of(value) for value in (1, 1.0, True, "b", None, 0.5, 2)] == [
        "one", "one", "one", "bee", "unknown", "half", None,
    ]  # fmt: skip
    assert label_key(False) == "0"


def test_numbers_keep_their_digits_in_every_format() -> None:
    assert write_number("1234567.891", "thousands") == "1,234,567.891"
    assert write_number("0.1234", "percent") == "12.34 %"
    assert write_number("1e+20", "thousands") == "100,000,000,000,000,000,000"
    assert write_number("inf", "percent") == "inf"
    assert write_number("-0.5", "plain") == "-0.5"


def test_outcomes_of_ones_own_are_quoted_unless_they_have_nouns() -> None:
    own = Decision(outcomes=("refer", "accept"))
    assert (own.noun(False), own.noun(True)) == ("“refer”", "“accept”")
    assert Decision(outcomes=("refer", "accept"), outcome_nouns=("a referral", "acceptance")).noun(True) == "acceptance"
    assert (Decision().noun(False), Decision().noun(True)) == ("refusal", "approval")
    assert Words().label("x") == "x"


def test_the_last_label_is_told_as_it_is() -> None:
    labels = {0: "none", 1: "100 to 500", 2: "500 or more"}
    words = FeatureWords("savings", value_labels=tuple((str(key), label) for key, label in labels.items()))
    assert str(Change("s", 0, 2, "at least", words)) == "savings: none → 500 or more"
    assert str(Change("s", 0, 1, "at least", words)) == "savings: none → at least 100 to 500"
    assert str(Change("s", 2.0, 0.0, "at most", words)) == "savings: 500 or more → none"
    alone = FeatureWords("savings", value_labels=(("2", "full"), ("missing", "not known")))
    assert str(Change("s", 0, 2, "at least", alone)) == "savings: 0 → at least full"
