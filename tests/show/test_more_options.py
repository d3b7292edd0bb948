"""Larger options and the curve in words: marked as larger, and with the reason why they end."""

from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, Space
from flipset.show.more_options import curve_end_text, larger_end_text
from flipset.show.report import explanation_html
from flipset.show.text import tell

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcde"])
EXPLAINER = Explainer(lambda rows: (rows * [3, 2, 2, 1, 1]).sum(axis=1) / 60, SPACE, threshold=0.5)


def explained(**request: Any) -> Explanation:
    e: Explanation = EXPLAINER.explain([0] * 5, **request)
    return e


def test_larger_options_are_marked_and_come_after_the_smallest() -> None:
    e = explained(more=2, options=1)
    text = "\n".join(tell(e))
    assert f"1 of {len(e.flipsets)} options shown" in text
    assert text.index("  1. cost") < text.index("no part of one of them is enough") < text.index("  + 3 changes")
    assert text.count("  + 3 changes") == 2
    page = "".join(explanation_html(e))
    assert "<h2>Larger options</h2>" in page
    assert page.count("<h3>+ ") == 2
    assert "no part of one of them" not in "\n".join(tell(explained()))


def test_the_curve_is_told_point_by_point() -> None:
    e = explained(curve=True)
    text = "\n".join(tell(e))
    assert all(f"at most {point.changes}: " in text for point in e.curve)
    assert "the same" in text
    assert "by the number of changes" in "".join(explanation_html(e))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_keep_to_the_width(width: int) -> None:
    e = explained(more=2, curve=True, options=2, diverse=True)
    told = [line for line in tell(e, width) if ":" not in line and "cost" not in line]
    assert max(map(len, told)) <= width


def test_every_end_has_its_reason() -> None:
    assert larger_end_text(explained(more=1)) == ""
    assert larger_end_text(explained(more=90)) == "There are no other minimal options."
    assert larger_end_text(explained(more=90, max_changes=2)) == (
        "There are no larger minimal options with at most 2 changes."
    )
    full = explained(more=90, curve=True).queries
    assert larger_end_text(explained(more=90, max_queries=full // 8)).startswith("The limit was reached")
    assert (
        curve_end_text(explained(curve=True, max_changes=2)) == "Options with more than 2 changes were not considered."
    )
    assert curve_end_text(explained(curve=True, max_changes=5)) == "More changes cannot be cheaper."
    stopped = explained(curve=True, max_queries=explained(curve=True).queries - 5)
    assert curve_end_text(stopped).startswith("The limit was reached")
