"""Errors say whose turn it is, travel between processes, and carry what their reader needs."""

import inspect
import pickle
import re

import pytest

from flipset import errors
from flipset.errors import (
    BudgetExhausted,
    FlipsetError,
    InputError,
    Interrupted,
    NotMonotone,
    OracleError,
    Untrusted,
    first_line,
)
from flipset.sets.known import Known

KINDS = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, FlipsetError)}


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"^[ │├└─]*([A-Z]\w+)", errors.__doc__.split("::")[1], flags=re.MULTILINE)
    assert set(drawn) - {"That"} == set(KINDS)


def made() -> list[FlipsetError]:
    known = Known()
    known.learn(0b011, True)
    budget = BudgetExhausted("5 queries", known)
    budget.answers = (0.5, None)
    pair = NotMonotone(frozenset({"a"}), frozenset({"a", "b"}), rows=({"a": 1}, {"a": 2}))
    return [InputError("x"), OracleError("x", [1, 2]), budget, Interrupted(), pair, Untrusted("It is a pickle.", ["t"])]


@pytest.mark.parametrize("error", made(), ids=lambda error: type(error).__name__)
def test_an_error_arrives_with_all_it_carries(error: FlipsetError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__.keys() == error.__dict__.keys()
    for name, value in error.__dict__.items():
        if name != "known":
            assert again.__dict__[name] == value
    if isinstance(error, BudgetExhausted) and error.known is not None:
        assert getattr(again, "known").ones == error.known.ones  # noqa: B009


def test_a_budget_that_ran_out_says_the_smallest_flip_set_seen() -> None:
    known = Known()
    assert "no flip set seen yet" in str(BudgetExhausted("5 queries", known))
    known.learn(0b0111, True)
    known.learn(0b1000, True)
    assert "has size 1" in str(BudgetExhausted("5 queries", known))
    assert str(BudgetExhausted("5 queries")).endswith("ran out")


def test_large_sets_are_named_briefly() -> None:
    error = NotMonotone(frozenset(range(3)), frozenset(range(5_000)))
    assert len(str(error)) < 300
    assert "4,989 more" in str(error)


def test_the_first_line_of_what_a_library_said() -> None:
    assert first_line(ValueError("\n one\ntwo")) == "one"
    assert first_line(KeyError()) == "KeyError"


def test_what_is_wrong_with_an_argument_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)
    assert issubclass(Interrupted, BudgetExhausted)
