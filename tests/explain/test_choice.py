"""Which search runs is decided by the space, the request and the model; the answer is the same (test_same_answer)."""

from typing import Any

import pytest

from flipset import Explainer, Feature, Space
from flipset.explain.choice import ARRAYS_FROM, fits_arrays, may_use_arrays
from flipset.explain.request import Request
from flipset.search.table.search import MOST_FEATURES
from flipset.space.moves import find_moves
from flipset.space.rows import Row, check_row

ORDERED = [Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"]
LOCAL = {"is_local": True, "shares_budget": False}


@pytest.mark.parametrize(
    ("request_", "how", "expected"),
    [
        ({"batch": ARRAYS_FROM}, {}, True),
        ({"batch": ARRAYS_FROM - 1}, {}, False),  # few queries are wanted
        ({"batch": 64}, {"is_local": False}, False),  # calls are slow, or billed
        ({"batch": 64}, {"shares_budget": True}, False),
        ({"batch": 64, "max_changes": 1}, {}, False),  # pairs would be asked for nothing
        ({"batch": 64, "max_changes": 2}, {}, True),
        ({"batch": 64, "max_seconds": 9.0, "max_queries": 9}, {}, True),  # limits change nothing
    ],
)
def test_the_table_search_is_for_local_models_and_larger_batches(
    request_: dict[str, Any], how: dict[str, bool], expected: bool
) -> None:
    assert may_use_arrays(Space(ORDERED), Request(**request_), **LOCAL | how) == expected


def test_weights_are_for_the_guided_search() -> None:
    heavy = Feature("c", "integer", direction=+1, lower=0, upper=9, weight=2)
    assert not may_use_arrays(Space([*ORDERED, heavy]), Request(batch=64), **LOCAL)


def fits(features: list[Feature], row: list[Any]) -> bool:
    space = Space(features)
    checked = check_row(space, Row.of(row))
    return fits_arrays(space, checked, find_moves(space, checked, raise_score=True))


def test_rows_fit_whose_movable_columns_are_all_numbers_with_an_order() -> None:
    assert fits(ORDERED, [1, 2])
    assert not fits(ORDERED, [9, 9])  # nothing can move
    assert not fits([*ORDERED, Feature("kind", "categorical", options=("x", "y"))], [1, 2, "x"])
    assert not fits([*ORDERED, Feature("grade", "ordinal", direction=+1, options=("lo", "hi"))], [1, 2, "lo"])
    assert not fits([*ORDERED, Feature("note", fixed=True)], [1, 2, "text"])  # no array of numbers holds it
    assert fits([*ORDERED, Feature("note", fixed=True)], [1, 2, None])  # a missing number is NaN
    assert not fits([Feature("huge", "integer", direction=+1, lower=0, upper=2**60)], [2**59 + 1])  # no float holds it


def test_a_set_fits_into_a_word() -> None:
    many = [Feature(f"x{i}", "binary", direction=+1) for i in range(MOST_FEATURES + 1)]
    assert fits(many[:-1], [0] * MOST_FEATURES)
    assert not fits(many, [0] * (MOST_FEATURES + 1))


def test_what_was_chosen_shows_in_the_number_of_rounds() -> None:
    """Twelve features, any three of which are enough: in arrays there are fewer rounds."""
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(12)])
    explainer = Explainer(lambda rows: rows.sum(axis=1) >= 2, space)
    assert explainer.explain([0] * 12, batch=64).rounds < explainer.explain([0] * 12, batch=1).rounds / 3
