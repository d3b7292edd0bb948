"""Whether an explanation is what it claims to be: every field recomputed, compared, asked again, or named as unchecked.

The checks come in this order, and end after the first stage that finds a problem, so that a false file costs little:

1. its parts belong together: columns, units, the features of the proof;
2. status, bracket, flip sets and reasons are those of the proof;
3. what could move, costs, grids and the words of every change are those of the space and the row, where the space is
   given; without it, only what follows from the file itself is checked, and the rest is listed;
4. the proof forces the answer: combinatorics, within a number of steps;
5. the model says again what it is claimed to have said: to the row, to every counterfactual, to both rows of every
   contradiction, and to every question of the proof.

Nothing here is shared with the searches.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import isclose, isnan
from typing import TYPE_CHECKING, Any, get_args

from flipset.change import show, show_threshold
from flipset.errors import InputError
from flipset.moves import MAX_BLOCK, find_moves, in_order
from flipset.proof import STEPS, Proof
from flipset.protocol import ask, by_size, everything, features_of
from flipset.result import Status
from flipset.rows import check_row, read_row
from flipset.space.feature import is_number
from flipset.values.costs import cost_along, cost_of_becoming
from flipset.verification import Answer, Verification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flipset.change import Counterfactual
    from flipset.explanation import Explanation
    from flipset.moves import Cells, Moves, Option, Unit
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.values.costs import Measure
    from flipset.values.path import Path

TOLERANCE = 1e-6
"""Scores that differ by less are the same: sums of floats may depend on what else is in the batch."""

ROWS_AT_ONCE = 10_000
"""Rows that the model is given in one call."""

MOST_ASKED = 5_000_000
"""Rows that a verification may ask in all."""

MOST_PROBLEMS = 100
"""Problems that are told; more add nothing."""

HINT = (
    "; an explanation made with other bounds or fixed features must be verified with the same: fixed= and bounds=, or "
    "--fix and --bounds on the command line"
)

FIELDS = (
    "decision", "score", "threshold", "status", "size", "lower", "upper", "max_changes", "objective", "flipsets",
    "reasons", "counterfactuals", "held_fixed", "contradictions", "grids", "row", "queries", "rounds", "proof", "moves",
)  # fmt: skip
"""What an explanation is made of: each is checked, or listed as not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a verifier knows without the explanation, and how far to go.

    Attributes
    ----------
    space, cost
        What may change and what changes cost, if they are known.
    knows_values
        False where the space is known but not the table it goes with: then grids and costs are not.
    threshold, whose
        Where the decision turns, if that is known, and by whom.
    tolerance, max_block, steps, stop
        How much scores may differ, how many rows a question may be, how many steps the check of the proof may take, and
        a function that is asked now and then whether to stop.
    """

    space: Space | None = None
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None = None
    knows_values: bool = True
    threshold: float | None = None
    whose: str = "the explainer has"
    tolerance: float = TOLERANCE
    max_block: int = MAX_BLOCK
    steps: int = STEPS
    stop: Callable[[], bool] | None = None


@dataclass(slots=True)
class _Findings:
    """What was found so far."""

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: dict[str, str] = field(default_factory=dict)
    decided: bool = True
    answers: list[Answer] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether to end here."""
        return bool(self.problems) or not self.decided

    def check(self, holds: bool, problem: str) -> bool:
        """Note a problem unless something holds."""
        if not holds and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        return holds

    def leave_undecided(self, name: str, why: str) -> None:
        """Note that something was not decided."""
        self.decided = False
        self.not_checked[name] = why

    def result(self) -> Verification:
        """Return it all; what was not reached is listed as not checked."""
        left = {
            name: "not reached: the checks end with the first stage that fails"
            for name in FIELDS
            if name not in self.checked and name not in self.not_checked
        }
        checked = tuple(name for name in FIELDS if name in self.checked)
        return Verification(tuple(self.problems), checked, self.not_checked | left, self.decided, tuple(self.answers))


def verifying(e: Explanation, terms: Terms) -> Flow[Cells, Verification]:
    """Check an explanation; the flow asks rows by the cells in which they differ from the row explained."""
    found = _Findings()
    _check_shape(e, found)
    if found.is_over:
        return found.result()
    _check_threshold(e, terms, found)
    _check_claims(e, found)
    moves = _check_space(e, terms, found)
    if not found.is_over:
        moves.check_block(terms.max_block)
        _check_counterfactuals(e, moves, terms, found)
    if not found.is_over:
        _check_proof(e, terms, found)
    if not found.is_over:
        yield from _ask_again(e, moves, terms, found)
    _list_unchecked(e, found)
    return found.result()


