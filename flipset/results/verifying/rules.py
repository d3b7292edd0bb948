"""Checking the rules of an explanation: they are those of the space, and every counterfactual keeps them.

A counterfactual is compared with the constraints as they are written, on the values that it reports. Nothing here uses
the way in which the search applies them (`flipset.space.constraints.projection`), so an error there cannot hide here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import InputError
from flipset.results.verifying.findings import Findings, Terms, named, same
from flipset.space.constraints.conditions import Implication, Together
from flipset.space.constraints.constraint import read_constraint
from flipset.space.feature import is_missing, is_number
from flipset.space.room import exact
from flipset.space.told_rules import ToldRules, computed_of, rules_of, tell_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.computed_columns import ComputedColumns
    from flipset.space.constraints.constraint import Rule
    from flipset.space.constraints.inequalities import Inequality
    from flipset.space.feature import Value
    from flipset.space.moves import Moves
    from flipset.space.reference import Reference
    from flipset.values.change import Counterfactual

NOISE = 1e-9
"""How far a sum with computed columns, which are floats, may miss a limit, as a share of its size."""


def check_rules(e: ExplanationData, moves: Moves, terms: Terms, findings: Findings) -> Moves:
    """Compare the rules with those of the space; return the moves under these rules."""
    told = e.rules
    if terms.space is not None:
        own = tell_rules(terms.space, moves)
        claimed = told
        if not terms.knows_values and told is not None and own is not None:
            # Without the table, where columns may stop is taken from the explanation.
            own = replace(own, stops=told.stops)
        if not findings.check(claimed == own, f"rules: {_difference(claimed, own)}") or told is None:
            findings.checked.append("rules")
            return moves
        if terms.knows_values:
            findings.checked.append("rules")
            return moves
        findings.not_checked["rules"] = "where columns may stop is taken from the explanation: the table is not given"
    elif told is not None:
        findings.not_checked["rules"] = "taken from the explanation; no space was given"
    else:
        findings.checked.append("rules")
        return moves
    try:
        rules = rules_of(told, e.row)
    except InputError as error:
        findings.check(False, f"rules: {error}")
        return moves
    broken = () if rules is None else tuple(one.text for one in rules.told if one.broken)
    findings.check(
        broken == told.broken,
        f"rules: the row breaks {_quoted(broken)}, and the explanation says {_quoted(told.broken)}",
    )
    for name, path in ({} if rules is None else rules.paths).items():
        best = {option.end for unit in moves.units for option in unit.options}
        ends = {value for cells in best for column, value in cells if list(e.row)[column] == name}
        reaches = any(same(path.values[-1], end) for end in ends)
        findings.check(reaches, f"rules.stops: those of {name!r} do not end at its best value")
    return replace(moves, rules=rules)


def _difference(told: ToldRules | None, own: ToldRules | None) -> str:
    """Say how the rules of an explanation differ from those of the space."""
    one, other = told or ToldRules(), own or ToldRules()
    texts, known = ([each.text for each in rules.constraints] for rules in (one, other))
    if texts != known:
        only, more = ([text for text in a if text not in b] for a, b in ((texts, known), (known, texts)))
        parts = [f"the explanation also has {_quoted(only)}"] if only else []
        parts += [f"the space also has {_quoted(more)}"] if more else []
        return "other constraints than those of the space: " + (" and ".join(parts) or "in another order") + HINT
    if one.broken != other.broken:
        return f"the row breaks {_quoted(other.broken)}, and the explanation says {_quoted(one.broken)}"
    for mine, theirs in ((one.derived, other.derived), (one.follows, other.follows)):
        for name in {**mine, **theirs}:
            a, b = _formula(name, mine), _formula(name, theirs)
            if a != b:
                return f"the computed column {name!r} has {a} in the explanation, and {b} in the space"
    if one.codes != other.codes:
        return "the special codes of columns in constraints are not those of the space"
    names = [name for name in {**one.stops, **other.stops} if one.stops.get(name) != other.stops.get(name)]
    if names:
        return f"where {named(names)} may stop is not as in the space and its table"
    return "the space has rules, and the explanation has none" if told is None else "the space has no rules"


def _formula(name: str, formulas: Mapping[str, str | None]) -> str:
    text = formulas.get(name)
    if text is not None:
        return f"the formula {text!r}"
    return "a function" if name in formulas else "no formula"


def _quoted(texts: Sequence[str]) -> str:
    """List some constraints in quotation marks."""
    more = f" and {len(texts) - 4:,} more" if len(texts) > 4 else ""
    return (", ".join(map(repr, texts[:4])) or "no constraint") + more


HINT = (
    "; an explanation made with further constraints must be verified with the same, as --constraint on the command line"
)


def computed_columns(
    e: ExplanationData, space: Space | None, reference: Reference | None = None
) -> ComputedColumns | None:
    """Return the computed columns of an explanation: those of the space if it is known."""
    if space is not None:
        return space.computed
    return None if e.rules is None else computed_of(e.rules, e.row, reference)


def split(e: ExplanationData, cells: Cells) -> Cells:
    """Return the cells that moved by themselves, without those of computed columns."""
    if e.rules is None or not e.rules.computed:
        return cells
    computed, names = set(e.rules.computed), list(e.row)
    return tuple(cell for cell in cells if names[cell[0]] not in computed)


def check_kept(
    where: str, one: Counterfactual, e: ExplanationData, space: Space | None, findings: Findings, budget: StepBudget
) -> None:
    """Check that a counterfactual keeps all constraints, and that its computed columns are as computed."""
    if e.rules is None:
        return
    budget.spend(4 * len(e.rules.constraints) + len(e.row))
    for text in not_kept(e.rules, one.row, e.row):
        findings.check(False, f"{where}.row: it does not keep the constraint {text!r}")
    _check_consequences(where, one, e, space, findings)


def not_kept(told: ToldRules, row: Mapping[str, Value], before: Mapping[str, Value]) -> list[str]:
    """Return the constraints that a changed row does not keep; one that `before` breaks must not get worse."""
    texts = [one.text for one in told.constraints]
    return [text for text in texts if not all(_keeps(rule, row, before, told) for rule in read_constraint(text).rules)]


def _check_consequences(
    where: str, one: Counterfactual, e: ExplanationData, space: Space | None, findings: Findings
) -> None:
    assert e.rules is not None, "the caller has checked it"
    names = list(e.row)
    moved = split(e, tuple((i, one.row[name]) for i, name in enumerate(names) if not same(e.row[name], one.row[name])))
    expected = {name: e.row[name] for name in e.rules.computed}
    computed = computed_columns(e, space)
    unknown = {*e.rules.functions} if space is None else set()
    try:
        found = () if computed is None else computed.changed(list(e.row.values()), moved)
    except InputError as error:
        findings.check(False, f"{where}.row: {error}")
        return
    expected |= {names[column]: value for column, value in found}
    for name, value in expected.items():
        if name not in unknown:
            problem = f"{where}.row: {name!r} is {one.row[name]!r} there, and is computed as {value!r}"
            holds = same(value, one.row[name]) or (space is None and _is_rounded(value, one.row[name]))
            findings.check(holds, problem)
    for name in unknown:
        findings.not_checked[f"{where}.row.{name}"] = "computed by a function, which is not in the file"
    told = [(each.feature, each.before, each.after) for each in one.consequences]
    true = [
        (name, e.row[name], one.row[name])
        for name in names
        if name in expected and not same(e.row[name], one.row[name])
    ]
    if space is None:  # a file may have its columns in another order
        told, true = (sorted(changes, key=lambda change: change[0]) for changes in (told, true))
    alike = len(told) == len(true) and all(
        a[0] == b[0] and same(a[1], b[1]) and same(a[2], b[2]) for a, b in zip(told, true, strict=True)
    )
    findings.check(alike, f"{where}.consequences: they do not say how computed columns change")


def _is_rounded(value: Value, told: Value) -> bool:
    """Say whether a number was rounded to a column of narrow floats; which columns these are is not in the file."""
    if not isinstance(value, float) or not isinstance(told, float):
        return False
    with np.errstate(over="ignore"):
        return any(told == float(narrow(value)) for narrow in (np.float32, np.float16))


def _keeps(rule: Rule, row: Mapping[str, Value], before: Mapping[str, Value], told: ToldRules) -> bool:
    """Say whether a row keeps a rule, or keeps to the violation of the row before."""
    if isinstance(rule, Together):
        return same(row[rule.mover], before[rule.mover]) or not same(row[rule.needs], before[rule.needs])
    if not _concerns(rule, row, told):
        return True
    if isinstance(rule, Implication):
        if _concerns(rule, before, told) and not _implies(rule, before):
            return True
        return _implies(rule, row)
    total = _total(rule, row)
    if rule.allows(total):
        return True
    noise = exact(NOISE) * max(1, abs(total)) if set(rule.columns) & set(told.computed) else 0
    if _concerns(rule, before, told) and not rule.allows(own := _total(rule, before)):
        return bool(total <= own + noise)
    return bool(total <= rule.limit + noise) if noise else False


def _concerns(rule: Rule, row: Mapping[str, Value], told: ToldRules) -> bool:
    """Say whether all columns of a rule have values that are neither missing nor codes."""
    values = {name: row[name] for name in rule.columns}
    ordinary = all(not is_missing(value) and value not in told.codes.get(name, ()) for name, value in values.items())
    return ordinary and (isinstance(rule, Implication) or all(map(is_number, values.values())))


def _implies(rule: Implication, row: Mapping[str, Value]) -> bool:
    return not rule.if_.holds(row[rule.if_.column]) or rule.then.holds(row[rule.then.column])


def _total(rule: Inequality, row: Mapping[str, Value]) -> Any:
    values: dict[str, Any] = dict(row)
    return sum((factor * exact(values[name]) for name, factor in rule.terms), 0)
