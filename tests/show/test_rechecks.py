"""Rechecks for people: the sentences of the summary, and a report in which everything is escaped."""

from dataclasses import replace
from typing import Any

import pytest

from flipset.results.rechecks import RecheckSummary
from flipset.show.rechecks import attention_lines, report_rechecks, tell_rechecks
from flipset.values.change import Change
from tests.results.examples import explained
from tests.results.test_rechecks import ALL, APPROVED, BARRED, BROKEN, KEPT, OUTDATED, counterfactual


def told(**counts: Any) -> str:
    return " ".join(tell_rechecks(RecheckSummary(threshold=0.5, **counts), width=1_000))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"rows": 247, "hold": 247}, "247 of 247 promises hold; 0 people need a new letter."),
        ({"rows": 1, "hold": 1}, "1 of 1 promise holds; 0 people need a new letter."),
        ({"rows": 2, "hold": 1, "new_letters": 1}, "1 of 2 promises holds; 1 person needs a new letter."),
        (
            {"rows": 3, "hold": 2, "errors": 1},
            "2 of 2 promises hold; 0 people need a new letter. 2 answers are still proved",
        ),
        ({"new_letters": 5, "decisions_changed": 5}, "New letters: 5 because the decision changed."),
        ({"new_letters": 5, "decisions_changed": 2}, "2 because the decision changed and 3 because an option no lon"),
        ({"counterfactuals": 9, "broken": 8}, "Options: 1 of 9 still leads to the other decision."),
        ({"not_proved": 1}, "1 answer is no longer proved"),
        ({"not_proved": 2}, "2 answers are no longer proved"),
        ({"other_thresholds": 1}, "1 explanation was made with another threshold. Everything is compared by the cur"),
        ({"repaired": 1}, "1 new explanation made."),
        ({"not_repaired": 2}, "2 new explanations could not be made."),
    ],
)
def test_the_summary_in_words(counts: dict[str, int], words: str) -> None:
    assert words in told(**counts)


def test_lines_keep_to_the_width() -> None:
    summary = RecheckSummary(rows=9, hold=4, new_letters=5, decisions_changed=2, not_proved=3)
    assert max(map(len, tell_rechecks(summary, width=50))) <= 50


def test_a_report_says_what_changed_and_what_is_new() -> None:
    repaired = replace(BROKEN, repaired=explained())
    page = report_rechecks([*ALL, repaired], asked="old.jsonl", model="new.ubj", identity="sha256:0")
    assert "declined → approved" in page
    assert "no longer enough:<br>income: 4 → at least" in page
    assert "score now 40&nbsp;%" in page
    assert "debt now flips the decision" in page
    assert "cannot be read" in page
    assert str(explained().counterfactuals[0]).split(";")[0] in page
    assert "closest to the threshold first" in page


def test_long_lists_are_cut_and_say_so() -> None:
    many = replace(BROKEN, counterfactuals=(counterfactual(0.4, -0.1, False),) * 5)
    page = report_rechecks([many] * 1_001 + [KEPT] * 21, asked="", model="", identity="")
    assert "2 more options" in page
    assert page.count("and 1 more row; CSV and JSON lines have all.") == 2


def test_what_a_file_holds_stays_text() -> None:
    hostile = "<script>alert(1)</script>"
    change = Change(hostile, hostile, hostile, "becomes")
    broken = replace(counterfactual(0.4, -0.1, False), changes=(change,), flipset=(hostile,))
    rows = [
        replace(BROKEN, counterfactuals=(broken,), error=hostile),
        replace(OUTDATED, changed_zeros=((hostile,),), changed_ones=((hostile,),)),
        replace(KEPT, counterfactuals=(replace(broken, holds=True),)),
    ]
    page = report_rechecks(rows, asked=hostile, model=hostile, identity=hostile)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 8


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"rows": 1, "out_of_date": 1}, "1 explanation of approved rows is out of date: approval stands"),
        ({"disallowed": 3, "disallowed_rows": 1}, "3 options in 1 explanation are no longer allowed by the space"),
        ({"other_moves": 2}, "2 explanations were made with other limits on what may change."),
        ({"rows": 2, "hold": 2, "bases": {"proved": 2}}, "follows the directions (proved from the model itself)."),
        (
            {"rows": 3, "hold": 3, "bases": {"proved": 1, "assumed": 2}},
            "follows the directions (1 proved from the model itself; 2 taken on trust).",
        ),
    ],
)
def test_the_summary_says_what_is_allowed_and_what_it_rests_on(counts: dict[str, Any], words: str) -> None:
    assert words in told(**counts)


def test_rows_that_need_attention_come_with_those_that_need_a_letter_first() -> None:
    lines = list(attention_lines([*ALL, APPROVED, BARRED], width=1_000))
    assert lines[0] == "Rows that need attention:"
    rows = [line.split(":")[0] for line in lines[1:]]
    assert rows == ["  row 2", "  row 3", "  row 4", "  row 0", "  row 5", "  row 1"]
    assert "no longer enough: income: 4 → at least" in lines[1]
    assert "declined → approved" in lines[2]
    assert lines[3] == "  row 4: cannot be read"
    assert lines[4].endswith("(income is held fixed)")
    assert "still approved after income" in lines[5]
    assert lines[6].endswith("no longer proved: changing debt now flips the decision")
    assert list(attention_lines([KEPT])) == []
    assert list(attention_lines([BROKEN] * 5, most=2))[-1] == "  and 3 more rows; -o report.csv has all"


def test_a_report_has_what_is_not_allowed_and_what_it_rests_on() -> None:
    rows = [APPROVED, BARRED, replace(KEPT, basis="declared")]
    page = report_rechecks(rows, asked="old.jsonl", model="new.ubj", identity="sha256:0")
    assert "Approved rows whose explanation is out of date" in page
    assert "no letter is needed" in page
    assert "Options that the space no longer allows" in page
    assert "income is held fixed" in page
    assert "the model was fitted with this constraint" in page
