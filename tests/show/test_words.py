"""The words that every output shares."""

from dataclasses import replace

import pytest

from flipset import Decision, Explainer, Explanation, Feature, Space
from flipset.show.text import headline, proved
from flipset.show.words import decision_text, enough_text, plain_words, score_text, shortened

SPACE = Space([
    Feature("income", "integer", direction=+1, lower=0, upper=100),
    Feature("debt", "integer", direction=-1, lower=0, upper=100),
])  # fmt: skip


def explained(income: int, debt: int, threshold: float = 0.5) -> Explanation:
    return Explainer(lambda rows: (100 + rows[:, 0] - rows[:, 1]) / 200, SPACE, threshold=threshold).explain(
        [income, debt]
    )


def test_a_decision_has_its_outcome_its_score_and_what_approval_needs() -> None:
    assert decision_text(explained(20, 30)) == "declined (score 45 %; approval needs at least 50 %)"
    assert decision_text(explained(40, 30)) == "approved (score 55 %; approval needs at least 50 %)"
    more = replace(explained(20, 30), threshold=0.5000000000000001)
    assert decision_text(more).endswith("approval needs more than 50 %)")


def test_labels_and_points_are_not_percentages() -> None:
    labels = Explainer(lambda rows: rows[:, 0] >= 60, SPACE).explain([40, 0])
    assert decision_text(labels) == "declined (score 0; approval needs at least 0.5)"
    points = Explainer(lambda rows: 600.0 + rows[:, 0], SPACE, threshold=650).explain([20, 0])
    assert decision_text(points) == "declined (score 620; approval needs at least 650)"


@pytest.mark.parametrize(
    ("score", "text"), [(0.4999, "49.99 %"), (0.49999999, "49.999999 %"), (0.123456, "12.3 %"), (0.5, "50 %")]
)
def test_a_rounded_score_stays_on_its_side_of_the_threshold(score: float, text: str) -> None:
    assert score_text(score, explained(20, 30)) == text


def test_how_many_changes_and_options() -> None:
    assert enough_text(explained(20, 30)) == "1 change is enough; there are 2 options"
    e = replace(explained(20, 30), flipsets=(("income", "debt"),))
    assert enough_text(e) == "2 changes are enough; there is 1 option"
    assert enough_text(replace(e, flipsets=(("income", "debt"), ("age",)))) == (
        "1 or 2 changes are enough; there are 2 options"
    )


def test_no_option_is_named_after_the_other_outcome() -> None:
    never = Explainer(lambda rows: rows[:, 0] >= 200, SPACE).explain([40, 0])
    assert proved(never).startswith("No allowed change leads to approval. This is proved, given that the score")
    always = Explainer(lambda rows: rows[:, 0] >= 0, SPACE).explain([40, 0])
    assert headline(always) == "No allowed change would lose the approval"
    held = Explainer(lambda rows: rows[:, 0] >= 60, SPACE).explain([40, 0], fixed=["income", "debt"])
    assert proved(held).endswith("Every feature is held fixed or has its best allowed value already.")


def test_an_approved_row_reads_as_what_would_lose_the_approval() -> None:
    e = explained(40, 30)
    assert enough_text(e) == "1 change would lose the approval; there are 2 such changes"
    assert proved(e).endswith("no other single change would lose the approval (3 queries replay the proof).")
    pair = replace(e, flipsets=(("income", "debt"),))
    assert enough_text(pair) == "2 changes would lose the approval; there is 1 such combination"
    assert "no single change would lose the approval, and there is no other combination of 2 changes" in proved(pair)
    below = SPACE.with_decision(
        Decision(0.6, "below", outcomes=("default", "paid"), outcome_nouns=("default", "payment"))
    )
    low = Explainer(lambda rows: (100 + rows[:, 0] - rows[:, 1]) / 200, below).explain([40, 30])
    assert low.is_favorable
    assert enough_text(low).startswith("1 change would lose the payment")
    words = SPACE.with_decision(Decision(outcomes=("refer", "accept")))
    own = Explainer(lambda rows: rows[:, 0] >= 20, words).explain([40, 0])
    assert enough_text(own) == "1 change would lead to “refer”; there is 1 such change"
    held = Explainer(lambda rows: rows[:, 0] >= 0, words).explain([40, 0])
    assert headline(held) == "No allowed change would lead to “refer”"


def test_low_scores_may_be_the_favorable_ones() -> None:
    below = SPACE.with_decision(Decision(0.1, "below", score_label="default risk"))
    e = Explainer(lambda rows: (100 + rows[:, 0] - rows[:, 1]) / 1000, below).explain([40, 30])
    assert decision_text(e) == "declined (default risk 11 %; approval needs less than 10 %)"
    above = SPACE.with_decision(Decision(outcomes=("refer", "accept")))
    e = Explainer(lambda rows: rows[:, 0] >= 60, above).explain([40, 0])
    assert decision_text(e) == "refer (score 0; “accept” needs at least 0.5)"


def test_plain_words_repeat_the_data_alone() -> None:
    e = explained(20, 30)
    assert plain_words(e) == e.words
    below = replace(e, words=SPACE.with_decision(Decision(favorable="below")).words)
    spoken = replace(below, words=plain_words(below))
    assert decision_text(spoken) == "below the threshold (score 45 %; the other decision needs at least 50 %)"


def test_a_text_that_is_cut_says_so() -> None:
    assert shortened("late payments", 13) == "late payments"
    assert shortened("late payments", 12) == "late paymen…"
    assert shortened("late payments", 6) == "late…"
