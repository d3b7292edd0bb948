"""The answers about many rows in arrays; an `Explanation` is made when somebody looks at it.

The table search settles most rows of a table in arrays. Its answers stay there: sets of features as machine words,
values as positions on the paths of columns, scores as numbers. That takes some hundred bytes a row and a few
microseconds, where an explanation takes thousands of bytes and hundreds of microseconds.

Invariant: `AnswerColumns.explanation` returns what `flipset.explain.row.explain_row` returns for the row, apart from
the number of queries, of calls, and the further zeros of the proof, which depend on the search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from flipset.explain.row import tell_row
from flipset.layers import Tally
from flipset.proof import Proof
from flipset.protocol import features_of
from flipset.search.solve import conclude
from flipset.space.rows import check_row

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation
    from flipset.explain.request import Request
    from flipset.protocol import Flips
    from flipset.results.basis import Grounds
    from flipset.search.result import Flipsets
    from flipset.space import Space
    from flipset.space.moves import MoveFinder, Moves
    from flipset.space.shared import Shared
    from flipset.space.table_rows import TableRows
    from flipset.values.space_costs import SpaceCosts

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]
    Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Terms:
    """What all answers of a job are about: the space, the threshold, the request, and what they rest on.

    `rows` has the rows, by the numbers that the answers give.
    """

    space: Space
    threshold: float
    costs: SpaceCosts
    request: Request
    shared: Shared
    grounds: Callable[[], Grounds]
    rows: TableRows
    finder: MoveFinder


@dataclass(frozen=True, slots=True, eq=False)
class SetsOfRows:
    """Sets of features of many rows: those of row k are `words[start[k]:start[k + 1]]`."""

    start: Ints
    words: Words

    def of(self, k: int) -> list[int]:
        """Return the sets of a row."""
        sets: list[int] = self.words[self.start[k] : self.start[k + 1]].tolist()
        return sets


@dataclass(slots=True, eq=False)
class AnswerColumns:
    """The answers about some rows of a table, line by line.

    Attributes
    ----------
    rows
        The number of each row.
    columns
        The columns of the space that the bits of a set stand for.
    scores
        The score of each row.
    flipsets
        The smallest flip sets; none where nothing flips the decision.
    flipset_scores
        The score of the counterfactual of each flip set.
    positions
        Where the counterfactual of each flip set stands: a position on the path of each of its columns, in their
        order, and 0 beyond them. Position 1 is the value nearest to the row's own. None where values were not wanted.
    costs
        The cost of each counterfactual, as the nearest number; None where values were not wanted.
    reasons, zeros
        The zeros that are reported as reasons, and further zeros of the proof.
    queries, rounds
        What the answer about each row took.
    terms
        What all of them are about. It is not sent to other processes.
    """

    rows: Ints
    columns: Ints
    scores: Floats
    flipsets: SetsOfRows
    flipset_scores: Floats
    positions: Ints | None
    costs: Floats | None
    reasons: SetsOfRows
    zeros: SetsOfRows
    queries: Ints
    rounds: Ints
    terms: Terms | None = field(repr=False)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        # The terms hold the whole table. Who gets the answers knows them.
        return None, {name: None if name == "terms" else getattr(self, name) for name in self.__slots__}

    def __len__(self) -> int:
        return len(self.rows)

    def explanation(self, k: int) -> Explanation:
        """Return the explanation of a line."""
        terms = self.terms
        assert terms is not None, "answers that were sent from another process are given their terms there"
        row = check_row(terms.space, terms.rows.row(int(self.rows[k])))
        score = float(self.scores[k])
        moves = terms.finder.moves(row, raise_score=score < terms.threshold)
        sets = self.sets(k, moves)
        positions = None
        if self.positions is not None:
            positions = self.positions[self.flipsets.start[k] : self.flipsets.start[k + 1]].tolist()
        scores = self.flipset_scores[self.flipsets.start[k] : self.flipsets.start[k + 1]].tolist()
        given = terms.space, row, moves, terms.threshold, terms.costs, terms.request, terms.shared, terms.grounds()
        return tell_row(*given, score, sets, positions, scores)

    def sets(self, k: int, moves: Moves) -> Flipsets:
        """Return the flip sets and the proof of a line, in terms of the row's own units."""
        in_units = self.units_of(moves)
        ones, reasons, zeros = (tuple(map(in_units, one.of(k))) for one in (self.flipsets, self.reasons, self.zeros))
        proof = Proof(max(1, len(moves.units)), tuple(dict.fromkeys((*reasons, *zeros))), ones)
        tally = Tally(int(self.queries[k]), int(self.rounds[k]))
        return conclude("optimal" if ones else "none", proof, tally, reasons=len(reasons))

    def units_of(self, moves: Moves) -> Callable[[int], Flips]:
        """Return a function that turns a set of these columns into one of a row's own units."""
        columns = self.columns.tolist()
        if [tuple(unit.columns) for unit in moves.units] == [(column,) for column in columns]:
            return int
        # A column that is already at its best value is no unit of the row. Of a group, one column moves here.
        place = {column: i for i, unit in enumerate(moves.units) for column in unit.columns}
        bit = [1 << place[column] if column in place else 0 for column in columns]
        return lambda word: sum(bit[j] for j in features_of(word))


@dataclass(frozen=True, slots=True, eq=False)
class AnswerRow:
    """A line of answers: what a table keeps of a row until somebody looks at it."""

    answers: AnswerColumns
    line: int

    def explanation(self) -> Explanation:
        """Return the explanation of the row."""
        return self.answers.explanation(self.line)
