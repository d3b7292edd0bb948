"""The free check: a score that gets worse where everything is at its best shows reversed directions."""

from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, NotMonotone, Space
from flipset.errors import FlipsetError

UP = Space([Feature(name, "integer", direction=1, lower=0, upper=9) for name in "ab"])
DOWN = Space([Feature(name, "integer", direction=-1, lower=0, upper=9) for name in "ab"])


def linear(rows: Any) -> Any:
    return rows.sum(axis=1) / 18


@pytest.mark.parametrize("request_", [{}, {"batch": 1}, {"max_changes": 1}, {"max_seconds": 3600}])
@pytest.mark.parametrize(("row", "verb"), [([3, 3], "falls"), ([7, 7], "rises")])
def test_reversed_directions_are_never_no_option(row: list[int], verb: str, request_: dict[str, Any]) -> None:
    with pytest.raises(NotMonotone, match=f"the score {verb} from .* the directions look reversed") as caught:
        Explainer(linear, DOWN, threshold=0.5).explain(row, **request_)
    assert caught.value.rows is not None
    first, second = caught.value.rows
    assert list(first.values()) == row
    assert second != first


def test_in_a_table_such_rows_are_counted() -> None:
    rows = [[3, 3], [7, 7], [4, 4], [0, 0], [9, 9]]
    found = Explainer(linear, DOWN, threshold=0.5).explain_table(rows)
    # In the last two rows nothing may change, so they show nothing.
    assert [isinstance(one, NotMonotone) for one in found][:3] == [True, True, True]
    summary = found.summary()
    assert summary.contradicted >= 3
    assert f"{summary.contradicted} rows contradict the directions" in str(found)


def test_with_strict_off_nothing_is_proved() -> None:
    explainer = Explainer(linear, DOWN, threshold=0.5)
    e = explainer.explain([3, 3], strict=False)
    assert (e.status, e.size, e.flipsets) == ("unproved", None, ())
    assert e.contradictions == (({"a": 3, "b": 3}, {"a": 0, "b": 0}),)
    found = explainer.verify(e)
    assert not found
    assert found.problems == ("status: it is unproved, for the model contradicted the directions",)


def test_iterating_says_it_too() -> None:
    with pytest.raises(NotMonotone, match="directions look reversed"):
        list(Explainer(linear, DOWN, threshold=0.5).iter_flipsets([3, 3]))


def test_a_model_that_nothing_changes_is_no_contradiction() -> None:
    for noise in (0.0, 1e-7):
        model = lambda rows, noise=noise: 0.3 + noise * np.arange(len(rows))  # noqa: E731
        assert Explainer(model, UP, threshold=0.5).explain([3, 3]).status == "none"


def test_options_may_score_less() -> None:
    space = Space([Feature("a", "integer", direction=1, lower=0, upper=3),
                   Feature("colour", "categorical", options=(0, 1))])  # fmt: skip
    e = Explainer(lambda rows: rows[:, 0] / 10 - rows[:, 1] / 2, space, threshold=0.9).explain([1, 0])
    assert e.status == "none"


def test_a_score_that_falls_where_it_flips_all_the_same_is_left_alone() -> None:
    # The decision is monotone, and the score above the threshold is not. Nothing that is said rests on it.
    model = lambda rows: np.where(rows.sum(axis=1) >= 10, 1 - rows.sum(axis=1) / 100, rows.sum(axis=1) / 100)  # noqa: E731
    e = Explainer(model, UP, threshold=0.5).explain([3, 3])
    assert (e.status, e.size) == ("optimal", 1)


def test_errors_of_this_kind_are_errors_of_flipset() -> None:
    assert issubclass(NotMonotone, FlipsetError)
