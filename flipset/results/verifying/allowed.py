"""Comparing the moves and the threshold of an explanation with the space and the threshold of the verifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.results.verifying.findings import Findings, Terms, listed, named, same
from flipset.results.verifying.rules import check_rules
from flipset.space.moves import find_moves
from flipset.space.rows import check_row, read_row
from flipset.space.unit_options import in_order
from flipset.values.change import show_threshold

if TYPE_CHECKING:
    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.moves import Moves, Unit

HINT = (
    "; an explanation made with other limits must be verified with the same: fixed=, bounds=, within=, max_rise= and "
    "max_fall=, or --fix, --bounds, --within, --max-rise and --max-fall on the command line"
)


def check_threshold(e: ExplanationData, terms: Terms, findings: Findings) -> None:
    """Compare the threshold with the one that the verifier knows."""
    if terms.thresholds:
        known = ", ".join(map(show_threshold, terms.thresholds))
        differs = f"threshold: the explanation has {show_threshold(e.threshold)}, and the thresholds are {known}"
        findings.check(any(same(float(e.threshold), float(one)) for one in terms.thresholds), differs)
        findings.checked.append("threshold")
        return
    if terms.threshold is None:
        findings.not_checked["threshold"] = "taken from the explanation; the model does not have one"
        return
    claimed, own = show_threshold(e.threshold), show_threshold(terms.threshold)
    differs = f"threshold: the explanation has {claimed}, and {terms.whose} {own}; give the one it was made with"
    findings.check(same(float(e.threshold), float(terms.threshold)), differs)
    findings.checked.append("threshold")


def check_space(e: ExplanationData, terms: Terms, findings: Findings) -> Moves:
    """Compare the moves with the space; return the moves that the queries are made of."""
    space = terms.space
    if space is None:
        findings.not_checked["moves"] = findings.not_checked["held_fixed"] = (
            "taken from the explanation; no space was given"
        )
        for name in ("held_because", "own_bounds"):
            if getattr(e, name):
                findings.not_checked[name] = "taken from the explanation; no space was given"
            else:
                findings.checked.append(name)
        moving = {unit.name for unit in e.moves.units}
        both = [name for name in e.held_fixed if name in moving]
        findings.check(not both, f"held_fixed: {named(both)} could move")
        return check_rules(e, e.moves, terms, findings)
    if not findings.check(list(e.row) == list(space.names), "row: its columns are not those of the space, in order"):
        return e.moves
    try:
        row = check_row(space, read_row({**e.own_bounds, **e.row}, space.names, space.own_columns))
        # From the space alone. What the file says about moves is compared with it, never used.
        moves = find_moves(space, row, raise_score=not e.decision)
    except InputError as error:
        findings.check(False, f"row: {error}")
        return e.moves
    for name, value in zip(space.names, row, strict=True):
        # A cell that is read differently, such as True as 1, would be another row for the model.
        findings.check(same(value, e.row[name]), f"row: {name!r} is {e.row[name]!r}, and reads as {value!r}")
    claimed, own = [unit.name for unit in e.moves.units], [unit.name for unit in moves.units]
    if findings.check(claimed == own, f"moves: {named(claimed)} could move, and in this space {named(own)} can{HINT}"):
        for one, other in zip(e.moves.units, moves.units, strict=True):
            _compare_units(one, other, space, findings)
    held = f"held_fixed: the explanation has {named(e.held_fixed)}, and the space {named(moves.held_fixed)}{HINT}"
    findings.check(tuple(e.held_fixed) == moves.held_fixed, held)
    because = dict(moves.held_because)
    why = f"held_because: the explanation has {dict(e.held_because)!r}, and the space and the row {because!r}"
    findings.check(dict(e.held_because) == because, why)
    strange = [name for name in e.own_bounds if name not in space.own_columns]
    findings.check(not strange, f"own_bounds: this space takes no bounds from {named(strange)}{HINT}")
    # Like the row, the bounds of its own are what the explanation is about. What follows from them was compared.
    findings.checked += ["moves", "held_fixed", "held_because", "own_bounds"]
    return check_rules(e, moves, terms, findings)


def check_words(e: ExplanationData, terms: Terms, findings: Findings) -> None:
    """Compare what people call things with the space. A word that was mended since refutes nothing."""
    if terms.space is None:
        findings.not_checked["words"] = "taken from the explanation; no space was given"
    elif e.words != terms.space.words:
        findings.not_checked["words"] = "they are not those of the space"
    else:
        findings.checked.append("words")


def _compare_units(claimed: Unit, own: Unit, space: Space, findings: Findings) -> None:
    name = own.name
    findings.check(claimed.columns == own.columns, f"moves: the columns of {name!r} are not those of the space")
    findings.check(same(claimed.ordered, own.ordered), f"moves: {name!r} has an order in only one of the two")
    weights = f"moves: {name!r} weighs {claimed.weight!r}, and in this space {own.weight!r}"
    findings.check(same(claimed.weight, own.weight), weights)
    ends = [[in_order(option.end) for option in unit.options] for unit in (claimed, own)]
    flat = [[cell for end in side for cell in end] for side in ends]
    alike = [*map(len, ends[0])] == [*map(len, ends[1])] and all(
        a[0] == b[0] and same(a[1], b[1]) for a, b in zip(*flat, strict=True)
    )
    if not alike:
        texts = [" or ".join(listed(end, space.names) for end in side[:4]) for side in ends]
        findings.check(False, f"moves: {name!r} could become {texts[0]}, and in this space {texts[1]}{HINT}")
