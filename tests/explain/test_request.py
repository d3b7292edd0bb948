"""What is wanted, as one object: checked once, where the call comes in, and before anything is asked."""

from dataclasses import replace
from typing import Any

import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.explain.request import Request, is_weighted, request_for

SPACE = Space([Feature("a", "binary", direction=+1), Feature("b", "binary", direction=+1)])
HEAVY = Space([Feature("a", "binary", direction=+1, weight=2), Feature("b", "binary", direction=+1)])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"batch": 0}, "batch must be a whole number of at least 1"),
        ({"max_changes": 0}, "max_changes must be"),
        ({"max_block": 0}, "max_block must be"),
        ({"value_queries": 0}, "value_queries must be"),
        ({"max_queries": 0}, "max_queries must be at least 1"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"objective": "time"}, 'objective must be "size" or "cost"'),
    ],
)
def test_what_cannot_be_meant_is_refused_at_every_door_before_the_model_is_asked(wanted: Any, words: str) -> None:
    def never(rows: Any) -> Any:
        raise AssertionError("asked")

    with pytest.raises(InputError, match=words):
        request_for(SPACE, **wanted)
    explainer = Explainer(never, SPACE)
    with pytest.raises(InputError, match=words):
        explainer.explain([0, 0], **wanted)
    with pytest.raises(InputError, match=words):
        explainer.explain_table([[0, 0]], **wanted)


def test_an_unknown_wish_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        request_for(SPACE, colour="red")


def test_weights_and_a_number_of_changes_do_not_go_together() -> None:
    assert (is_weighted(SPACE), is_weighted(HEAVY)) == (False, True)
    assert request_for(SPACE, max_changes=1).max_changes == 1
    with pytest.raises(InputError, match="use one of the two"):
        request_for(HEAVY, max_changes=1)


def test_a_batch_that_is_left_open_is_settled_by_replacing_it() -> None:
    request = Request(max_queries=7)
    assert request.batch is None
    assert replace(request, batch=16) == Request(max_queries=7, batch=16)
    with pytest.raises(InputError, match="batch"):
        replace(request, batch=0)
