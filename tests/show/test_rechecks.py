"""Rechecks for people: the sentences of the summary, and a report in which everything is escaped."""

from dataclasses import replace

import pytest

from flipset.results.rechecks import RecheckSummary
from flipset.show.rechecks import report_rechecks, tell_rechecks
from flipset.values.change import Change
from tests.results.examples import explained
from tests.results.test_rechecks import ALL, BROKEN, KEPT, OUTDATED, counterfactual


def told(**counts: int) -> str:
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
    assert "no longer enough: income: 4 → at least" in page
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
