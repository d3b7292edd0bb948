"""What a space allows today of an explanation that was made with an earlier one: its moves, and its counterfactuals.

A space may have become narrower since: a feature is held fixed, a range is smaller. The model may still accept a
counterfactual on file that nobody may be told any more. A counterfactual is compared with ranges and steps, not with
the values of a table: those say which values are suggested, not which are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.results.verifying.counterfactuals import position
from flipset.results.verifying.findings import differences, same
from flipset.results.verifying.rules import not_kept
from flipset.space.feature import is_number
from flipset.space.moves import find_moves
from flipset.space.rows import check_row
from flipset.space.told_rules import ToldRules, tell_rules
from flipset.values.change import show, show_brief

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.moves import Moves, Unit
    from flipset.space.path import Path
    from flipset.space.rows import Row
    from flipset.space.unit_options import Option


@dataclass(frozen=True, slots=True)
class AllowedNow:
    """What a space allows of an explanation on file.

    Attributes
    ----------
    same_moves
        Whether the same features can move on this row, to the same best values, under the same rules.
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
    told = tell_rules(space, moves)
    alike = alike and _about(e.rules) == _about(told)
    computed = set() if space.computed is None else set(map(space.position, space.computed.names))
    why_not = []
    for one in e.promised:
        cells = differences(e.row, one.row)
        own = tuple(cell for cell in cells if cell[0] not in computed)
        why_not.append(_why_not(own, moves, row, space) or _rule_against(one.row, cells, own, row, told, space))
    return AllowedNow(alike, tuple(why_not))


def _about(told: ToldRules | None) -> ToldRules:
    """Return what rules say, without where columns may stop: that depends on the values in the table."""
    return ToldRules() if told is None else replace(told, stops={})


def _rule_against(
    changed: Mapping[str, Value], cells: Cells, own: Cells, row: Row, told: ToldRules | None, space: Space
) -> str:
    """Return the rule of today that a counterfactual does not keep; "" if it keeps all.

    `cells` are those in which it differs from the row, and `own` those that are not computed.
    """
    if told is None:
        return ""
    if space.computed is not None:
        try:
            follow = dict(space.computed.changed(row, own))
        except InputError as error:
            return str(error)
        here = {column: value for column, value in cells if (column, value) not in own}
        for column in sorted({*follow, *here}):
            name = space.names[column]
            value = follow.get(column, row[column])
            if not same(value, changed[name]):
                texts = [show_brief(one) for one in (changed[name], value)]
                there, here_now = texts if texts[0] != texts[1] else map(show, (changed[name], value))
                return f"{name} is {there} on file, and is computed as {here_now} today"
    broken = not_kept(told, changed, dict(zip(space.names, row, strict=True)))
    return f"it does not keep {broken[0]}" if broken else ""


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
