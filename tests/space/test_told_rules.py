"""The rules that an explanation tells are enough to apply them again."""

from __future__ import annotations

import pytest

from flipset import Feature, InputError, Space
from flipset.space.moves import find_moves
from flipset.space.row_rules import RowConstraint
from flipset.space.told_rules import Steps, ToldRules, computed_of, rules_of, tell_rules
from tests.rule_spaces import draw_rule_case


def double(row: object) -> float:
    return 2.0


SPACE = Space(
    [
        Feature("a", "integer", direction=1, lower=0, upper=50, special=(-7,)),
        Feature("b", direction=-1, lower=0, upper=9, step=0.1),
        Feature("grade", "ordinal", direction=1, options=("low", "middle", "high")),
        Feature("s"),
        Feature("f"),
        Feature("g"),
    ],
    constraints=["a <= 10 * b", "grade == 'high' implies a >= 5", "b <= 3"],
    derived={"s": "a / b", "g": double},
    follows={"f": "f + (a - a.before)"},
)
ROW = {"a": 5, "b": 4.0, "grade": "low", "s": 1.25, "f": 7, "g": 2.0}


def told() -> ToldRules:
    found = tell_rules(SPACE, find_moves(SPACE, list(ROW.values()), raise_score=True))
    assert found is not None
    return found


def test_what_is_told() -> None:
    rules = told()
    assert rules.constraints == (
        RowConstraint("a <= 10 * b", False),
        RowConstraint("grade == 'high' implies a >= 5", False),
        RowConstraint("b <= 3", True),
    )
    assert rules.broken == ("b <= 3",)
    assert rules.derived == {"s": "a / b", "g": None}
    assert rules.functions == ("g",)
    assert rules.computed == ("s", "g", "f")
    assert rules.codes == {"a": (-7,)}
    assert rules.stops == {"a": Steps(6, 50, 1), "b": Steps(3.9, 0.0, -0.1), "grade": ("middle", "high")}


def test_spaces_without_rules_tell_none() -> None:
    space = Space([Feature("a", direction=1, lower=0, upper=9)])
    assert tell_rules(space, find_moves(space, [1.0], raise_score=True)) is None


@pytest.mark.parametrize(
    ("steps", "values"),
    [
        (Steps(6, 9, 1), [6, 7, 8, 9]),
        (Steps(0.3, 0.1, -0.1), [0.3, 0.2, 0.1]),
        (Steps(5, 5, 1), [5]),
        (Steps(-1.5, 0.0, 0.5), [-1.5, -1.0, -0.5, 0.0]),
    ],
)
def test_stops_at_equal_distances(steps: Steps, values: list[float]) -> None:
    assert list(steps.values()) == values
    assert [type(value) for value in steps.values()] == [type(value) for value in values]


def test_rules_made_again_are_the_same() -> None:
    again = rules_of(told(), ROW)
    moves = find_moves(SPACE, list(ROW.values()), raise_score=True)
    assert again is not None
    assert moves.rules is not None
    assert again.told == moves.rules.told
    for flips in range(8):
        for cells in moves.choices(flips):
            assert again.rows(cells) == moves.rules.rows(cells), cells


def test_rules_of_random_rows_made_again_are_the_same() -> None:
    compared = 0
    for seed in range(150):
        case = draw_rule_case(seed)
        row = [case.before[name] for name in case.names]
        moves = find_moves(case.space, row, raise_score=not case.decision)
        rules = tell_rules(case.space, moves)
        if rules is None or moves.rules is None or case.plain.own_bounds or any(c.is_function for c in case.computed):
            continue
        again = rules_of(rules, case.before)
        assert again is not None
        for flips in range(min(64, 1 << len(moves.units))):
            for cells in moves.choices(flips):
                assert set(again.rows(cells)) == set(moves.rules.rows(cells)), (seed, cells)
                compared += 1
    assert compared > 500


def test_computed_columns_made_again() -> None:
    again = computed_of(told(), ROW)
    assert again is not None
    assert again.names == ("s", "f")
    assert again.complete(list(ROW.values()), ((0, 8),)) == ((0, 8), (3, 2.0), (4, 10))
    assert computed_of(ToldRules(), ROW) is None
    assert rules_of(ToldRules(), ROW) is None


def test_rules_about_other_columns_are_refused() -> None:
    with pytest.raises(InputError, match="there is no column 'wages'"):
        rules_of(ToldRules((RowConstraint("wages <= a", False),)), ROW)
