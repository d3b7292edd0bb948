"""Results by threshold: in the order given, by index or by threshold, as text and as one frame."""

import pytest

from flipset import ByThreshold, Explainer, Feature, InputError, Space

SPACE = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
EXPLAINER = Explainer(lambda rows: rows[:, 0] / 10, SPACE)


def test_results_by_index_and_by_threshold() -> None:
    found = EXPLAINER.explain([3], thresholds=[0.8, 0.5])
    assert isinstance(found, ByThreshold)
    assert [e.threshold for e in found] == [0.8, 0.5]
    assert (len(found), found.at(0.5) is found[1]) == (2, True)
    assert repr(found).startswith("<ByThreshold: 0.8, 0.5; ")
    with pytest.raises(InputError, match=r"the thresholds are 0\.8, 0\.5"):
        found.at(0.6)
    with pytest.raises(InputError, match="for tables"):
        found.to_frame()


def test_text_says_which_threshold_and_what_all_took() -> None:
    found = EXPLAINER.explain([3], thresholds=[0.5, 0.8])
    text = str(found)
    assert text.index("Threshold 0.5") < text.index("a: 3 → at least 5") < text.index("Threshold 0.8")
    assert text.endswith(f"{found.queries} queries for all thresholds together.")


def test_one_frame_for_all_tables() -> None:
    found = EXPLAINER.explain_table([[3], [6]], thresholds=[0.5, 0.8])
    frame = found.to_frame()
    assert frame[["threshold", "row"]].values.tolist() == [[0.5, 0], [0.5, 1], [0.8, 0], [0.8, 1]]
    assert frame["decision"].tolist() == [False, True, False, False]
    long = found.to_frame(long=True)
    assert long["advice"].tolist() == [
        "a: 3 → at least 5",
        "a: 6 → at most 4",
        "a: 3 → at least 8",
        "a: 6 → at least 8",
    ]
