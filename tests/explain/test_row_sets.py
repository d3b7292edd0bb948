"""What is handed on about a row: no answer is lost, and searches go on from what implies something."""

from flipset import Feature, Space
from flipset.explain.row_sets import RowSets, only_scored
from flipset.space.moves import find_moves
from flipset.space.rows import Row, check_row

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROW = check_row(SPACE, Row.of([1, 9, 2]))
MOVES = find_moves(SPACE, ROW, raise_score=True)


def sets(gone_through: int) -> RowSets:
    asked = [(0b01, 0.2, -0.3), (0b10, 0.1, -0.4), (0b11, 0.7, 0.2)]
    return RowSets(ROW, MOVES, {(): 0.1}, None, lambda: asked, None, queries=4, rounds=2, gone_through=gone_through)


def test_a_search_goes_on_from_what_implies_something() -> None:
    assert sets(0).learned() == {0b01: -0.3, 0b10: -0.4, 0b11: 0.2}
    # That no set of these sizes flips is not said set by set; single features, which order the others, are kept.
    assert sets(1).learned() == {0b01: -0.3, 0b10: -0.4, 0b11: 0.2}
    many = [(0b011, 0.2, -0.3), (0b111, 0.3, -0.2), (0b110, 0.7, 0.2), (0b100, 0.1, -0.4)]
    learned = RowSets(ROW, MOVES, {}, None, lambda: many, None, queries=5, rounds=1, gone_through=2).learned()
    assert learned == {0b111: -0.2, 0b110: 0.2, 0b100: -0.4}


def test_all_scores_are_kept_by_the_rows_they_are_of() -> None:
    # Column b is at its best value: the units of the row are a and c.
    assert [unit.columns for unit in MOVES.units] == [(0,), (2,)]
    assert sets(2).scores_of_sets() == {((0, 9),): 0.2, ((2, 9),): 0.1, ((0, 9), (2, 9)): 0.7}


def test_of_a_row_that_was_only_scored_one_query_is_known() -> None:
    alone = only_scored(ROW, MOVES, 0.1)
    assert (alone.queries, alone.rounds, alone.scores) == (1, 1, {(): 0.1})
    assert (alone.learned(), alone.scores_of_sets(), alone.result, alone.contradiction) == ({}, {}, None, None)
