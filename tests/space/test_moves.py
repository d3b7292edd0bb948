"""What one row may do, against what the words of the documentation allow it."""

from itertools import product
from typing import Any

import pytest

from flipset import Feature, InputError, Space
from flipset.protocol import everything, features_of
from flipset.space.group import Group
from flipset.space.moves import MoveFinder, Moves, find_moves
from flipset.space.rows import Row, check_row
from flipset.space.unit_options import in_order
from tests.spaces import Case, draw_case


def moves_of(case: Case) -> Moves:
    return find_moves(case.space, check_row(case.space, Row.of(case.row)), raise_score=not case.decision)


def reachable(case: Case, moves: Moves, unit: int) -> set[tuple[tuple[int, Any], ...]]:
    """All cells that a unit may get to, along its paths and by its options."""
    found: set[tuple[tuple[int, Any], ...]] = set()
    for option in moves.units[unit].options:
        ways = [[(column, value) for value in (case.row[column], *path.values)] for column, path in option.paths]
        for steps in product(*ways):
            cells = [(column, value) for column, value in steps if value != case.row[column]]
            found.add(in_order(option.cells, cells))
    return found - {()}


def test_units_reach_all_rows_that_are_allowed_and_no_other() -> None:
    checked = 0
    for seed in range(250):
        case = draw_case(seed, margins=True)
        moves = moves_of(case)
        number = {unit.name: i for i, unit in enumerate(moves.units)}
        allowed: dict[str, set[Any]] = {name: set() for name in case.units()}
        for row in case.every_row():
            changed = case.changed(row)
            if len(changed) == 1:
                (name,) = changed
                cells = tuple((i, row[i]) for i in case.units()[name] if row[i] != case.row[i])
                allowed[name].add(cells)
        for name, rows in allowed.items():
            assert reachable(case, moves, number[name]) == rows if name in number else not rows, (seed, name)
            checked += len(rows)
    assert checked > 500


def test_a_question_has_the_best_of_each_unit_and_for_options_every_choice_and_staying() -> None:
    for seed in range(120):
        case = draw_case(seed, margins=True)
        moves = moves_of(case)
        for flips in range(1 << len(moves.units)):
            block = moves.rows(flips)
            sizes = 1
            for i in features_of(flips):
                sizes *= moves.units[i].block
            assert len(block) == sizes
            columns = {column for i in features_of(flips) for column in moves.units[i].columns}
            for cells in block:
                assert list(cells) == sorted(cells, key=lambda cell: cell[0])
                assert {column for column, _ in cells} <= columns
        (nothing,) = moves.rows(0)
        assert nothing == ()


def test_a_larger_question_is_never_worse() -> None:
    """For each row of a question's block there is one at least as good in the block of every larger question."""
    for seed in range(60):
        case = draw_case(seed, margins=True)
        moves = moves_of(case)
        sign = -1 if case.decision else 1

        def best(flips: int, case: Case = case, moves: Moves = moves, sign: int = sign) -> float:
            scores = []
            for cells in moves.rows(flips):
                row = list(case.row)
                for column, value in cells:
                    row[column] = value
                scores.append(sign * case.score(tuple(row)))
            return max(scores)

        whole = everything(len(moves.units))
        for flips in range(whole + 1):
            for i in features_of(whole & ~flips):
                assert best(flips | 1 << i) >= best(flips), seed


