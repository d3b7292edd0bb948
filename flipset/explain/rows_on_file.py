"""Asking about the rows of an explanation on file, with the rules that are in the file.

A model completes rows with the computed columns of the space of today, whose formulas may differ from those on file.
Cells that are given are left as they are. So where formulas differ, the cells of all computed columns are given: as the
file computes them, or as they stand in the row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space.told_rules import ToldRules, computed_of, rules_of
from flipset.space.unit_options import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flow
    from flipset.results.data import ExplanationData
    from flipset.results.verifying.proof_queries import Asked
    from flipset.space import Space
    from flipset.space.cells import Cells


class RowsOnFile:
    """The rows of an explanation on file: of its proof, and of its counterfactuals.

    Attributes
    ----------
    moves
        What could move according to the file, under its constraints.

    Raises
    ------
    InputError
        A column is computed by a function that neither the file nor the space has.
    """

    def __init__(self, e: ExplanationData, space: Space | None, asked: Asked) -> None:
        told = e.rules or ToldRules()
        self.moves = e.moves if e.rules is None else replace(e.moves, rules=rules_of(told, e.row))
        self._asked = asked
        self._row = list(e.row.values())
        now = None if space is None else space.computed
        self._is_alike = (dict(told.derived), dict(told.follows)) == _formulas(space)
        unknown = [name for name, formula in told.derived.items() if formula is None]
        if unknown and not self._is_alike:
            raise InputError(
                f"{unknown[0]!r} is computed by a function, which is not in the explanation on file: give a space that "
                "has this function"
            )
        self._computed = None if self._is_alike else computed_of(told, e.row)
        self._columns = [] if now is None or self._is_alike else [now.place[name] for name in now.names]

    def scores(self, rows: Sequence[Cells]) -> Flow[Cells, dict[Cells, float]]:
        """Return the score of each row."""
        whole = [self._whole(cells) for cells in rows]
        scores = yield from self._asked.scores(whole)
        return {cells: scores[one] for cells, one in zip(rows, whole, strict=True)}

    def _whole(self, cells: Cells) -> Cells:
        """Return cells with those of the computed columns, unless the model completes them alike."""
        if self._is_alike or not cells:
            return cells
        found = cells if self._computed is None else self._computed.complete(self._row, cells)
        given = {column for column, _ in found}
        return in_order(found, [(column, self._row[column]) for column in self._columns if column not in given])


def _formulas(space: Space | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the formulas of a space as an explanation has them: None for a function."""
    if space is None:
        return {}, {}
    derived = {name: formula if isinstance(formula, str) else None for name, formula in space.derived.items()}
    return derived, dict(space.follows)
