"""Groups side by side in words: denominators, intervals, the reference, small groups, and no line too long."""

from html.parser import HTMLParser
from random import Random
from typing import Any

import pytest

from flipset.results.groups import SMALL, GroupSummaries
from flipset.results.summary import Counts
from flipset.show.group_tables import GROUPS_SHOWN, figure_tables, groups_html, shown_groups, tell_groups
from flipset.space.words import Decision, FeatureWords


def counts(seed: int, rows: int) -> Counts:
    rng, made = Random(seed), Counts()
    for _ in range(rows):
        status = rng.choice(["optimal"] * 8 + ["none"])
        sets = [["a"]] if rng.random() < 0.6 else [["a", "b"]]
        known = status == "optimal"
        size, cost = (len(sets[0]), rng.random()) if known else (None, None)
        made.add(rng.random() < 0.5, status, size, sets if known else [], [["a"]], cost=cost)
    return made


def compared(sizes: dict[Any, int], reference: Any = None, decision: Decision | None = None) -> GroupSummaries:
    made = {group: counts(seed, n).summary(decision) for seed, (group, n) in enumerate(sizes.items())}
    return GroupSummaries.compared(made, reference)


def told(groups: GroupSummaries, width: int = 80, words: FeatureWords | None = None) -> str:
    return "\n".join(tell_groups(groups, width, words))


def test_every_figure_has_its_denominator_interval_difference_and_ratio() -> None:
    groups = compared({"north": 400, "south": 300})
    text = told(groups, 120)
    figure = groups.figures("south")["one_change"]
    (line,) = [line for line in text.splitlines() if f"{figure.count} of {figure.rows}" in line]
    low, high = figure.interval
    assert f"{figure.value:.1%}".replace("%", " %") + f" [{100 * low:.1f}, {100 * high:.1f}]" in line
    low, high = figure.difference_interval
    assert f"{100 * figure.difference:+.1f} [{100 * low:.1f}, {100 * high:.1f}]" in line
    low, high = figure.ratio_interval
    assert f"{figure.ratio:.2f} [{low:.2f}, {high:.2f}]" in line
    assert "to the group “north”" in " ".join(text.split())
    assert text.count("reference") == 5  # one for each figure
    for title in ("Share declined", "One change is enough", "Changes needed", "No option", "Cost of the cheapest"):
        assert title in text
    assert "Limit reached" not in text  # there is no such row


def test_only_declined_rows_are_in_the_text_and_both_in_the_report() -> None:
    groups = compared({"north": 400, "south": 300})
    assert "approved rows" not in told(groups)
    html = "".join(groups_html(groups))
    assert html.index("Declined rows") < html.index("Approved rows")


def test_small_groups_are_marked() -> None:
    groups = compared({"north": 400, "south": SMALL})
    text = told(groups)
    assert "south *" in text
    assert "north *" not in text
    assert f"Fewer than {SMALL} declined rows" in text
    assert "*" not in told(compared({"north": 400, "south": 400}))


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_too_long(width: int) -> None:
    large = Counts()
    large.of["below", "is none", ""] = 123_456
    large.of["below", "is optimal", ""] = 1_234_567
    large.of["below", "one change", ""] = 1_000_000
    large.of["below", "size", "1"] = 1_234_567
    large.of["above", "is optimal", ""] = 7_654_321
    groups = GroupSummaries.compared(
        {
            "a group with a very long name, longer than any line of a terminal may be, and longer": large.summary(),
            "another": counts(1, 20).summary(),
        }
    )
    lines = list(tell_groups(groups, width))
    assert max(map(len, lines)) <= width
    assert "longer than any line" in " ".join(" ".join(line.split()) for line in lines)  # wrapped, not cut


def test_counts_are_left_out_before_names_get_their_own_lines() -> None:
    groups = compared({"north": 400, "a group with a long name": 300})
    assert "a group with a long name" in told(groups)
    assert " of 300" not in told(groups)
    assert " of 300" in told(groups, 120)


def test_names_and_values_are_those_of_the_column_and_the_decision() -> None:
    words = FeatureWords("bankruptcy", value_labels=(("0", "no"), ("1", "yes")))
    text = told(compared({0: 300, 1: 200}, decision=Decision(outcomes=("bad", "good"))), words=words)
    assert text.startswith("Groups by bankruptcy, bad rows.")
    assert "\n  yes " in text
    assert "Share bad, of all rows" in text


def test_rows_without_a_decision_are_said_to_be_left_out() -> None:
    one = counts(1, 100)
    one.add_error()
    text = told(GroupSummaries.compared({"a": one.summary(), "b": counts(2, 100).summary()}))
    assert "1 row without an explanation" in text
    assert "no explanation" in text


def test_costs_are_compared_if_all_of_them_are_proved() -> None:
    one = counts(1, 100)
    assert "Cost of the cheapest option" in told(GroupSummaries.compared({"a": one.summary()}))
    one.add(False, "optimal", 1, [["a"]], [["a"]])
    text = told(GroupSummaries.compared({"a": one.summary()}))
    assert "Cost of the cheapest option" not in text
    assert "so no average is shown" in " ".join(text.split())


def test_of_many_groups_the_largest_are_shown() -> None:
    groups = compared({i: 40 + i for i in range(GROUPS_SHOWN + 5)}, reference=0)
    assert shown_groups(groups) == [i for i in sorted(groups, key=str) if i == 0 or i > 5]
    assert f"The {GROUPS_SHOWN} largest groups are shown; 5 more are not." in " ".join(told(groups).split())
    (first, *_) = figure_tables(groups, "declined")
    assert len(first.lines) == GROUPS_SHOWN


def test_a_group_without_such_rows_has_empty_cells() -> None:
    none = Counts()
    none.of["above", "is optimal", ""] = 40  # approved rows alone
    groups = GroupSummaries.compared({"a": counts(1, 100).summary(), "b": none.summary()})
    text = told(groups)
    assert "nan" not in text
    assert "0 of 0" in text


def test_hostile_names_stay_text() -> None:
    hostile = "<script>\x1b[2K\nPROVED"
    groups = compared({hostile: 60, "x": 50})
    assert "\x1b" not in told(groups)
    assert "\nPROVED" not in told(groups)
    found: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            found.append(tag)

    Tags().feed("".join(groups_html(groups)))
    assert "script" not in found
