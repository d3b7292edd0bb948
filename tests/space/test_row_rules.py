"""What a row becomes: single rows, several, or none."""

from __future__ import annotations

from typing import Any

import pytest

from flipset import Feature, InputError, Space
from flipset.space import row_rules
from flipset.space.moves import Moves, find_moves
from flipset.space.row_rules import RowConstraint, RowRules

Cells = tuple[tuple[int, Any], ...]


def column(name: str, direction: int | None = 1, **how: Any) -> Feature:
    bounds: dict[str, Any] = {} if direction is None else {"lower": 0, "upper": 9}
    return Feature(name, "integer" if direction else "numeric", direction=direction, **bounds | how)  # type: ignore[arg-type]


def moves_of(space: Space, *row: Any) -> Moves:
    return find_moves(space, list(row), raise_score=True)


def rules_of(space: Space, *row: Any) -> RowRules:
    rules = moves_of(space, *row).rules
    assert rules is not None
    return rules


CHAIN = Space([column("a"), column("b"), column("c", fixed=True)], constraints=["a <= b <= c"])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ((), ()),
        (((0, 9),), ((0, 2),)),  # a is lowered to b
        (((1, 9),), ((1, 5),)),  # b is lowered to c, which is held fixed
        (((0, 9), (1, 9)), ((0, 5), (1, 5))),
        (((0, 3), (1, 4)), ((0, 3), (1, 4))),
    ],
)
def test_a_chain_leaves_one_row(cells: Cells, expected: Cells) -> None:
    rules = rules_of(CHAIN, 0, 2, 5)
    assert rules.gives_one_row
    assert rules.rows(cells) == (expected,)
    assert rules.rows(expected) == (expected,)  # what is allowed stays as it is
    assert rules.rows(cells) == (expected,)  # the second time it is looked up


def test_results_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_rules, "KEPT", 2)
    rules = rules_of(CHAIN, 0, 2, 5)
    for _ in range(2):
        assert [rules.rows(((0, a),)) for a in (1, 2, 3)] == [(((0, 1),),), (((0, 2),),), (((0, 2),),)]


def test_opposed_columns_leave_several_rows() -> None:
    space = Space([column("a"), column("b"), column("c", -1)], constraints=["a + b <= c + 1"])
    rules = rules_of(space, 0, 0, 1)
    assert not rules.gives_one_row
    assert set(rules.rows(((0, 9), (1, 9)))) == {((0, 2),), ((0, 1), (1, 1)), ((1, 2),)}
    # a and b may rise as far as c is left; c alone may fall as far as it is not needed.
    assert set(rules.rows(((0, 1), (2, 0)))) == {((0, 1), (2, 0))}
    assert set(rules.rows(((0, 2), (2, 0)))) == {((0, 1), (2, 0)), ((0, 2),)}


def test_a_row_keeps_its_own_violation() -> None:
    space = Space([column("a"), column("b", -1)], constraints=["a < b", "b >= 1 implies a <= 5"])
    rules = rules_of(space, 7, 7)
    assert rules.told == (RowConstraint("a < b", True), RowConstraint("b >= 1 implies a <= 5", True))
    assert rules.rows(()) == ((),)
    assert rules.rows(((0, 8),)) == ((),)
    assert rules.rows(((1, 6),)) == ((),)


def test_options_keep_rules_without_any_path() -> None:
    flag = Feature("flag", "categorical", options=("no", "yes"))
    job = Feature("job", "categorical", options=("none", "clerk"))
    moves = moves_of(Space([flag, job], constraints=["job == 'none' implies flag == 'no'"]), "no", "clerk")
    assert moves.rules is not None
    assert moves.rules.rows(((0, "yes"), (1, "none"))) == ()
    assert set(moves.rows(0b11)) == {(), ((0, "yes"),), ((1, "none"),)}


def test_rules_do_not_concern_missing_values_and_codes() -> None:
    space = Space([column("a", special=(-7,), may_become=(-7,), may_leave=(-7,)), column("b")], constraints=["a <= b"])
    assert rules_of(space, None, 3).told == (RowConstraint("a <= b", False),)
    rules = rules_of(space, -7, 3)
    assert rules.rows(((0, 9),)) == (((0, 3),),)  # a leaves its code, and is an ordinary number from then on
    assert rules_of(space, 3, 3).rows(((0, -7),)) == (((0, -7),),)


def test_there_is_no_way_back_to_a_code() -> None:
    features = [column("a", lower=5, special=(-7,), may_leave=(-7,)), column("b", fixed=True)]
    assert rules_of(Space(features, constraints=["a <= b"]), -7, 3).rows(((0, 9),)) == ()


def test_a_column_moves_only_with_another() -> None:
    rules = rules_of(Space([column("a"), column("b")], constraints=["if a moves then b moves"]), 1, 1)
    assert rules.rows(((0, 9),)) == ((),)
    assert rules.rows(((0, 9), (1, 2))) == (((0, 9), (1, 2)),)


def test_a_number_between_two_stops_is_allowed_or_not() -> None:
    space = Space([Feature("a", direction=1, lower=0, upper=10), column("b")], constraints=["a <= b"])
    rules = rules_of(space, 0.0, 3)
    assert rules.rows(((0, 2.999),)) == (((0, 2.999),),)
    assert rules.rows(((0, 3.001),)) == ()


def test_rules_about_sums_are_those_about_their_parts() -> None:
    features = [column("a", special=(-7,)), column("b"), Feature("s")]
    space = Space(features, constraints=["s <= 5"], derived={"s": "a + b"})
    assert rules_of(space, 1, 1, 2).rows(((1, 9),)) == (((1, 4),),)
    assert rules_of(space, None, 1, None).rows(((1, 9),)) == (((1, 9),),)  # the sum is missing
    assert rules_of(space, -7, 1, -6).rows(((1, 9),)) == (((1, 9),),)  # formulas compute with codes: -7 + 9
    assert rules_of(space, -7, 1, -6).told == (RowConstraint("s <= 5", False),)


def test_a_follower_stays_where_it_is_if_its_formula_lacks_a_value() -> None:
    features = [column("years", fixed=True), column("oldest", -1), Feature("age")]
    space = Space(features, constraints=["age <= oldest"], follows={"age": "age + (years - years.before)"})
    assert rules_of(space, 2, 9, 6).rows(((1, 0),)) == (((1, 6),),)
    assert rules_of(space, None, 9, 6).rows(((1, 0),)) == (((1, 6),),)
    assert rules_of(space, None, 5, 6).told == (RowConstraint("age <= oldest", True),)


def test_too_many_points_are_refused_with_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flipset.space.constraints.projection.MOST_POINTS", 3)
    rules = rules_of(Space([column("a"), column("b")], constraints=["a + b <= 9"]), 0, 0)
    with pytest.raises(
        InputError, match=r"the constraints between 'a', 'b' leave more than .* larger steps or narrower"
    ):
        rules.rows(((0, 9), (1, 9)))
