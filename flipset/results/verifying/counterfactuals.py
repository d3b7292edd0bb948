"""Checking counterfactuals: each makes only allowed changes, describes them correctly, and none is missing."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isclose
from typing import TYPE_CHECKING, Any

from flipset.results.verifying.findings import Findings, Terms, differences, kinds_of_options, listed, named, same
from flipset.results.verifying.rules import check_kept, split
from flipset.space.feature import is_number
from flipset.values.costs import cost_along, cost_of_becoming
from flipset.values.exact import Scale, describe_grids, is_continuous, is_exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.moves import Moves, Unit
    from flipset.space.path import Path
    from flipset.space.unit_options import Option
    from flipset.values.change import Counterfactual


def check_counterfactuals(
    e: ExplanationData, moves: Moves, terms: Terms, findings: Findings, budget: StepBudget
) -> None:
    """Check the changes, the descriptions and the costs of all counterfactuals, and that none is missing."""
    paths = {column: path for unit in moves.units for option in unit.options for column, path in option.paths}
    owner = {column: unit for unit in moves.units for column in unit.columns}
    changed: set[int] = set()
    for where, one in e.all_counterfactuals:
        budget.spend(4 * (len(e.row) + len(moves.units)))
        cells = split(e, differences(e.row, one.row))
        check_kept(where, one, e, terms.space, findings, budget)
        changed |= {column for column, _ in cells}
        _check_moved(where, one, cells, moves, owner, e, terms, findings, budget)
        _check_changes(where, one, cells, e, terms.space, owner, findings)
        # Costs follow the paths of the space, which are certain only as long as everything before agrees.
        if terms.knows_values and terms.space is not None and not findings.problems:
            _check_cost(where, one, cells, paths, terms.space, e, terms, findings)
        lower = f"{where}.cost_at_least: it is {one.cost_at_least!r}, and the cost is {one.cost!r}"
        findings.check(0 <= one.cost_at_least <= one.cost < float("inf"), lower)
    _check_order(e, findings)
    _check_complete(e, findings, budget)
    findings.checked.append("counterfactuals")
    if terms.space is not None and terms.knows_values:
        grids = {e_name: paths[column].grid for column, e_name in enumerate(e.row) if column in changed & paths.keys()}
        # Whether values are exact is not in the space: the explanation says so, for all columns without a step.
        grids = describe_grids(grids, terms.space) if is_exact(e.grids) else grids
        findings.check(dict(e.grids) == grids, f"grids: they are {grids!r}")
        findings.checked.append("grids")
        return
    table = "the table is not given" if terms.space is not None else "the space is not given"
    findings.check(set(e.grids) <= {*e.row}, "grids: they are about columns that are not there")
    findings.not_checked["grids"] = table
    for each in kinds_of_options(e):
        findings.not_checked[f"{each}.cost"] = table
        if terms.space is None:
            how = f"only compared where both values are numbers: {table}"
            findings.not_checked[f"{each}.changes[].how"] = how
            findings.not_checked[f"{each}.row"] = f"whether its values are allowed: {table}"


def _check_moved(
    where: str,
    one: Counterfactual,
    cells: Cells,
    moves: Moves,
    owner: Mapping[int, Unit],
    e: ExplanationData,
    terms: Terms,
    findings: Findings,
    budget: StepBudget,
) -> None:
    """Check that every change is allowed, and that the flip set names it."""
    names, before = list(e.row), list(e.row.values())
    for column, value in cells:
        held = f"{where}.row: {names[column]!r} is {value!r} there, and it cannot move from {e.row[names[column]]!r}"
        findings.check(column in owner, held)
    findings.check(bool(cells), f"{where}.row: it is the row that is explained")
    own: dict[str, list[tuple[int, Value]]] = {}
    for column, value in cells:
        if column in owner:
            own.setdefault(owner[column].name, []).append((column, value))
    expected = tuple(unit.name for unit in moves.units if unit.name in own)
    findings.check(one.flipset == expected, f"{where}.flipset: it is {named(one.flipset)}, and {named(expected)} moves")
    for unit in moves.units:
        if unit.name in own:
            reachable = False
            for option in unit.options:
                budget.spend(4 + 2 * (len(option.cells) + len(option.paths)))
                if _leads_to(option, own[unit.name], unit, before, terms, exact=is_exact(e.grids)):
                    reachable = True
                    break
            values = listed(tuple(own[unit.name]), names)
            findings.check(reachable, f"{where}.row: {unit.name!r} has {values}, which it cannot become")


def _leads_to(
    option: Option,
    cells: Sequence[tuple[int, Value]],
    unit: Unit,
    before: Sequence[Value],
    terms: Terms,
    *,
    exact: bool,
) -> bool:
    """Say whether an option of a unit can lead from the values before to these cells.

    A file has only the furthest values of an option: then the columns are compared and, in an ordered unit, the range.
    """
    ends = dict(option.end)
    if any(column not in ends for column, _ in cells):
        return False
    if terms.space is None:
        return not unit.ordered or all(_is_between(before[i], value, ends[i]) for i, value in cells)
    paths = dict(option.paths)
    settled = {column: value for column, value in cells if column not in paths}
    return len(settled) == len(option.cells) and all(
        same(value, ends[column])
        if column in settled
        else _is_on(paths[column], value, ends[column], terms, exact=exact)
        for column, value in cells
    )


def _is_on(path: Path, value: Value, end: Value, terms: Terms, *, exact: bool) -> bool:
    if terms.knows_values and exact and is_continuous(path.feature):
        assert terms.space is not None, "a path comes from a space"
        return is_number(value) and Scale(path, terms.space.reference).holds(value, end)
    if terms.knows_values or path.feature.levels:
        return position(path, value) is not None
    # Without the table the values of the path are unknown, but its bounds are known.
    start = path.before if path.feature.is_ordinary(path.before) else None
    if start is None:
        return is_number(value) and bool(path.feature.lower <= value <= path.feature.upper)
    return is_number(value) and _is_between(start, value, end)


def _is_between(before: Value, value: Value, end: Value) -> bool:
    """Say whether a value lies beyond the one before and not beyond the end; only numbers can be compared."""
    if not all(map(is_number, (before, value, end))):
        return True
    return bool(before < value <= end or end <= value < before)


def position(path: Path, value: Value) -> int | None:
    """Return the position of a value on a path, counted from 0; None if it is not on the path."""
    values = path.values
    if path.feature.levels:
        return next((j for j, one in enumerate(values) if same(one, value)), None)
    if not is_number(value):
        return None
    sign = 1 if path.rising else -1
    # Bisection, because the values are sorted and there may be 2 ** 62 of them.
    j = bisect_left(values, sign * value, key=lambda one: sign * one)
    return j if j < len(values) and same(values[j], value) else None


def _check_changes(
    where: str,
    one: Counterfactual,
    cells: Cells,
    e: ExplanationData,
    space: Space | None,
    owner: Mapping[int, Unit],
    findings: Findings,
) -> None:
    """Compare the description of every change with the two rows."""
    names = list(e.row)
    listed = [change.feature for change in one.changes]
    changing = [names[column] for column, _ in cells]
    problem = f"{where}.changes: they are about {named(listed)}, and {named(changing)} differ"
    in_turn = listed == changing if space is not None else sorted(listed) == sorted(changing)
    if not findings.check(in_turn, problem):
        return
    after = {names[column]: (column, value) for column, value in cells}
    for j, change in enumerate(one.changes):
        column, value = after[change.feature]
        before = e.row[change.feature]
        for name, claimed, actual in (("before", change.before, before), ("after", change.after, value)):
            findings.check(
                same(claimed, actual), f"{where}.changes[{j}].{name}: it is {claimed!r}, and the row has {actual!r}"
            )
        how = _how(space, column, value, e) if space is not None else _how_by_numbers(owner.get(column), before, value)
        if how is not None:
            findings.check(change.how == how, f"{where}.changes[{j}].how: it is {change.how!r}, and must be {how!r}")


def _how(space: Space, column: int, value: Value, e: ExplanationData) -> str:
    feature = space.features[column]
    if not feature.ordered or not feature.is_ordinary(value):
        return "becomes"
    return "at least" if (feature.direction == 1) != e.decision else "at most"


def _how_by_numbers(unit: Unit | None, before: Value, value: Value) -> str | None:
    """Return how a column changes, if that follows without the space: for numbers of an ordered unit."""
    if unit is None or not unit.ordered or not is_number(before) or not is_number(value):
        return None
    return "at least" if value > before else "at most"


def _check_cost(
    where: str,
    one: Counterfactual,
    cells: Cells,
    paths: Mapping[int, Path],
    space: Space,
    e: ExplanationData,
    terms: Terms,
    findings: Findings,
) -> None:
    """Compare the cost of the changes, summed exactly."""
    amounts: list[Any] = []
    for column, value in cells:
        feature = space.features[column]
        if feature.ordered and feature.is_ordinary(value):
            amounts.append(cost_along(replace(paths[column], values=[value]), terms.cost, space.reference)(0))
        else:
            amounts.append(cost_of_becoming(feature, e.row[feature.name], value, terms.cost))
    cost = float(sum(map(Fraction, amounts), Fraction(0)))
    # A cost function of the user may return floats, whose sum depends on their order.
    exact = all(isinstance(amount, (int, Fraction)) for amount in amounts)
    right = one.cost == cost if exact else isclose(one.cost, cost, rel_tol=1e-12)
    findings.check(right, f"{where}.cost: it is {one.cost!r}, and the changes cost {cost!r}")
    told = {change.feature: change.cost for change in one.changes}
    for (column, _), amount in zip(cells, amounts, strict=True):
        name = space.features[column].name
        if told.get(name) is not None:  # older files do not have it
            right = isclose(told[name] or 0.0, float(amount), rel_tol=1e-12)
            findings.check(right, f"{where}.changes: that of {name!r} costs {float(amount)!r}, not {told[name]!r}")


PROVED_SIZE = ("optimal", "incomplete")
"""The statuses of explanations whose flip sets are proved to be smallest."""


def _check_order(e: ExplanationData, findings: Findings) -> None:
    places = {names: i for i, names in enumerate(e.flipsets)}
    keys = [(one.cost, places.get(one.flipset, -1)) for one in e.counterfactuals]
    for a, b in pairwise(keys):
        in_turn = a[0] < b[0] or (a[0] == b[0] and (a[1] <= b[1] or -1 in (a[1], b[1])))
        if not findings.check(in_turn, "counterfactuals: they are not in order, cheapest first"):
            return


def _check_complete(e: ExplanationData, findings: Findings, budget: StepBudget) -> None:
    """Check that there is a counterfactual for every flip set, or the cheapest of all."""
    flipsets = [one.flipset for one in e.counterfactuals]
    if e.status in ("none", "not asked"):
        findings.check(not flipsets, f"counterfactuals: there are some, and the status is {e.status}")
    elif e.max_options is not None and e.status != "unproved":
        _check_some(e, flipsets, findings, budget)
    elif e.status == "stopped":
        full = len(flipsets) == len(e.flipsets)
        subsets = [{*names} for names in flipsets]
        for names in e.flipsets if full else ():
            budget.spend(len(subsets))
            whole = {*names}
            full = full and any(subset <= whole for subset in subsets)
        findings.check(full, "counterfactuals: there must be one for every flip set")
    elif e.status in PROVED_SIZE and e.objective == "cost":
        findings.check(len(flipsets) == 1, "counterfactuals: there must be one, the cheapest of all")
        few = all(len(names) <= (e.max_changes or 0) for names in flipsets)
        findings.check(few, f"counterfactuals[0].flipset: it has more than {e.max_changes} changes")
        findings.checked.append("max_changes")
    elif e.status in PROVED_SIZE and e.objective == "size":
        findings.check(sorted(flipsets) == sorted(e.flipsets), "counterfactuals: there must be one for every flip set")
        findings.checked.append("objective")
    elif e.status in PROVED_SIZE:
        # One for every flip set, or the cheapest of all.
        full = len(flipsets) == 1 or sorted(flipsets) == sorted(e.flipsets)
        findings.check(full, "counterfactuals: there must be one for every flip set")
        findings.not_checked["counterfactuals"] = "whether one is missing: the file does not have its objective"


def _check_some(
    e: ExplanationData, flipsets: Sequence[tuple[str, ...]], findings: Findings, budget: StepBudget
) -> None:
    """Check that there are as many options as were wanted, and that each is one of the flip sets."""
    wanted = min(e.max_options or 0, len(e.flipsets))
    some = f"counterfactuals: there are {len(flipsets):,}, and must be {wanted:,} of {len(e.flipsets):,} options"
    findings.check(len(flipsets) == wanted, some)
    own = set(e.flipsets)
    for i, names in enumerate(flipsets):
        # Where the search was stopped, a feature of a flip set may turn out not to be needed.
        budget.spend(1 if names in own else len(own))
        among = names in own or (e.status == "stopped" and any({*names} <= {*one} for one in own))
        findings.check(among, f"counterfactuals[{i}].flipset: it is not one of the flip sets")
    if e.status == "optimal":
        findings.check(len({*flipsets}) == len(flipsets), "counterfactuals: two are of the same flip set")
    findings.checked.append("objective")
