"""Finding whose questions a model fails on: nobody else pays for it, and the order of calls is a promise."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.drivers.apart import Outcomes, apart, ask_apart
from flipset.errors import BudgetExhausted, FlipsetError, InputError, OracleError, StorageError, Unavailable
from flipset.protocol import Done, advance, interrupt
from flipset.sets.known import Known


def expected_parts(owners: Sequence[int], bad: set[int], part: Sequence[int]) -> list[list[int]]:
    """The calls that halving makes, written as a recursion: the whole, then its first half, then its second."""
    different = sorted({owners[i] for i in part})
    calls = [list(part)]
    if bad & set(different) and len(different) > 1:
        first = different[: len(different) // 2]
        calls += expected_parts(owners, bad, [i for i in part if owners[i] in first])
        calls += expected_parts(owners, bad, [i for i in part if owners[i] not in first])
    return calls


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.sets(st.integers(0, 9)))
def test_each_question_has_its_answer_or_the_error_of_its_owner(owners: list[int], bad: set[int]) -> None:
    parts: list[list[int]] = []
    answered: Counter[int] = Counter()

    def ask_part(part: Sequence[int]) -> list[float]:
        parts.append(list(part))
        if failing := bad & {owners[i] for i in part}:
            raise OracleError(f"fails on {min(failing)}", part)
        answered.update(part)
        return [float(i) for i in part]

    outcomes = ask_apart(ask_part, owners)
    assert parts == expected_parts(owners, bad, range(len(owners)))
    for i, (owner, outcome) in enumerate(zip(owners, outcomes, strict=True)):
        if owner in bad:
            assert str(outcome) == f"fails on {owner}"
        else:
            assert outcome == float(i)
    assert answered == Counter(i for i, owner in enumerate(owners) if owner not in bad)  # once each


def test_a_row_that_cannot_be_put_to_the_model_is_found_like_one_that_it_fails_on() -> None:
    def ask_part(part: Sequence[int]) -> list[float]:
        if 1 in part:
            raise InputError("a column cannot hold it")
        return [0.0] * len(part)

    outcomes = ask_apart(ask_part, [0, 1])
    assert outcomes[0] == 0.0
    assert isinstance(outcomes[1], InputError)


def test_no_questions_are_not_asked() -> None:
    assert ask_apart(lambda part: 1 / 0, []) == []  # type: ignore[arg-type,return-value]


def out_of_money(count: int) -> BudgetExhausted:
    return BudgetExhausted(f"{count} queries", Known())


def test_a_budget_that_runs_out_in_a_call_is_the_outcome_of_that_part_alone() -> None:
    flow = apart([0, 0, 1, 2])
    assert list(asked(advance(flow))) == [0, 1, 2, 3]
    assert list(asked(interrupt(flow, OracleError("some", [])))) == [0, 1]
    assert list(asked(interrupt(flow, out_of_money(3)))) == [2, 3]
    end = advance(flow, [5.0, 6.0])
    assert isinstance(end, Done)
    assert [str(one).split(":")[0] for one in end.result] == [*["the budget of 3 queries ran out"] * 2, "5.0", "6.0"]


@pytest.mark.parametrize("error", [Unavailable("gone"), StorageError("full"), KeyboardInterrupt()])
def test_an_error_that_is_not_about_rows_ends_it(error: BaseException) -> None:
    flow = apart([0, 1])
    advance(flow)
    with pytest.raises(type(error)):
        interrupt(flow, error)


def asked(step: Sequence[int] | Done[Outcomes]) -> Sequence[int]:
    assert not isinstance(step, Done)
    return step


def test_owners_that_cannot_be_paid_for_are_left_out_whole_and_asking_again_is_paid_again() -> None:
    left = 7
    paid: list[int] = []

    def afford(count: int) -> BudgetExhausted | None:
        nonlocal left
        if count > left:
            return out_of_money(count)
        left -= count
        paid.append(count)
        return None

    flow = apart([0, 0, 0, 1, 1, 1, 1, 1, 2], afford=afford)
    assert list(asked(advance(flow))) == [0, 1, 2, 8]  # 3 + 1 of 7; owner 1 has 5
    assert list(asked(interrupt(flow, OracleError("some", [])))) == [0, 1, 2]  # 3 of the 3 that are left
    end = advance(flow, [1.0, 2.0, 3.0])  # and none is left for owner 2
    assert isinstance(end, Done)
    assert paid == [3, 1, 3]
    assert end.result[:3] == [1.0, 2.0, 3.0]
    assert all(isinstance(one, BudgetExhausted) for one in end.result[3:])


def test_nothing_is_asked_where_nothing_can_be_paid_for() -> None:
    end = advance(apart([0, 1], afford=out_of_money))
    assert isinstance(end, Done)
    assert all(isinstance(one, FlipsetError) for one in end.result)


def test_outcomes_can_be_read_before_all_are_there_and_come_in_the_order_of_their_owners() -> None:
    outcomes: Outcomes = [None] * 4
    flow = apart([0, 1, 2, 3], outcomes=outcomes)
    settled = []
    step = advance(flow)
    while not isinstance(step, Done):
        step = interrupt(flow, OracleError("two", step)) if 2 in step else advance(flow, [float(i) for i in step])
        settled.append([outcome is not None for outcome in outcomes].index(False) if None in outcomes else 4)
    assert settled == [0, 2, 2, 3, 4]


def test_c3_answers_that_came_with_the_error_are_not_asked_for_again() -> None:
    asked_parts: list[list[int]] = []

    def fail_on_five(part: Sequence[int]) -> Sequence[float]:
        asked_parts.append(list(part))
        if 5 in part:
            error = OracleError("five", part)
            error.answers = [float(i) if i < 4 else None for i in part]
            raise error
        return [float(i) for i in part]

    outcomes = ask_apart(fail_on_five, owners=[0, 0, 1, 2, 3, 4])
    assert asked_parts == [[0, 1, 2, 3, 4, 5], [4], [5]]
    assert outcomes[:5] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert isinstance(outcomes[5], OracleError)
    assert outcomes[5].answers == ()  # a result need not hold them


def test_a_budget_leaves_the_answers_that_arrived() -> None:
    flow = apart([0, 1, 2])
    advance(flow)
    stop = out_of_money(3)
    stop.answers = (1.0, None, 3.0)
    end = interrupt(flow, stop)
    assert isinstance(end, Done)
    assert end.result == [1.0, stop, 3.0]
