"""What the model said to rows around one row, and what that means for sets of its features."""

from collections.abc import Sequence
from typing import Any

import pytest

from flipset import Feature, Space, run
from flipset.answers.row_scores import RowScores
from flipset.errors import BudgetExhausted
from flipset.layers import Allowance, limit_queries, remember
from flipset.protocol import Flow
from flipset.space.cells import Cells
from flipset.space.moves import find_moves

SPACE = Space(
    [
        Feature("a", "integer", direction=+1, lower=0, upper=9),
        Feature("kind", "categorical", options=("x", "y", "z")),
    ]
)
MOVES = find_moves(SPACE, (1, "x"), raise_score=True)


def score(cells: Cells) -> float:
    row = dict(cells)
    return float(row.get(0, 1)) / 10 + {"x": 0.0, "y": 0.1, "z": -0.5}[row.get(1, "x")]


def oracle(rows: Sequence[Cells]) -> list[float]:
    return [score(cells) for cells in rows]


def after_beginning(scores: RowScores, then: Any) -> Any:
    def flow() -> Flow[Cells, Any]:
        yield from scores.begin()
        return (yield from then)

    return run(remember(flow(), scores.scores), oracle)


@pytest.mark.parametrize("threshold", [0.05, 0.5])
def test_margins_are_beyond_the_threshold_on_the_other_side(threshold: float) -> None:
    scores = RowScores(threshold)
    rows: list[Cells] = [((0, 9),), ((0, 0),), ((1, "z"),)]
    margins = after_beginning(scores, scores.margins(rows))
    assert scores.decision == (score(()) >= threshold)
    turned = [(score(cells) >= threshold) != scores.decision for cells in rows]
    assert [margin >= 0 for margin in margins] == turned
    assert after_beginning(scores, scores.signs(rows)) == [1.0 if one else -1.0 for one in turned]


def test_a_set_flips_if_some_choice_of_its_options_does() -> None:
    scores = RowScores(0.95)
    margins = after_beginning(scores, scores.blocks(MOVES, [0b01, 0b10, 0b11]))
    assert [margin >= 0 for margin in margins] == [False, False, True]  # 9 and y together


@pytest.mark.parametrize(
    ("options", "most", "answers"),
    [
        ("xzy", 1, [None, None]),
        ("xzy", 2, [False, None]),  # {a} is one row, which is in the block of both too
        ("xzy", 3, [False, None]),  # two of the three rows of that block do not flip, and the last is open
        ("xyz", 3, [False, True]),  # the row that flips is enough, whatever the last one says
    ],
)
def test_a_budget_that_ends_in_a_block_leaves_what_follows_from_its_rows(
    options: str, most: int, answers: list[bool | None]
) -> None:
    scores = RowScores(0.95)
    space = Space([SPACE.features[0], Feature("kind", "categorical", options=tuple(options))])
    moves = find_moves(space, (1, "x"), raise_score=True)
    arrived: list[bool | None] = []

    def asks() -> Flow[Cells, None]:
        yield from scores.begin()
        try:
            yield from scores.blocks(moves, [0b01, 0b11])
        except BudgetExhausted as stop:
            arrived.extend(None if one is None else one >= 0 for one in stop.answers)

    run(limit_queries(remember(asks(), scores.scores), Allowance(most)), oracle)
    assert arrived == answers
    assert scores.was_cut


def test_answers_of_others_are_taken_over_and_counted() -> None:
    scores = RowScores(0.5)
    scores.take_over({(): 0.1, ((0, 9),): 0.9}, queries=7)
    assert (scores.score, scores.decision, scores.queries) == (0.1, False, 7)
    assert scores.is_known_to_flip(((0, 9),))
    assert not scores.is_known_to_flip(((0, 8),))  # it follows, but nobody asked
    scores.scores[((0, 3),)] = 0.3
    assert scores.queries == 8
