"""The commented lines of a space file are valid once the comment signs are removed."""

import re

import pandas as pd
import pytest

from flipset import Decision, Space
from flipset.cli.word_hints import decision_hints, hints_for

FRAME = pd.DataFrame({
    "income": [20_500.5, 31_000.25, 90_000.0, 1.5],
    'gra"de': ["A", "B\n", "A", "C"],
    "late": [0, 1, 1, 0],
    "cons": [1, 6, 3, 2],
})  # fmt: skip


def uncommented(text: str) -> str:
    return re.sub(r"^# ((label|unit|number_format|value_labels|description) = )", r"\1", text, flags=re.MULTILINE)


def test_lines_can_be_used_as_they_are() -> None:
    space = Space.from_frame(FRAME, increasing=["income"], decreasing=["late", "cons"], categorical=['gra"de'])
    text = space.to_toml(hints=hints_for(space))
    assert Space.from_toml(text) == space, "comments change nothing"
    made = Space.from_toml(uncommented(text))
    assert made['gra"de'].value_labels == (("A", "A"), ("B\n", "B\n"), ("C", "C"))
    assert made["late"].value_labels == (("0", "0"), ("1", "1"))
    assert made["cons"].value_labels == (("1", "1"), ("2", "2"), ("3", "3"), ("6", "6"))
    assert made["income"].value_labels == (), "a column of amounts has no codes"
    assert made["income"].number_format == "thousands"


@pytest.mark.parametrize("given", [Decision(), Decision(0.1), Decision(favorable="below", score_format="percent")])
def test_a_decision_can_be_used_as_it_is(given: Decision) -> None:
    space = Space.from_frame(FRAME, increasing=["income"], decision=given)
    start, table_mark, rest = space.to_toml().partition("\n[[")
    hints = list(decision_hints(given))
    assert Space.from_toml("\n".join([start.rstrip(), *hints, table_mark + rest])) == space, "comments change nothing"
    made = Space.from_toml("\n".join([start.rstrip(), *(line.removeprefix("# ") for line in hints), table_mark + rest]))
    assert made.decision == Decision(
        0.1,
        "below",
        outcome_nouns=("refusal", "approval"),
        score_label="probability of default",
        score_format="percent",
    )


def test_words_that_are_there_are_not_repeated() -> None:
    space = Space.from_frame(FRAME, increasing=["income"], labels={"income": "pay"}, units={"income": "USD"})
    assert not any(line.startswith(("label", "unit")) for line in hints_for(space)["income"])
