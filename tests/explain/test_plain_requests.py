"""Arguments of `explain` as they come out of arrays and files: plain in results, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flipset import Decision, Explainer, Explanation, Feature, InputError, Space

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])


def score(rows: Any) -> Any:
    return rows.sum(axis=1) / 10


EXPLAINER = Explainer(score, SPACE, threshold=0.5)


@pytest.mark.parametrize("how", [{"options": 2}, {"more": 1}, {"max_changes": 2}, {"max_flipsets": 1}])
def test_counts_of_numpy_are_written_and_read(how: Any) -> None:
    found = EXPLAINER.explain([1, 1], **{name: np.int64(count) for name, count in how.items()})
    assert found == EXPLAINER.explain([1, 1], **how)
    assert Explanation.from_json(found.to_json()) == found


def test_a_flag_of_numpy_is_written_and_read() -> None:
    found = EXPLAINER.explain([1, 1], options=1, diverse=np.bool_(True))
    assert Explanation.from_json(found.to_json()) == found


@pytest.mark.parametrize("name", ["values", "exact", "strict", "diverse", "curve"])
@pytest.mark.parametrize("given", ["no", 1, None])
def test_a_flag_is_true_or_false(name: str, given: Any) -> None:
    with pytest.raises(InputError, match=f"{name} must be True or False, got {given!r}"):
        EXPLAINER.explain([1, 1], **{name: given})


@pytest.mark.parametrize("name", ["options", "more", "max_changes", "max_flipsets"])
def test_nan_is_no_count(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be a whole number of at least 1, got nan"):
        EXPLAINER.explain([1, 1], **{name: float("nan")})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"thresholds": []}, "thresholds must have at least one number"),
        ({"thresholds": b"ab"}, "thresholds must be a list of numbers"),
        ({"id": {}}, "id must have at least one name and value"),
    ],
)
def test_what_is_empty_or_no_list_is_refused(how: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        EXPLAINER.explain([1, 1], **how)


def test_only_must_be_a_word() -> None:
    with pytest.raises(InputError, match="only must be one of 'declined', 'approved', got \\['declined'\\]"):
        EXPLAINER.explain_table([[1, 1]], only=["declined"])


def test_a_threshold_of_numpy_is_written_to_files() -> None:
    threshold: Any = np.float32(0.5)
    space = Space(SPACE.features, decision=Decision(threshold=threshold))
    assert Space.from_toml(space.to_toml()).decision.threshold == 0.5


def test_a_threshold_that_more_changes_reach_is_not_out_of_reach() -> None:
    (found,) = Explainer(score, SPACE, threshold=1.5).explain_table([[1, 1]], max_changes=1)
    assert isinstance(found, Explanation)
    assert (found.status, found.lower) == ("none", 2)