def test_names_and_numbers_belong_together() -> None:
    features = [Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"]
    moves = find_moves(Space(features), (5, 9, 0), raise_score=True)
    assert [unit.name for unit in moves.units] == ["a", "c"]  # b is at its best already
    assert moves.names(0b10) == ("c",)
    assert moves.flips(["c", "a"]) == 0b11
    assert moves.ends == ((0, 9), (2, 9))
    with pytest.raises(InputError, match="'b' cannot move on this row; what can is 'a', 'c'"):
        moves.flips(["b"])


def test_what_is_held_fixed_is_listed() -> None:
    features = [Feature("a", fixed=True), Feature("b"), Feature("c", "binary", direction=+1)]
    moves = find_moves(Space(features), (1, 2, 0), raise_score=True)
    assert moves.held_fixed == ("a", "b")
    assert [unit.name for unit in moves.units] == ["c"]


def test_only_units_of_one_ordered_column_each_have_ends() -> None:
    ordered = Feature("a", "integer", direction=+1, lower=0, upper=9)
    options = Feature("b", "categorical", options=("x", "y"))
    assert find_moves(Space([ordered, options]), (1, "x"), raise_score=True).ends is None
    linked = [Feature(name, "integer", direction=+1, lower=0, upper=9, group="g") for name in "ab"]
    assert find_moves(Space(linked, [Group("g")]), (1, 1), raise_score=True).ends is None


def test_a_block_that_is_too_large_is_refused_with_what_makes_it_so() -> None:
    features = [Feature(name, "categorical", options=("p", "q", "r")) for name in "abcdefgh"]
    moves = find_moves(Space(features), ("p",) * 8, raise_score=True)
    moves.check_block(3**8)
    with pytest.raises(InputError, match=r"6,561 queries, more than max_block=6,560.*'a' \(3\).* and 2 more"):
        moves.check_block(3**8 - 1)


@pytest.mark.parametrize(
    ("row", "why"), [((1, 1), "unknown value"), ((2, 0), "unknown value"), ((None, 1), "missing"), ((0, 1), None)]
)
def test_one_hot_columns_that_are_none_are_held_fixed(row: tuple[Any, Any], why: str | None) -> None:
    space = Space([Feature(name, "binary", group="g") for name in "ab"], [Group("g", one_hot=True)])
    moves = find_moves(space, row, raise_score=True)
    assert moves.held_because == (() if why is None else (("g", why),))
    assert [unit.name for unit in moves.units] == ([] if why else ["g"])


def test_values_that_stay_hold_their_column_fixed_and_say_why() -> None:
    scale: dict[str, Any] = {"direction": 1, "lower": 0, "upper": 9, "special": (-7, -8), "may_leave": (-8,)}
    space = Space(
        [
            Feature("a", "integer", **scale),
            Feature("b", "ordinal", direction=+1, options=("low", "high")),
            Feature("c", "categorical", options=("x", "y")),
            Feature("d", fixed=True),
        ]
    )
    for row, held in (
        ((3, "low", "x", 1), ()),
        ((None, "low", "x", 1), (("a", "missing"),)),
        ((-7, "odd", None, 1), (("a", "special code"), ("b", "unknown value"), ("c", "missing"))),
        ((-8, "low", "z", 1), ()),  # a code that may be left, and a category that is no option
    ):
        moves = find_moves(space, row, raise_score=True)
        assert moves.held_because == held
        assert moves.held_fixed == ("d", *(name for name, _ in held))
        assert [unit.name for unit in moves.units] == [name for name in "abc" if name not in dict(held)]
    (_, _, category) = find_moves(space, (-8, "low", "z", 1), raise_score=True).units
    assert [option.end for option in category.options] == [((2, "x"),), ((2, "y"),)]


def test_a_column_of_a_linked_group_that_stays_does_not_hold_the_others() -> None:
    linked = [Feature(name, "integer", direction=+1, lower=0, upper=9, group="g") for name in "ab"]
    space = Space(linked, [Group("g")])
    moves = find_moves(space, (None, 1), raise_score=True)
    assert (moves.held_fixed, moves.held_because) == (("a",), (("a", "missing"),))
    (unit,) = moves.units
    assert (unit.ordered, unit.options[0].end) == (True, ((1, 9),))
    assert find_moves(space, (None, None), raise_score=True).units == ()


def test_the_moves_of_a_row_do_not_come_from_another_row_with_other_bounds() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9, upper_from="cap")])
    finder = MoveFinder(space)
    for cap, end in ((5, 5), (7, 7), (5, 5), (None, 9), (12, 9)):
        (unit,) = finder.moves(Row.of([3], {"cap": cap}), raise_score=True).units
        assert unit.end == (0, end)
    assert finder.moves(Row.of([3], {"cap": 3}), raise_score=True).units == ()


def test_bounds_and_limits_hold_for_labels_without_direction() -> None:
    feature = Feature("a", "ordinal", options=("p", "q", "r", "s"), upper="r", max_fall=1)
    (unit,) = find_moves(Space([feature]), ("r",), raise_score=True).units
    assert [option.end for option in unit.options] == [((0, "q"),)]


def test_bits_stay_what_the_column_holds() -> None:
    space = Space([Feature("a", "binary", direction=+1)])
    for before, after in ((False, True), (0, 1), (0.0, 1.0)):
        (unit,) = find_moves(space, (before,), raise_score=True).units
        assert unit.end == (0, after)
        assert type(unit.end[1]) is type(after)


def test_c2_a_group_of_many_combinations_is_refused_before_they_are_made() -> None:
    names = [f"c{i}" for i in range(12)]
    space = Space([Feature(name, "categorical", options=tuple(range(11)), group="g") for name in names])
    with pytest.raises(InputError, match=r"group 'g' has 3,138,428,376,721 combinations .* may have 100,000"):
        find_moves(space, [0] * 12, raise_score=True)
