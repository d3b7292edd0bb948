"""A suggestion counts the rows that it was tested on, and names the first that break it."""

import numpy as np

from flipset.space.suggestions.suggestion import MOST_ROWS, Suggestion, suggested


def test_only_rows_that_were_tested_count() -> None:
    tested_on = np.array([True] * 8 + [False] * 2)
    broken = np.array([False] + [True] * 9)
    assert suggested("a <= b", "order", tested_on, broken) == Suggestion("a <= b", "order", 8, 7, (1, 2, 3, 4, 5))
    assert MOST_ROWS == 5


def test_notes_are_no_constraints() -> None:
    kinds = ("equality", "order", "sum", "implication", "one_hot", "whole", "missing")
    assert [Suggestion("", kind, 1).is_constraint for kind in kinds] == [True] * 4 + [False] * 3  # type: ignore[arg-type]
