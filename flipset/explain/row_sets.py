"""What is known about a row before a flow of its own explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flipset.protocol import Flips
    from flipset.search.result import Flipsets
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves
    from flipset.space.rows import Row


@dataclass(frozen=True, slots=True)
class RowSets:
    """What was learned about a row before it is explained: by the table search, or by a recheck.

    Attributes
    ----------
    row
        The row, checked.
    moves
        What may change in it.
    scores
        The scores that are needed again, by the cells in which a row differs from this one: those of the row itself
        and of its flip sets. If sets have several rows each, all of them.
    result
        The smallest flip sets, with their proof; None where the search did not get that far.
    asked
        Lists all sets that were asked about, each with the score of its first row and its margin.
    contradiction
        A set that flips and a larger one that does not; None where there is no such pair.
    queries, rounds
        The cost of the search, including the query about the row itself.
    gone_through
        The search went through all sets of up to this many features, and none flips.
    has_values
        Whether some scores are of rows that are not at their best values. No search notices what these say about the
        directions, so all scores are compared at the end.
    """

    row: Row
    moves: Moves
    scores: Mapping[Cells, float]
    result: Flipsets | None
    asked: Callable[[], Iterable[tuple[Flips, float, float]]]
    contradiction: tuple[Flips, Flips] | None
    queries: int
    rounds: int
    gone_through: int = 0
    has_values: bool = False

    def learned(self) -> dict[Flips, float]:
        """Return the margins of sets from which another search goes on.

        Going through all sets of a size leaves thousands that do not flip. Each says something of itself only, and
        together they would slow a search down, so they are left out. The scores are kept all the same: no row is
        queried twice.
        """
        return {
            flips: margin
            for flips, _, margin in self.asked()
            if margin >= 0 or not 1 < flips.bit_count() <= self.gone_through
        }

    def scores_of_sets(self) -> dict[Cells, float]:
        """Return the scores of all sets that were asked about, by the first row of each."""
        # The table search runs only where a set is one row. A recheck lists the rows of other sets in `scores`.
        rows = ((self.moves.rows(flips), score) for flips, score, _ in self.asked())
        return {block[0]: score for block, score in rows if block}


def only_scored(row: Row, moves: Moves, score: float) -> RowSets:
    """Return what is known about a row of which only its own score is known."""
    return RowSets(row, moves, {(): score}, None, tuple, None, queries=1, rounds=1)