def same(a: Value, b: Value) -> bool:
    """Say whether two cells are the same: equal, NaN with NaN, and True is not 1."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (isnan(a) and isnan(b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _differences(row: Mapping[str, Value], other: Mapping[str, Value]) -> Cells:
    return tuple(
        (i, value)
        for i, (before, value) in enumerate(zip(row.values(), other.values(), strict=True))
        if not same(before, value)
    )


# --- the parts belong together ----------------------------------------------------------------------------------------


def _check_shape(e: Explanation, found: _Findings) -> None:
    columns, units = list(e.row), e.moves.units
    for i, one in enumerate(e.counterfactuals):
        found.check(list(one.row) == columns, f"counterfactuals[{i}].row: its columns are not those of the row")
    for i, pair in enumerate(e.contradictions):
        for row in pair:
            found.check(list(row) == columns, f"contradictions[{i}]: its columns are not those of the row")
    for unit in units:
        cells = [column for option in unit.options for column, _ in option.end]
        inside = all(0 <= column < len(columns) for column in (*unit.columns, *cells))
        found.check(inside and bool(unit.options), f"moves: {unit.name!r} has columns that the row does not have")
    d = max(1, len(units))
    found.check(e.proof.d == d, f"proof.d: it is about {e.proof.d:,} features, and {len(units):,} can move")
    if not units:
        found.check(e.proof == Proof(1, (1,), ()), "proof: nothing can move, so it must say that nothing flips")
    elif e.proof.weights is None:
        found.check(all(unit.weight == 1 for unit in units), "proof.weights: it has none, and the units have")
    else:
        own = [float(unit.weight) for unit in units]
        found.check([*map(float, e.proof.weights)] == own, "proof.weights: they are not those of the units")


# --- what is claimed is what the proof says ---------------------------------------------------------------------------


def _check_claims(e: Explanation, found: _Findings) -> None:
    """Compare status, bracket, flip sets and reasons with the proof."""
    proof, units = e.proof, e.moves.units
    known = found.check(e.status in get_args(Status), f"status: there is no status {e.status!r}")
    side = "at or above" if e.score >= e.threshold else "below"
    sides = f"decision: it is {e.decision!r}, and the score {e.score!r} is {side} the threshold {e.threshold!r}"
    found.check(same(e.decision, e.score >= e.threshold), sides)
    whole = everything(proof.d)
    ones = proof.ones
    zeros = proof.zeros if units else ()
    _check_sets("flipsets", e.flipsets, ones, e, found)
    _check_sets("reasons", e.reasons, [whole & ~zero for zero in zeros], e, found)
    upper = proof.upper()
    found.check(same(e.upper, upper), f"upper: it is {e.upper!r}, and the proof says {upper!r}")
    if not known:
        return
    if e.status == "optimal":
        found.check(bool(ones), "status: it is optimal without a flip set")
        for name in ("size", "lower"):
            value = getattr(e, name)
            found.check(same(value, upper), f"{name}: it is {value!r}, and the proof says {upper!r}")
    else:
        found.check(e.size is None, f"size: it is {e.size!r}, and only an optimal explanation has one")
    if e.status == "none":
        found.check(not ones, "status: it is none, and the proof has a flip set")
    if e.status == "unproved":
        found.check(e.lower is None, f"lower: it is {e.lower!r}, and nothing is proved")
    else:
        found.check(not e.contradictions, f"contradictions: there are some, and the status is {e.status!r}")
    if e.status == "stopped":
        weights = {Proof(proof.d, (), (one,), proof.weights).upper() for one in ones}
        found.check(len(weights) <= 1, "flipsets: they are not of one size")
    _check_limit(e, found)
    found.checked += ["status", "size", "lower", "upper", "flipsets", "reasons"]


def _check_sets(
    name: str, claimed: Sequence[Sequence[str]], sets: Sequence[Flips], e: Explanation, found: _Findings
) -> None:
    expected = [e.moves.names(flips) for flips in sorted(sets, key=by_size)]
    found.check(len(set(sets)) == len(sets), f"{name}: the proof has one of them twice")
    found.check([*map(tuple, claimed)] == expected, f"{name}: they are not those of the proof, in their order")


def _check_limit(e: Explanation, found: _Findings) -> None:
    """Compare what was found with the most changes that were considered."""
    most = e.max_changes
    if e.objective is not None:
        found.check(e.objective in ("size", "cost"), f"objective: there is no objective {e.objective!r}")
    if most is not None and e.status == "none" and e.lower is not None:
        ok = same(e.lower, most + 1)
        found.check(ok, f"lower: it is {e.lower!r}, and sets of up to {most} changes were considered")
        found.checked.append("max_changes")
    if most is not None and e.status == "optimal":
        fewest = min(map(len, e.flipsets), default=0)
        found.check(fewest <= most, f"max_changes: it is {most}, and {fewest} changes are needed")
    if e.objective == "cost" and e.status == "optimal":
        found.check(most is not None, "max_changes: the cheapest of all is that of some number of changes at most")


def _check_proof(e: Explanation, terms: Terms, found: _Findings) -> None:
    """Decide by combinatorics whether the proof forces what is claimed."""
    how: Any = {"steps": terms.steps, "stop": terms.stop}
    undecided = f"not decided in {terms.steps:,} steps"
    proof = e.proof
    if e.status == "unproved":
        found.not_checked["proof"] = "an unproved explanation has none"
        return
    if e.status == "optimal" or (e.status == "none" and e.lower is None):
        forced = proof.check(**how)
        if forced is None:
            found.leave_undecided("proof", undecided)
        else:
            found.check(forced, "proof: its zeros and ones leave another answer open")
        return
    if len(proof.ones) * len(proof.zeros) > terms.steps:
        found.leave_undecided("proof", undecided)
        return
    found.check(proof.is_consistent(), "proof: no monotone model agrees with its zeros and ones")
    if e.lower is None:
        return
    bound, is_exact = proof.bound(**how)
    if bound is None or bound >= e.lower:
        return
    if is_exact:
        found.check(False, f"lower: it is {e.lower!r}, and the proof shows no more than {bound!r}")
    else:
        found.leave_undecided("proof", undecided)


# --- what could move --------------------------------------------------------------------------------------------------


def _check_threshold(e: Explanation, terms: Terms, found: _Findings) -> None:
    if terms.threshold is None:
        found.not_checked["threshold"] = "taken from the explanation; the model does not say where it decides"
        return
    told = show_threshold(e.threshold), show_threshold(terms.threshold)
    differs = f"threshold: the explanation has {told[0]}, and {terms.whose} {told[1]}; give the one it was made with"
    found.check(same(float(e.threshold), float(terms.threshold)), differs)
    found.checked.append("threshold")


def _check_space(e: Explanation, terms: Terms, found: _Findings) -> Moves:
    """Compare what could move with the space; return what the questions are made of."""
    space = terms.space
    if space is None:
        found.not_checked["moves"] = found.not_checked["held_fixed"] = "taken from the explanation; no space was given"
        moving = {unit.name for unit in e.moves.units}
        both = [name for name in e.held_fixed if name in moving]
        found.check(not both, f"held_fixed: {_names(both)} could move")
        return e.moves
    if not found.check(list(e.row) == list(space.names), "row: its columns are not those of the space, in order"):
        return e.moves
    try:
        row = check_row(space, read_row(e.row, space.names))
        moves = find_moves(space, row, raise_score=not e.decision)
    except InputError as error:
        found.check(False, f"row: {error}")
        return e.moves
    for name, value in zip(space.names, row, strict=True):
        found.check(same(value, e.row[name]), f"row: {name!r} is {e.row[name]!r}, and reads as {value!r}")
    claimed, own = [unit.name for unit in e.moves.units], [unit.name for unit in moves.units]
    if found.check(claimed == own, f"moves: {_names(claimed)} could move, and in this space {_names(own)} can{HINT}"):
        for one, other in zip(e.moves.units, moves.units, strict=True):
            _compare_units(one, other, space, found)
    held = f"held_fixed: the explanation has {_names(e.held_fixed)}, and the space {_names(moves.held_fixed)}{HINT}"
    found.check(tuple(e.held_fixed) == moves.held_fixed, held)
    found.checked += ["moves", "held_fixed"]
    return moves


def _compare_units(claimed: Unit, own: Unit, space: Space, found: _Findings) -> None:
    name = own.name
    found.check(claimed.columns == own.columns, f"moves: the columns of {name!r} are not those of the space")
    found.check(same(claimed.ordered, own.ordered), f"moves: {name!r} has an order in only one of the two")
    weights = f"moves: {name!r} weighs {claimed.weight!r}, and in this space {own.weight!r}"
    found.check(same(claimed.weight, own.weight), weights)
    ends = [[in_order(option.end) for option in unit.options] for unit in (claimed, own)]
    flat = [[cell for end in side for cell in end] for side in ends]
    alike = [*map(len, ends[0])] == [*map(len, ends[1])] and all(
        a[0] == b[0] and same(a[1], b[1]) for a, b in zip(*flat, strict=True)
    )
    if not alike:
        told = [" or ".join(_cells(end, space.names) for end in side[:4]) for side in ends]
        found.check(False, f"moves: {name!r} could become {told[0]}, and in this space {told[1]}{HINT}")


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:6]))
    return f"{shown} and {len(names) - 6:,} more" if len(names) > 6 else shown or "nothing"


def _cells(cells: Cells, names: Sequence[str]) -> str:
    return ", ".join(f"{names[column]}={show(value)}" for column, value in cells[:6])


# --- counterfactuals --------------------------------------------------------------------------------------------------


def _check_counterfactuals(e: Explanation, moves: Moves, terms: Terms, found: _Findings) -> None:
    """Check that each moves what may move, as it says, at the cost it says, and that none is left out."""
    paths = {column: path for unit in moves.units for option in unit.options for column, path in option.paths}
    owner = {column: unit for unit in moves.units for column in unit.columns}
    changed: set[int] = set()
    for i, one in enumerate(e.counterfactuals):
        where = f"counterfactuals[{i}]"
        cells = _differences(e.row, one.row)
        changed |= {column for column, _ in cells}
        _check_moved(where, one, cells, moves, owner, e, terms, found)
        _check_changes(where, one, cells, e, terms.space, owner, found)
        if terms.knows_values and terms.space is not None and not found.problems:
            _check_cost(where, one, cells, paths, terms.space, e, terms, found)
        lower = f"{where}.cost_at_least: it is {one.cost_at_least!r}, and the cost is {one.cost!r}"
        found.check(0 <= one.cost_at_least <= one.cost < float("inf"), lower)
    _check_order(e, found)
    _check_complete(e, found)
    found.checked.append("counterfactuals")
    if terms.space is not None and terms.knows_values:
        grids = {e_name: paths[column].grid for column, e_name in enumerate(e.row) if column in changed & paths.keys()}
        found.check(dict(e.grids) == grids, f"grids: they are {grids!r}")
        found.checked.append("grids")
        return
    table = "the table is not given" if terms.space is not None else "the space is not given"
    found.check(set(e.grids) <= {*e.row}, "grids: they are about columns that are not there")
    found.not_checked["grids"] = table
    if e.counterfactuals:
        found.not_checked["counterfactuals[].cost"] = table
    if terms.space is None and e.counterfactuals:
        found.not_checked["counterfactuals[].changes[].how"] = f"only compared where both values are numbers: {table}"
        found.not_checked["counterfactuals[].row"] = f"whether its values are allowed: {table}"


def _check_moved(
    where: str,
    one: Counterfactual,
    cells: Cells,
    moves: Moves,
    owner: Mapping[int, Unit],
    e: Explanation,
    terms: Terms,
    found: _Findings,
) -> None:
    """Check that what moves may move, and that the flip set names it."""
    names = list(e.row)
    for column, value in cells:
        held = f"{where}.row: {names[column]!r} is {value!r} there, and it cannot move from {e.row[names[column]]!r}"
        found.check(column in owner, held)
    found.check(bool(cells), f"{where}.row: it is the row that is explained")
    own: dict[str, list[tuple[int, Value]]] = {}
    for column, value in cells:
        if column in owner:
            own.setdefault(owner[column].name, []).append((column, value))
    expected = tuple(unit.name for unit in moves.units if unit.name in own)
    found.check(one.flipset == expected, f"{where}.flipset: it is {_names(one.flipset)}, and {_names(expected)} moves")
    for unit in moves.units:
        if unit.name in own:
            reachable = any(_leads_to(option, own[unit.name], unit, e, terms) for option in unit.options)
            told = _cells(tuple(own[unit.name]), names)
            found.check(reachable, f"{where}.row: {unit.name!r} has {told}, which it cannot become")


def _leads_to(option: Option, cells: Sequence[tuple[int, Value]], unit: Unit, e: Explanation, terms: Terms) -> bool:
    """Say whether these cells of a unit are such as an option leads to.

    A file says only where an option ends: then its columns are compared, and, where there is an order, the range.
    """
    ends = dict(option.end)
    if any(column not in ends for column, _ in cells):
        return False
    if terms.space is None:
        names = list(e.row)
        return not unit.ordered or all(_is_between(e.row[names[i]], value, ends[i]) for i, value in cells)
    paths = dict(option.paths)
    settled = {column: value for column, value in cells if column not in paths}
    return len(settled) == len(option.cells) and all(
        same(value, ends[column]) if column in settled else _is_on(paths[column], value, ends[column], terms)
        for column, value in cells
    )


def _is_on(path: Path, value: Value, end: Value, terms: Terms) -> bool:
    if terms.knows_values or path.feature.levels:
        return position(path, value) is not None
    # The values seen in the table are not known, but how far they may go is.
    start = path.before if path.feature.is_ordinary(path.before) else None
    if start is None:
        return is_number(value) and bool(path.feature.lower <= value <= path.feature.upper)
    return is_number(value) and _is_between(start, value, end)


def _is_between(before: Value, value: Value, end: Value) -> bool:
    """Say whether a value is beyond the one before and no further than the end; only numbers can be compared."""
    if not all(map(is_number, (before, value, end))):
        return True
    return bool(before < value <= end or end <= value < before)


def position(path: Path, value: Value) -> int | None:
    """Return where a value stands on a path, from 0; None if it is not on it."""
    values = path.values
    if path.feature.levels:
        return next((j for j, one in enumerate(values) if same(one, value)), None)
    if not is_number(value):
        return None
    sign = 1 if path.rising else -1
    # The values rise, or fall, along the path, of which there may be 2 to the 62.
    j = bisect_left(values, sign * value, key=lambda one: sign * one)
    return j if j < len(values) and same(values[j], value) else None


def _check_changes(
    where: str,
    one: Counterfactual,
    cells: Cells,
    e: Explanation,
    space: Space | None,
    owner: Mapping[int, Unit],
    found: _Findings,
) -> None:
    """Compare what is said of every change, word by word, with the two rows."""
    names = list(e.row)
    listed = [change.feature for change in one.changes]
    changing = [names[column] for column, _ in cells]
    told = f"{where}.changes: they are about {_names(listed)}, and {_names(changing)} differ"
    in_turn = listed == changing if space is not None else sorted(listed) == sorted(changing)
    if not found.check(in_turn, told):
        return
    after = {names[column]: (column, value) for column, value in cells}
    for j, change in enumerate(one.changes):
        column, value = after[change.feature]
        before = e.row[change.feature]
        for name, said, is_so in (("before", change.before, before), ("after", change.after, value)):
            found.check(same(said, is_so), f"{where}.changes[{j}].{name}: it is {said!r}, and the row has {is_so!r}")
        how = _how(space, column, value, e) if space is not None else _how_by_numbers(owner.get(column), before, value)
        if how is not None:
            found.check(change.how == how, f"{where}.changes[{j}].how: it is {change.how!r}, and must be {how!r}")


def _how(space: Space, column: int, value: Value, e: Explanation) -> str:
    feature = space.features[column]
    if not feature.ordered or not feature.is_ordinary(value):
        return "becomes"
    return "at least" if (feature.direction == 1) != e.decision else "at most"


def _how_by_numbers(unit: Unit | None, before: Value, value: Value) -> str | None:
    """Return how a column changes where that can be told without the space: numbers of a unit with an order."""
    if unit is None or not unit.ordered or not is_number(before) or not is_number(value):
        return None
    return "at least" if value > before else "at most"


def _check_cost(
    where: str,
    one: Counterfactual,
    cells: Cells,
    paths: Mapping[int, Path],
    space: Space,
    e: Explanation,
    terms: Terms,
    found: _Findings,
) -> None:
    """Compare what the changes cost, summed exactly."""
    amounts: list[Any] = []
    for column, value in cells:
        feature = space.features[column]
        if feature.ordered and feature.is_ordinary(value):
            at = position(paths[column], value)
            assert at is not None, "what moves was checked before"
            amounts.append(cost_along(paths[column], terms.cost, space.reference)(at))
        else:
            amounts.append(cost_of_becoming(feature, e.row[feature.name], value, terms.cost))
    cost = float(sum(map(Fraction, amounts), Fraction(0)))
    # A measure of one's own may give floats, whose sum depends on their order.
    exact = all(isinstance(amount, (int, Fraction)) for amount in amounts)
    right = one.cost == cost if exact else isclose(one.cost, cost, rel_tol=1e-12)
    found.check(right, f"{where}.cost: it is {one.cost!r}, and the changes cost {cost!r}")


def _check_order(e: Explanation, found: _Findings) -> None:
    places = {names: i for i, names in enumerate(e.flipsets)}
    keys = [(one.cost, places.get(one.flipset, -1)) for one in e.counterfactuals]
    for a, b in pairwise(keys):
        in_turn = a[0] < b[0] or (a[0] == b[0] and (a[1] <= b[1] or -1 in (a[1], b[1])))
        if not found.check(in_turn, "counterfactuals: they are not in order, cheapest first"):
            return


def _check_complete(e: Explanation, found: _Findings) -> None:
    """Check that there is a counterfactual for every flip set, or the cheapest of all."""
    flipsets = [one.flipset for one in e.counterfactuals]
    if e.status == "none":
        found.check(not flipsets, "counterfactuals: there are some, and the status is none")
    elif e.status == "stopped":
        full = len(flipsets) == len(e.flipsets)
        subsets = [{*names} for names in flipsets]
        full = full and all(any(subset <= {*names} for subset in subsets) for names in e.flipsets)
        found.check(full, "counterfactuals: there must be one for every flip set")
    elif e.status == "optimal" and e.objective == "cost":
        found.check(len(flipsets) == 1, "counterfactuals: there must be one, the cheapest of all")
        few = all(len(names) <= (e.max_changes or 0) for names in flipsets)
        found.check(few, f"counterfactuals[0].flipset: it has more than {e.max_changes} changes")
        found.checked.append("max_changes")
    elif e.status == "optimal" and e.objective == "size":
        found.check(sorted(flipsets) == sorted(e.flipsets), "counterfactuals: there must be one for every flip set")
        found.checked.append("objective")
    elif e.status == "optimal":
        found.not_checked["counterfactuals"] = "that none is left out: the file does not say its objective"


# --- the model --------------------------------------------------------------------------------------------------------


def _ask_again(e: Explanation, moves: Moves, terms: Terms, found: _Findings) -> Flow[Cells, None]:
    """Ask the row, the counterfactuals, the contradictions, and the questions of the proof."""
    others = [_differences(e.row, one.row) for one in e.counterfactuals]
    pairs = [(_differences(e.row, turned), _differences(e.row, stays)) for turned, stays in e.contradictions]
    scores = yield from _ask([(), *others, *(cells for pair in pairs for cells in pair)])
    _check_score("score", e.score, scores[()], terms, found)
    decision = scores[()] >= e.threshold
    found.check(decision == e.decision, f"decision: it is {e.decision!r}, and the model's is {decision!r}")
    found.checked += ["decision", "score", "row"]
    for i, (one, cells) in enumerate(zip(e.counterfactuals, others, strict=True)):
        _check_score(f"counterfactuals[{i}].score", one.score, scores[cells], terms, found)
        turned = (scores[cells] >= e.threshold) != e.decision
        found.check(turned, f"counterfactuals[{i}].row: it does not flip the decision")
        said = (one.score >= e.threshold) != e.decision
        found.check(said, f"counterfactuals[{i}].score: it is {one.score!r}, which does not flip the decision")
    for i, (first, second) in enumerate(pairs):
        flips = [(scores[cells] >= e.threshold) != e.decision for cells in (first, second)]
        found.check(flips == [True, False], f"contradictions[{i}]: the model's answers do not contradict each other")
        if terms.space is not None:
            _check_further(f"contradictions[{i}]", e.contradictions[i], terms.space, e, found)
    found.checked.append("contradictions")
    if e.contradictions and terms.space is None:
        found.not_checked["contradictions"] = "that the second row is as far in every direction: the space is not given"
    if e.status == "unproved":
        found.check(False, "status: it is unproved, for the model contradicted the directions")
        return
    if not found.is_over and moves.units:
        yield from _ask_proof(e, moves, terms, found)
    if found.decided:
        found.checked.append("proof")


def _ask(rows: Sequence[Cells]) -> Flow[Cells, dict[Cells, float]]:
    """Ask rows, no row twice, and so many at a time as a model may be given."""
    different = list(dict.fromkeys(rows))
    scores: dict[Cells, float] = {}
    for start in range(0, len(different), ROWS_AT_ONCE):
        part = different[start : start + ROWS_AT_ONCE]
        scores.update(zip(part, (yield from ask(part)), strict=True))
    return scores


def _check_score(name: str, said: float, score: float, terms: Terms, found: _Findings) -> None:
    close = isclose(said, score, rel_tol=terms.tolerance, abs_tol=terms.tolerance)
    found.check(close, f"{name}: it is {said!r}, and the model says {score!r}")


def _check_further(
    where: str, pair: tuple[Mapping[str, Value], Mapping[str, Value]], space: Space, e: Explanation, found: _Findings
) -> None:
    """Check that the second row is at least as far as the first in every direction, and otherwise the same."""
    for feature in space.features:
        first, second = pair[0][feature.name], pair[1][feature.name]
        if same(first, second):
            continue
        further = feature.ordered and feature.is_ordinary(first) and feature.is_ordinary(second)
        if further:
            places = [_place(feature.levels, value) for value in (first, second)]
            rising = (feature.direction == 1) != e.decision
            further = None not in places and (places[0] < places[1] if rising else places[0] > places[1])
        if not found.check(further, f"{where}: {feature.name!r} is not as far in the second row as in the first"):
            return


def _place(levels: Sequence[Value], value: Value) -> Any:
    if levels:
        return levels.index(value) if value in levels else None
    return value if is_number(value) else None


def _ask_proof(e: Explanation, moves: Moves, terms: Terms, found: _Findings) -> Flow[Cells, None]:
    """Ask every zero and one, some questions at a time, and compare."""
    facts = [*((zero, False) for zero in e.proof.zeros), *((one, True) for one in e.proof.ones)]
    if sum(_block(moves, flips) for flips, _ in facts) > MOST_ASKED:
        found.leave_undecided("proof", f"its questions are more than {MOST_ASKED:,} rows")
        return
    for part in _parts(facts, moves):
        if terms.stop is not None and terms.stop():
            found.leave_undecided("proof", "stopped before all of its questions were asked")
            return
        blocks = [moves.rows(flips) for flips, _ in part]
        scores = yield from _ask([cells for block in blocks for cells in block])
        for (flips, expected), block in zip(part, blocks, strict=True):
            said = [scores[cells] for cells in block]
            turned = next((score for score in said if (score >= e.threshold) != e.decision), None)
            score = said[0] if turned is None else turned
            moved = moves.names(flips)
            found.answers.append(Answer(moved, expected, turned is not None, score))
            word = "flips" if expected else "does not flip"
            told = f"proof: it says that moving {_names(moved)} {word} the decision, and the model's score is {score!r}"
            found.check((turned is not None) == expected, told)


def _block(moves: Moves, flips: Flips) -> int:
    """Return how many rows a question is; `check_block` has bounded it."""
    size = 1
    if moves.ends is None:
        for i in features_of(flips):
            size *= moves.units[i].block
    return size


def _parts(facts: Sequence[tuple[Flips, bool]], moves: Moves) -> Iterator[list[tuple[Flips, bool]]]:
    """Cut questions into parts of some rows each."""
    part: list[tuple[Flips, bool]] = []
    rows = 0
    for fact in facts:
        block = _block(moves, fact[0])
        if part and rows + block > ROWS_AT_ONCE:
            yield part
            part, rows = [], 0
        part.append(fact)
        rows += block
    if part:
        yield part


def _list_unchecked(e: Explanation, found: _Findings) -> None:
    """List what no check can decide without searching again."""
    if e.counterfactuals:
        found.not_checked["counterfactuals[].cost_at_least"] = "that nothing cheaper exists is not part of the proof"
    found.not_checked["queries"] = found.not_checked["rounds"] = (
        "the effort of the search; the answer does not rest on it"
    )
    for name in ("max_changes", "objective"):
        if name not in found.checked:
            found.not_checked[name] = "what was asked for; no claim rests on it"
    if e.objective == "cost":
        found.not_checked["objective"] = "that nothing cheaper exists is not part of the proof"
