"""What is suggested: the text of a rule or a note, and the rows behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SuggestionKind: TypeAlias = Literal["equality", "order", "sum", "implication", "one_hot", "whole", "missing"]

NOTES = ("one_hot", "whole", "missing")
"""The kinds that are no constraints."""

MOST_ROWS = 5
"""How many of the rows that break a rule are listed."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule that holds in a table, or nearly.

    Attributes
    ----------
    text
        The constraint, as a space takes it. For the kinds "one_hot", "whole" and "missing", a note for people.
    kind
        "equality", "order", "sum" and "implication" are constraints. "one_hot" are columns of which at most one is 1,
        "whole" is a column of floats that holds whole numbers only, "missing" are columns that are missing together.
    support
        How many rows the rule was tested on: those in which none of its columns is missing or has a special code. For
        columns that are missing together, the rows in which any of them is missing.
    broken
        How many of these rows break the rule.
    rows
        The positions of the first rows that break it, counted from 0; at most 5.

    Examples
    --------
    >>> Suggestion("late_90 <= late_60", "order", support=9871, broken=2, rows=(17, 402)).is_constraint
    True
    """

    text: str
    kind: SuggestionKind
    support: int
    broken: int = 0
    rows: tuple[int, ...] = ()

    @property
    def is_constraint(self) -> bool:
        """Whether the text is a constraint, not a note."""
        return self.kind not in NOTES


def suggested(text: str, kind: SuggestionKind, tested_on: NDArray[np.bool_], broken: NDArray[np.bool_]) -> Suggestion:
    """Return the suggestion for a rule that was tested on some rows, and that some of these break."""
    rows = np.flatnonzero(broken & tested_on)
    return Suggestion(text, kind, int(tested_on.sum()), len(rows), tuple(rows[:MOST_ROWS].tolist()))
