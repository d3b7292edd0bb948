"""What a space allows today of an explanation that was made with an earlier one: its moves, and its counterfactuals.

A space may have become narrower since: a feature is held fixed, a range is smaller. The model may still accept a
counterfactual on file that nobody may be told any more. A counterfactual is compared with ranges and steps, not with
the values of a table: those say which values are suggested, not which are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.results.verifying.counterfactuals import position
from flipset.results.verifying.findings import differences, same
from flipset.results.verifying.rules import unkept
from flipset.space.feature import is_number
from flipset.space.moves import find_moves
from flipset.space.rows import check_row
from flipset.space.told_rules import tell_rules
from flipset.values.change import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.moves import Moves, Option, Unit
    from flipset.space.path import Path
    from flipset.space.rows import Row
    from flipset.space.told_rules import ToldRules


@dataclass(frozen=True, slots=True)
class AllowedNow:
    """What a space allows of an explanation on file.

    Attributes
    ----------
    same_moves
        Whether the same features can move on this row, to the same best values.
    why_not
        For each counterfactual, why the space does not allow it; "" if it does.
    """

    same_moves: bool
    why_not: tuple[str, ...]


def compare_with_space(e: ExplanationData, row: Row, space: Space) -> AllowedNow:
    """Compare an explanation, whose columns are those of the space, with what the space allows."""
    try:
        moves = find_moves(space, check_row(space, row), raise_score=not e.decision)
    except InputError as error:
        return AllowedNow(False, (f"the row is not allowed: {error}",) * len(e.promised))
    alike = [unit.key for unit in moves.units] == [unit.key for unit in e.moves.units]
    rules = tell_rules(space, moves)
    computed = set() if space.computed is None else {space.position(name) for name in space.computed.names}
    why_not = []
    for one in e.promised:
        cells = tuple(cell for cell in differences(e.row, one.row) if cell[0] not in computed)
        unkept = [] if rules is None else _unkept(cells, row, rules, space)
        why_not.append(_why_not(cells, moves, row, space) or (f"it breaks {unkept[0]}" if unkept else ""))
    return AllowedNow(alike and rules == e.rules, tuple(why_not))


def _unkept(cells: Cells, row: Row, rules: ToldRules, space: Space) -> list[str]:
    """Return the constraints that a row with these changes does not keep, computed columns as they are now."""
    before = dict(zip(space.names, row, strict=True))
    try:
        whole = cells if space.computed is None else space.computed.complete(row, cells)
    except InputError as error:
        return [str(error)]
    return unkept(before | {space.names[column]: value for column, value in whole}, before, rules)


def _why_not(cells: Cells, moves: Moves, row: Row, space: Space) -> str:
    owner = {column: unit for unit in moves.units for column in unit.columns}
    own: dict[str, list[tuple[int, Value]]] = {}
    for column, value in cells:
        feature = space.features[column]
        if column not in owner:
            is_held = feature.name in moves.held_fixed or feature.group in moves.held_fixed
            return (
                f"{feature.name} is held fixed" if is_held else f"{feature.name} cannot move from {show(row[column])}"
            )
        own.setdefault(owner[column].name, []).append((column, value))
    for unit in moves.units:
        if unit.name in own and not any(_leads_to(option, own[unit.name]) for option in unit.options):
            return _limit(unit, own[unit.name], space.names)
    return ""


def _leads_to(option: Option, cells: list[tuple[int, Value]]) -> bool:
    fixed, paths = dict(option.cells), dict(option.paths)
    settled = [column for column, _ in cells if column in fixed]
    return len(settled) == len(fixed) and all(
        same(value, fixed[column]) if column in fixed else column in paths and _is_on(paths[column], value)
        for column, value in cells
    )


def _is_on(path: Path, value: Value) -> bool:
    feature, best = path.feature, path.values[-1]
    if feature.levels or feature.step or not is_number(value):
        return position(path, value) is not None
    # A row from outside the range, or with a code in place of a number, enters the range at its near end.
    start = path.before if feature.is_ordinary(path.before) and is_number(path.before) else path.values[0]
    return bool(min(start, best) <= value <= max(start, best))


def _limit(unit: Unit, cells: list[tuple[int, Value]], names: Sequence[str]) -> str:
    column, value = cells[0]
    paths = dict(unit.options[0].paths)
    if not unit.ordered or column not in paths:
        return f"{names[column]} cannot become {show(value)}"
    path = paths[column]
    best = path.values[-1]
    if is_number(value) and is_number(best) and (value > best) == path.rising and value != best:
        return f"{names[column]} may only {'rise' if path.rising else 'fall'} to {show(best)}"
    return f"{names[column]} cannot become {show(value)}"
