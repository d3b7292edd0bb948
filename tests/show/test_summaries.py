"""The summary of a table in words: declined rows first, approved rows apart, and every row accounted for."""

import re
from typing import Any

import pytest

from flipset import Explainer, Explanations, Feature, InputError, Space
from flipset.results.groups import GroupSummaries
from flipset.results.summary import Counts
from flipset.results.table import summarize
from flipset.show.summaries import STATUS_WORDS, rows_text, side_title, tell_summary
from flipset.space.words import Decision
from tests.results.examples import EXPLAINER, SPACE, explained


def words(lines: Any) -> str:
    return " ".join(" ".join(lines).split())


def test_declined_rows_come_first_and_by_themselves() -> None:
    results = [explained(4, 5), explained(0, 9), explained(9, 9), explained(9, 0)]
    summary = summarize(results)
    lines = list(tell_summary(summary))
    told = words(lines)
    assert told.startswith("4 rows: 3 declined, 1 approved")
    assert told.index("Declined: 3 rows") < told.index("Approved: 1 row")
    declined = told[told.index("Declined: 3 rows") : told.index("Approved: 1 row")]
    assert "that lead to approval" in declined
    assert "that lead to refusal" in told[told.index("Approved: 1 row") :]
    assert f"1 change {summary.declined.sizes[1]} row" in declined
    for name in ("income", "debt"):
        assert name in declined
    assert words(tell_summary(Counts().summary())) == "0 rows"


def test_the_words_are_those_of_the_decision() -> None:
    space = Space(
        [Feature("debt", "integer", direction=+1, lower=0, upper=9)],
        decision=Decision(5, "below", outcomes=("high risk", "low risk")),
    )
    found = Explainer(lambda rows: rows[:, 0] * 1.0, space).explain_table([[8], [9], [1]])
    told = words(tell_summary(found.summary()))
    assert told.startswith("3 rows: 2 high risk, 1 low risk")
    assert side_title(found.summary(), "declined") == (
        "High risk: 2 rows, by the number of changes that lead to “low risk”"
    )
    assert "1 row, by the number of changes that lead to “high risk”" in told


@pytest.mark.parametrize("width", [80, 120])
def test_every_row_is_accounted_for(width: int) -> None:
    counts = Counts()
    statuses = ["optimal"] * 5 + ["none"] * 3 + ["stopped"] * 2 + ["unproved"]
    for status in statuses:
        known = status == "optimal"
        counts.add(False, status, 1 if known else None, [["a"]] if known else [], [["a"]], cost=0.5 if known else None)
    counts.add_error()
    counts.add_error(not_begun=True)
    lines = list(tell_summary(counts.summary(), width))
    assert max(map(len, lines)) <= width
    told = words(lines)
    assert told.startswith("13 rows: 11 declined, 0 approved, 1 could not be explained, 1 not begun before the limit")
    for status, n in (("none", 3), ("stopped", 2), ("unproved", 1)):
        assert re.search(rf"{STATUS_WORDS[status]} +{n} rows? +{n / 11:.1%}".replace("%", " %"), told)
    assert "Average cost of the cheapest option: 0.5" in told
    assert "of the 5 rows whose smallest options are all known" in told
    assert "Approved" not in told  # there is nothing to say about no rows


def test_rows_that_were_only_scored_are_in_no_share_but_that_of_the_decision() -> None:
    counts = Counts()
    counts.add(False, "optimal", 1, [["a"]], [["a"]])
    for _ in range(3):
        counts.add(True, "not asked", None, [], [])
    summary = counts.summary()
    assert (summary.not_asked, summary.approved.rows, summary.approved.asked) == (3, 3, 0)
    told = words(tell_summary(summary))
    assert told.startswith("4 rows: 1 declined, 3 approved, 3 scored only")
    assert "Approved:" not in told
    figures = GroupSummaries.compared({"all": summary}).figures("all", "approved")
    assert (figures["share"].value, figures["one_change"].rows) == (0.75, 0)


def test_costs_are_averaged_if_all_of_them_are_proved() -> None:
    counts = Counts()
    for cost in (0.5, None, None):
        counts.add(False, "optimal", 1, [["a"]], [["a"]], cost=cost)
    told = words(tell_summary(counts.summary()))
    assert "Average cost" not in told
    assert "proved for 1 of the 3 declined rows with a known number of changes, so no average is shown" in told
    assert "cost" not in words(tell_summary(summarize([EXPLAINER.explain([0, 9, 50], values=False)])))


def test_names_are_for_people() -> None:
    assert "yearly income" in words(tell_summary(summarize([explained(4, 5)]), labels={"income": "yearly income"}))


def test_print_has_the_same_text() -> None:
    table = Explanations((explained(4, 5), InputError("bad row")), SPACE.names, 1, 1)
    assert str(table).startswith("\n".join(tell_summary(table.summary())))
    assert rows_text(table.summary()) == "2 rows: 1 declined, 0 approved, 1 could not be explained"


def test_a_long_label_ends_in_an_ellipsis() -> None:
    label = "number of bank or national trades with a high utilization ratio"
    lines = list(tell_summary(summarize([explained(0, 9)]), 80, {"income": label, "debt": label}))
    assert all(len(line) <= 80 for line in lines)
    assert any(line.startswith("  number of bank or national trades with… ") for line in lines)
