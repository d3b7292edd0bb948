"""What `explain` returns: read, written, checked and shown by methods of its own."""

import json
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space
from tests.ordered import draw_ordered
from tests.spaces import draw_case

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])


def total(rows: Any) -> Any:
    return np.asarray(rows, dtype=float).sum(axis=1) >= 12


def test_what_is_written_is_read_again() -> None:
    for seed in range(60):
        case = draw_case(seed, margins=seed % 2 == 0)
        e = Explainer(case.predict, case.space, cost=case.cost).explain(case.row)
        again = Explanation.from_json(e.to_json())
        assert again == e
        assert again.to_dict() == e.to_dict() == json.loads(e.to_json())
        assert type(again) is Explanation


def test_it_is_verified_by_the_model_and_not_by_another() -> None:
    for seed in range(8):
        case = draw_ordered(seed, rows=1)
        e = Explainer(case.model, case.space, threshold=case.threshold).explain(case.rows[0])
        assert e.verify(case.model, space=case.space, threshold=case.threshold), seed
        assert (
            not e.verify(lambda rows: [0.0] * len(rows), space=case.space, threshold=case.threshold) or not e.proof.ones
        )


def test_a_space_is_a_space() -> None:
    e = Explainer(total, SPACE).explain([1, 1])
    with pytest.raises(InputError, match=r"space must be a flipset.Space, got list"):
        e.verify(total, space=[1])  # type: ignore[arg-type]


def test_counterfactuals_are_rows_of_a_frame() -> None:
    e = Explainer(total, SPACE).explain([1, 8])
    frame = e.to_frame()
    assert len(frame) == len(e.counterfactuals) == 1
    assert frame["flipset"].tolist() == ["a"]
    assert frame[["a", "b"]].to_numpy().tolist() == [[4, 8]]
    assert frame["cost"].tolist() == [one.cost for one in e.counterfactuals]


def test_it_reads_on_one_line_and_in_full() -> None:
    e = Explainer(total, SPACE).explain([1, 8])
    assert "\n" not in repr(e)
    assert "size=1" in repr(e)
    assert len(str(e).splitlines()) > 5
    assert "a: 1 → at least 4" in str(e)
    assert e._repr_html_().count("<") > 10
