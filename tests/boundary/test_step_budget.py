"""A budget of steps ends what shares it: when it is spent, and when somebody says stop."""

import pytest

from flipset import NotDecided
from flipset.boundary.step_budget import LOOK_EVERY, StepBudget


def test_steps_are_spent_until_none_are_left() -> None:
    budget = StepBudget(3)
    budget.spend()
    budget.spend(2)
    with pytest.raises(NotDecided, match="not decided in 3 steps"):
        budget.spend()
    with pytest.raises(NotDecided):  # for everybody who shares it
        budget.spend(0)


@pytest.mark.parametrize("steps", [0, 1, LOOK_EVERY - 1, LOOK_EVERY, LOOK_EVERY + 1, 5 * LOOK_EVERY])
@pytest.mark.parametrize("with_stop", [False, True])
def test_all_steps_can_be_spent_and_no_more(steps: int, with_stop: bool) -> None:
    budget = StepBudget(steps, (lambda: False) if with_stop else None)
    budget.spend(steps)
    with pytest.raises(NotDecided):
        budget.spend()


def test_stop_is_called_every_so_many_steps() -> None:
    looks = 0

    def look() -> bool:
        nonlocal looks
        looks += 1
        return looks == 3

    budget = StepBudget(10 * LOOK_EVERY, look)
    for _ in range(11):
        budget.spend(LOOK_EVERY // 4)
    with pytest.raises(NotDecided, match="stopped before it was decided"):
        budget.spend(LOOK_EVERY // 4)
    assert looks == 3
    with pytest.raises(NotDecided, match="stopped"):  # and it stays stopped, without another call
        budget.look()
    assert looks == 3


def test_a_budget_is_shared_or_made() -> None:
    budget = StepBudget(5)
    assert StepBudget.of(budget) is budget
    assert StepBudget.of(7).steps == 7
