"""The summary of the page counts rows that are explained, by decision; groups add up to the whole."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, FlipsetError, InputError, Space
from flipset.results.summary import SIDES
from flipset.serve.row_results import STATUSES, RowResults
from flipset.serve.table_summary import MOST_COMPARED, counted, summarize_rows
from flipset.space.words import Decision, FeatureWords


def results() -> RowResults:
    """Two declined rows, one of them without an option, an approved row, an error, and a row that waits."""
    frame = pd.DataFrame({"region": ["north", "south", "north", None, "south"], "number": range(5)})
    known = RowResults(frame, ["income", "debt", "age"], threshold=0.5)
    known.scores[:3] = [0.1, 0.9, 0.2]
    known.sizes[:] = [2, 1, np.nan, np.nan, np.nan]
    known.one_change[:2] = [False, True]
    known.status[:] = [STATUSES.index(name) for name in ("optimal", "optimal", "none", "error", "waiting")]
    known.parts["some"][:2] = [[True, True, False], [False, True, False]]
    known.parts["all"][:2] = [[True, True, False], [False, True, False]]
    known.parts["reason"][:3] = [[True, False, False], [False, True, False], [False, True, False]]
    return known


def test_explained_rows_are_counted_by_decision() -> None:
    assert summarize_rows(results()) == {
        "all": {
            "rows": 4,
            "errors": 1,
            "contradicted": 0,
            "declined": {
                "outcome": "declined",
                "decision": False,
                "rows": 2,
                "statuses": {"optimal": 1, "incomplete": 0, "none": 1, "stopped": 0, "unproved": 0, "not asked": 0},
                "sizes": [{"size": 2, "rows": 1}],
                "one_change": 0,
                "mean_size": 2.0,
                # Shares of flip sets are of the row that has some; shares of reasons, of both.
                "features": [
                    {"name": "income", "some": 1.0, "all": 1.0, "reason": 0.5},
                    {"name": "debt", "some": 1.0, "all": 1.0, "reason": 0.5},
                ],
            },
            "approved": {
                "outcome": "approved",
                "decision": True,
                "rows": 1,
                "statuses": {"optimal": 1, "incomplete": 0, "none": 0, "stopped": 0, "unproved": 0, "not asked": 0},
                "sizes": [{"size": 1, "rows": 1}],
                "one_change": 1,
                "mean_size": 1.0,
                "features": [{"name": "debt", "some": 1.0, "all": 1.0, "reason": 1.0}],
            },
        },
        "groups": [],
    }


def test_groups_add_up() -> None:
    summary = summarize_rows(results(), "region")
    assert [group["group"] for group in summary["groups"]] == ["missing", "north", "south"]
    assert summary["reference"] == "north"
    for name in ("rows", "errors"):
        assert sum(group[name] for group in summary["groups"]) == summary["all"][name]
    for side in ("declined", "approved"):
        assert sum(group[side]["rows"] for group in summary["groups"]) == summary["all"][side]["rows"]
        for table in summary["tables"][side]["figures"]:
            assert len(table["lines"]) == len(summary["shown"]) == 3
            assert all(len(line) == len(table["head"]) for line in table["lines"])
    north = next(group for group in summary["groups"] if group["group"] == "north")
    assert north["figures"]["declined"]["no_option"]["value"] == 0.5


def test_the_reference_group_and_the_words_are_those_that_are_given() -> None:
    words = FeatureWords("part of the country", value_labels=(("north", "the north"),))
    summary = summarize_rows(results(), "region", "south", words)
    assert summary["reference"] == "south"
    assert "part of the country" in summary["tables"]["declined"]["notes"][0]
    assert "the north *" in [line[0] for line in summary["tables"]["declined"]["figures"][0]["lines"]]
    with pytest.raises(InputError, match="'east' is not among the groups"):
        summarize_rows(results(), "region", "east")


@pytest.mark.parametrize("favorable", ["above", "below"])
def test_counts_are_those_of_the_library(favorable: Any) -> None:
    space = Space(
        [Feature(name, "integer", direction=+1, lower=1, upper=8) for name in "abc"],
        decision=Decision(threshold=24, favorable=favorable),
    )
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 10, (150, 3)), columns=list("abc")).astype(object)
    frame.loc[3, "a"] = "much"  # an error
    explainer = Explainer(lambda rows: np.asarray(rows, dtype=float) @ [1.0, 2.0, 3.0], space)
    found = explainer.explain_table(frame, max_changes=2, max_queries=4, values=False)
    known = RowResults(frame, list("abc"), explainer.threshold, space.decision)
    for i, result in enumerate(found):
        known.note(i, result)
    expected = found.summary()
    assert any(isinstance(one, FlipsetError) for one in found)
    assert expected.stopped
    # The page does not keep what proofs rest on, and no costs.
    sides = {side: replace(expected.of(side), costs={}, total_cost=0.0) for side in SIDES}
    same = replace(expected, bases={}, declined=sides["declined"], approved=sides["approved"])
    assert counted(known, known.known).summary(space.decision) == same


def test_a_table_of_which_nothing_is_known_has_a_summary() -> None:
    known = RowResults(pd.DataFrame({"a": [1]}), ["a"], threshold=0.5)
    assert summarize_rows(known)["all"]["declined"]["mean_size"] is None


def test_very_many_groups_cannot_be_compared() -> None:
    n = MOST_COMPARED + 1
    known = RowResults(pd.DataFrame({"number": range(n)}), ["number"], threshold=0.5)
    with pytest.raises(InputError, match=f"'number' has {n} values; at most {MOST_COMPARED}"):
        summarize_rows(known, "number")
