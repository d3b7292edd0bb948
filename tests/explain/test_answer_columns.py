"""Answers in arrays: they are small, they can be sent to another process, and an explanation is made when looked at."""

import pickle
from typing import Any

import numpy as np
import pytest

from flipset import Explanation
from flipset.explain.answer_columns import AnswerColumns, AnswerRow, SetsOfRows
from flipset.space.moves import find_moves
from flipset.space.rows import check_row
from tests.explain.test_table_answers import Case, outcomes_of
from tests.ruled import ruled_explainer, table
from tests.same import answer_of


def answers_of(case: Case, **request: Any) -> list[AnswerRow]:
    found = [one for one in outcomes_of(case, **request).values() if isinstance(one, AnswerRow)]
    assert found
    return found


def test_sets_of_a_row_are_a_part_of_all() -> None:
    sets = SetsOfRows(np.array([0, 2, 2, 3]), np.array([5, 1 << 63, 7], dtype=np.uint64))
    assert [sets.of(k) for k in range(3)] == [[5, 1 << 63], [], [7]]


@pytest.mark.parametrize("with_reference", [False, True])
def test_what_arrays_hold_is_what_explanations_tell(with_reference: bool) -> None:
    for seed in (4, 12, 25):
        case = Case.draw(seed, with_reference=with_reference)
        for one in answers_of(case, values=with_reference):
            e, answers, k = one.explanation(), one.answers, one.line
            names = [case.space.names[column] for column in answers.columns]
            sets = [{names[i] for i in range(len(names)) if word >> i & 1} for word in answers.flipsets.of(k)]
            assert sorted(map(sorted, sets)) == sorted(sorted(flipset) for flipset in e.flipsets)
            assert (e.queries, e.rounds) == (answers.queries[k], answers.rounds[k])
            assert e.score == answers.scores[k]
            assert len(e.reasons) == len(answers.reasons.of(k))
            scores = answers.flipset_scores[answers.flipsets.start[k] : answers.flipsets.start[k + 1]]
            assert sorted(scores.tolist()) == sorted(c.score for c in e.counterfactuals)
            assert answer_of(e) == answer_of(case.explainer.explain(case.row(answers.rows[k]), values=with_reference))


def test_sets_are_in_the_units_of_the_row() -> None:
    """A column that is already at its best value is a bit of the arrays, and no unit of the row."""
    case = Case.draw(12, with_reference=True)
    shifted = 0
    for one in answers_of(case):
        answers = one.answers
        e = one.explanation()
        row = check_row(case.space, answers.terms.rows.row(int(answers.rows[one.line])))  # type: ignore[union-attr]
        moves = find_moves(case.space, row, raise_score=not e.decision)
        in_units = answers.units_of(moves)
        place = {unit.columns[0]: i for i, unit in enumerate(moves.units)}
        for i, column in enumerate(answers.columns.tolist()):
            if column in place:
                assert in_units(1 << i) == 1 << place[column]
        shifted += len(moves.units) < len(answers.columns)
    assert shifted > 0


def test_answers_are_sent_without_the_table_and_are_given_it_again() -> None:
    case = Case.draw(25, with_reference=True)
    (first, *_) = answers_of(case)
    sent: AnswerRow = pickle.loads(pickle.dumps(first))  # made here
    assert isinstance(sent.answers, AnswerColumns)
    assert sent.answers.terms is None
    with pytest.raises(AssertionError, match="given their terms"):
        sent.explanation()
    sent.answers.terms = first.answers.terms
    assert sent.explanation() == first.explanation()
    assert len(sent.answers) == len(first.answers)


def test_a_row_takes_little_memory() -> None:
    case = Case.draw(25, rows=400, with_reference=True)
    one = answers_of(case)[0].answers
    assert len(pickle.dumps(one)) < 1_000 * len(one)


def test_answers_in_arrays_keep_rules_between_columns() -> None:
    explainer = ruled_explainer()
    rows = table()
    for i, e in enumerate(explainer.explain_table(rows, values=False)):
        assert isinstance(e, Explanation)
        assert explainer.verify(e)
        row = rows.iloc[i]
        assert answer_of(e) == answer_of(explainer.explain(row, values=False))
        other = explainer.explain(row, values=False, batch=1)
        assert (e.flipsets, e.counterfactuals, e.reasons) == (other.flipsets, other.counterfactuals, other.reasons)
