"""Check a flipset explanation without flipset: one file, the standard library of Python 3.11 or later, no model.

    python flipset_check.py why.json                        check everything that follows from the file
    python flipset_check.py why.json --rows rows.csv        the same, and write the rows that the model has to score
    python flipset_check.py why.json --scores scores.csv    the same, and compare the model's scores with the file

A file that ends in .jsonl has one explanation on each line. Exit code 0: everything that was checked holds;
1: something is wrong; 2: a file cannot be read or is malformed; 3: not decided within --max-steps.

The argument. A model scores a row, and the decision is "score >= threshold". Units (features, or groups of columns)
may move. A set of units *flips* if moving all of them to their best values changes the decision. If the model is
monotone in the declared directions, every set that contains a set that flips also flips. So:

- A set that does not flip (a *zero*) shows that no set inside it flips. The units outside a zero are a *reason*: every
  set that flips contains at least one of them.
- A set that flips is a *one*.

A proof consists of zeros, each written as its reason, and ones of one weight. (Unless units have weights, the weight
of a set is its size.) It proves that the ones are *all* the lightest sets that flip if no other set of at most that
weight contains a unit of every reason. `find_gap` searches for such a set. The model is needed only to confirm that
the zeros do not flip and that the ones do: `queries` lists the rows to score.

If the status is "incomplete", there are more lightest sets than are listed. The proof then shows their weight alone: no
set of less weight contains a unit of every reason.

If the file has rules between columns, a row that breaks them cannot exist. Moving a set of units then stands for the
highest rows that keep the rules, at or below the row with all units at their best: one of them must flip. `highest`
finds them. This is monotone in the set as well, so that the proof is as without rules.

Sections 1 to 4 are the check: the proof, the counterfactuals, the rules, the scores. Section 5 reads files, section 6
the texts of rules; 7 is the command. The files may come from anybody. They are data: nothing is evaluated, and the
limits below bound what they can cost.
"""

from __future__ import annotations

import argparse
import csv
import errno
import hashlib
import json
import operator
import re
import struct
import sys
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product
from math import comb, inf, isclose, isfinite, isnan, lcm, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MOST_BYTES = 256_000_000  # of a file, or of a line of a .jsonl file
MOST_VALUES = 32_000_000  # values in it, counted by commas and brackets
MOST_TEXT = 100_000  # characters of a name or a cell
MOST_DIGITS = 302  # characters of a whole number; one with many more is not a float
MOST_UNITS = 100_000  # units that can move
MOST_BITS = 800_000_000  # units times sets of a proof
MOST_RULES = 10_000  # constraints, and as many computed columns
MOST_RULE = 10_000  # characters of a rule
MOST_FACTOR_BITS = 4_000  # of the factor of a column in a rule, which is an exact number
MOST_STOPS = 1_000_000_000  # values that a column in a rule may move to
STEPS = 100_000_000  # steps of a check: seconds to a minute
STEPS_PER_CELL = 4  # steps that a cell of a row to score counts as
STEPS_PER_TERM = 8  # steps that looking at a column in a rule counts as
STEPS_PER_BOX = 100  # steps that a box of rows counts as, in the search for those that keep the rules
MOST_SWEPT = 2_000_000  # sets of one size that are gone through at once
MOST_SHOWN = 20  # problems that are listed for one explanation
TOLERANCE = 1e-6  # scores that differ by less count as equal
RESULTS = {  # exit codes; "consistent" is what can be said without scores
    "not confirmed": 1, "malformed": 2, "not decided": 3, "without explanation": 0, "consistent": 0, "confirmed": 0,
}  # fmt: skip

Json: TypeAlias = Any
"""A value of a JSON file; an explanation `e`, after reading, is a dictionary of the shape shown in section 5."""
Part: TypeAlias = tuple[str, Any]
"""A part of a formula: "number" and a number, "column" or "before" and a name, "operator" and its sign."""
Formula: TypeAlias = list[Part]
Sum: TypeAlias = dict[Part, Fraction]
"""The factors of the columns of a sum."""
Box: TypeAlias = tuple[dict[str, int], dict[str, int]]
"""The lowest and the highest place of each column on a scale."""


class BadInput(Exception):
    """A file cannot be read, or is malformed."""


class Undecided(Exception):
    """The steps ran out."""


@dataclass
class Findings:
    """The problems found so far, and the steps that are left."""

    steps: int = STEPS
    problems: list[str] = field(default_factory=list)

    def expect(self, holds: bool, problem: str) -> bool:
        """Note a problem unless the check holds; return whether it does."""
        if not holds and len(self.problems) < MOST_SHOWN:
            self.problems.append(problem)
        return holds

    def spend(self, steps: int) -> None:
        """Take steps; where none are left, the check ends undecided."""
        self.steps -= steps
        if self.steps < 0:
            raise Undecided


# --- 1. The proof: combinatorics, without rows and scores -------------------------------------------------------------


def find_gap(
    reasons: list[list[int]], ones: list[list[int]], weights: list[int], fits: Callable[[int], bool], found: Findings
) -> list[int] | None:
    """Return a set that contains a unit of every reason, is not a one, and has a weight that fits; None if none has.

    A set that contains a one and more must not fit. The search takes a reason that the chosen units do not meet, and
    tries its units one after another. A unit that was tried is banned from then on: all sets with it were searched.
    """
    d, excluded = len(weights), {bits(one, len(weights)) for one in ones}
    # Each reason with the weight of its lightest unit; small reasons first.
    weighed = [(bits(reason, d), min((weights[i] for i in reason), default=0)) for reason in reasons]
    weighed.sort(key=lambda pair: pair[0].bit_count())
    chosen = banned = weight = 0
    branches: list[tuple[int, int, int, int]] = []  # the units still to try; and chosen, banned and weight before them
    while True:
        found.spend((1 + 2 * len(weighed)) * (1 + d // 4096))
        unmet = [(reason & ~banned, least) for reason, least in weighed if not reason & chosen]
        used = needed = 0  # reasons that share no unit need one unit each
        for reason, least in unmet:
            if not reason & used:
                used, needed = used | reason, needed + least
        if fits(weight + needed):
            if unmet:
                branches.append((min((reason for reason, _ in unmet), key=int.bit_count), chosen, banned, weight))
            elif chosen not in excluded:
                return [i for i in range(d) if chosen >> i & 1]
        while branches and not branches[-1][0]:
            branches.pop()
        if not branches:
            return None
        untried, chosen, banned, weight = branches.pop()
        unit = untried & -untried  # the lowest bit
        branches.append((untried ^ unit, chosen, banned | unit, weight))
        chosen, weight = chosen | unit, weight + weights[unit.bit_length() - 1]


def is_swept(reasons: list[list[int]], d: int, heaviest: int, k: int) -> bool:
    """Say whether to go through all sets of `k` units: faster if there are many reasons, and not too many sets."""
    return heaviest == 1 and len(reasons) > 200 and 0 < k <= d <= 1_000 and comb(d, k) <= MOST_SWEPT


def sweep(reasons: list[list[int]], d: int, k: int, found: Findings) -> list[int] | None:
    """Return a set of `k` units that lies in no zero, that is, contains a unit of every reason; None if there is none.

    Every smaller set lies inside a set of `k` units, so that the zeros then cover it, too. All sets of `k` units have a
    bit in one number. `holds[j][i]` has the bits of the sets of `j` units that contain unit i: first come the sets
    without the last unit, then those with it. The zero of a reason covers the sets that contain no unit of the reason.
    """
    holds: list[list[int]] = [[] for _ in range(k + 1)]
    for n in range(d):
        found.spend(1 + k * n * comb(n + 1, min(k, n + 1)) // 4096)
        for j in range(k, 0, -1):
            without = comb(n, j)
            both = [a | b << without for a, b in zip(holds[j], holds[j - 1], strict=True)]
            holds[j] = [*both, ((1 << comb(n, j - 1)) - 1) << without]
        holds[0].append(0)
    uncovered = (1 << comb(d, k)) - 1
    single = bytearray(comb(d, k) // 8 + 1)  # the sets that are zeros themselves
    for reason in reasons:
        if len(reason) == d - k:
            found.spend(1 + d // 16)
            zero = sorted(set(range(d)).difference(reason))
            place = sum(comb(unit, j) for j, unit in enumerate(zero, 1))
            single[place >> 3] |= 1 << (place & 7)
            continue
        found.spend(1 + len(reason) * (1 + comb(d, k) // 4096))
        meets = 0
        for i in reason:
            meets |= holds[k][i]
        uncovered &= meets
    uncovered &= ~int.from_bytes(single, "little")
    bit = uncovered & -uncovered
    return [i for i in range(d) if holds[k][i] & bit] if bit else None


def bits(units: Iterable[int], d: int) -> int:
    """Return a set of units as a whole number: bit i is 1 if unit i is in the set."""
    digits = bytearray(b"0") * d
    for i in units:
        digits[d - 1 - i] = ord("1")
    return int(digits, 2)


def check_claims(e: Json, found: Findings) -> None:
    """Compare decision, status, size, bounds, flip sets and reasons with the score and with the proof."""
    status, size, lower, most, expect = e["status"], e["size"], e["lower"], e["max_changes"], found.expect
    ones, reasons, names = e["proof"]["ones"], e["proof"]["zeros_hold"], [unit["name"] for unit in e["moves"]]
    expect(not flips(e["score"], e), f"decision: it is {e['decision']}, and the score is {e['score']}")
    own = [unit["weight"] for unit in e["moves"]]
    expect(e["proof"].get("weights", [1] * len(own)) == own, "proof.weights: they are not those of the units")
    expect(bool(names) or (ones, reasons) == ([], [[]]), "proof: nothing can move, and it does not say so")
    for name, sets in (("flipsets", ones), ("reasons", reasons)):
        in_order = sorted(map(sorted, sets if names else []), key=lambda one: (len(one), one))
        expected = [[names[i] for i in one] for one in in_order]
        if name == "reasons" and len(e[name]) < len(expected):  # some may be listed, and not all
            chosen = set(map(tuple, e[name]))
            expected = [one for one in expected if tuple(one) in chosen]
        is_same = e[name] == expected
        twice = any(a == b for a, b in pairwise(in_order))
        expect(is_same and not twice, f"{name}: they are not those of the proof, in order of size")
    weights, scale = whole_weights(e)
    of_ones = {sum(weights[i] for i in one) for one in ones}
    expect(len(of_ones) <= 1, "proof.ones: they are not of one size or weight")
    upper = min((weight // scale if weight % scale == 0 else weight / scale for weight in of_ones), default=None)
    expect(e["upper"] == upper, f"upper: it is {e['upper']}, and the ones of the proof say {upper}")
    expect(status == "unproved" or not e["contradictions"], f"contradictions: there are some, and status is {status!r}")
    if status in ("optimal", "incomplete"):
        expect(bool(ones) and size == lower == upper, f"size, lower: they are {size}, {lower}; the proof says {upper}")
        enough = most is None or min(map(len, ones), default=0) <= most
        expect(enough, f"max_changes: it is {most}, and more changes are needed")
        expect(e["objective"] != "cost" or most is not None, "max_changes: it is null, and the objective is 'cost'")
    else:
        expect(size is None, f"size: it is {size}, and the status is {status!r}")
    expect(lower is None or lower >= 0, f"lower: it is {lower}")
    if status == "none":
        expect(not ones, "status: it is 'none', and the proof has a flip set")
        # A bound of 1 or less says nothing, and would pass for a proof that nothing flips.
        limited = lower is None or (lower >= 2 if most is None else lower == most + 1)
        expect(limited, f"lower: it is {lower}, and up to {most} changes were considered")


def whole_weights(e: Json) -> tuple[list[int], int]:
    """Return the weights of the units as whole numbers, and the number by which they were multiplied.

    Weights count as the decimals they are written as, so that 0.1 + 0.2 is 0.3.
    """
    exact = [Fraction(str(unit["weight"])) for unit in e["moves"]] or [Fraction(1)]
    scale = lcm(*(weight.denominator for weight in exact))
    return [int(weight * scale) for weight in exact], scale


def check_proof(e: Json, found: Findings) -> None:
    """Check that every monotone model that agrees with the zeros and ones has the claimed answer."""
    ones, reasons, lower, d = e["proof"]["ones"], e["proof"]["zeros_hold"], e["lower"], e["proof"]["d"]
    as_bits, (weights, scale), gap = [bits(reason, d) for reason in reasons], whole_weights(e), None
    for one in (bits(one, d) for one in ones):
        found.spend(1 + len(reasons) // 4)
        found.expect(all(one & reason for reason in as_bits), "proof: one of its ones lies inside one of its zeros")
    if e["status"] == "optimal" or (e["status"] == "none" and lower is None):
        most = sum(weights[i] for i in (ones[0] if ones else range(d)))
        gap = find_gap(reasons, ones, weights, lambda weight: weight <= most, found)
    elif e["status"] == "incomplete" and scale == 1 and is_swept(reasons, d, max(weights), len(ones[0]) - 1):
        gap = sweep(reasons, d, len(ones[0]) - 1, found)
    elif lower is not None:  # every set that weighs less than `lower` must lie in a zero
        gap = find_gap(reasons, [], weights, lambda weight: weight / scale < lower, found)
    names = [e["moves"][i]["name"] for i in gap or []]
    found.expect(gap is None, f"proof: it leaves open whether moving {listed(names)} flips the decision")


def flips(score: Any, e: Json) -> bool:
    """Say whether a score means another decision than that of the explained row."""
    return bool((float(score) >= e["threshold"]) != e["decision"])


# --- 2. Counterfactuals: what a person reads follows from the rows and from what could move ---------------------------


def check_counterfactuals(e: Json, found: Findings) -> None:
    """Check what could move, and each counterfactual: its row, its flip set, its changes."""
    row, expect, movable = e["row"], found.expect, {unit["name"] for unit in e["moves"]}
    for unit in e["moves"]:
        for option in unit["options"]:
            movable.update(option)
            moves = any(not same(value, row[column]) for column, value in option.items())
            expect(moves, f"moves: {shown(unit['name'])} has an option that changes nothing")
    expect(movable.isdisjoint(e["held_fixed"]), "held_fixed: it names something that can move")
    ordered: set[str] = set()
    changed: set[str] = set()
    for at, one in all_options(e):
        found.spend(2 * len(row))
        after = {column: value for column, value in one["row"].items() if not same(value, row[column])}
        after = {column: value for column, value in after.items() if column not in e["rules"].formulas}
        changed.update(after)
        moved = [unit for unit in e["moves"] if any(column in after for column in unit["columns"])]
        names, columns = [unit["name"] for unit in moved], {column for unit in moved for column in unit["columns"]}
        expect(bool(after) and after.keys() <= columns, f"{at}.row: it changes nothing, or something that cannot move")
        expect(one["flipset"] == names, f"{at}.flipset: it is {listed(one['flipset'])}, and {listed(names)} moves")
        told = {change["feature"]: (change["before"], change["after"]) for change in one["changes"]}
        true = told.keys() == after.keys() and len(told) == len(one["changes"])
        true = true and all(same(told[c][0], row[c]) and same(told[c][1], after[c]) for c in told)
        if expect(true, f"{at}.changes: they do not say how its row differs from the row that is explained"):
            how = {change["feature"]: change["how"] for change in one["changes"]}
            ordered |= {column for column, word in how.items() if word != "becomes"}
            for unit in moved:
                found.spend(len(unit["options"]) * len(unit["columns"]))
                leads = any(leads_to(option, unit, row, after, how) for option in unit["options"])
                expect(leads, f"{at}: {shown(unit['name'])} cannot change in this way")
        expect(flips(one["score"], e), f"{at}.score: it is {one['score']}, which does not flip the decision")
        expect(0 <= one["cost_at_least"] <= one["cost"], f"{at}.cost_at_least: it is negative, or more than the cost")
        costs = [change.get("cost") for change in one["changes"]]  # older files do not have them
        whole = None in costs or isclose(sum(costs), one["cost"], rel_tol=1e-9, abs_tol=1e-9)
        expect(
            whole and min(filter(None, costs), default=0) >= 0, f"{at}.changes: their costs do not add up to its own"
        )
    expect(ordered <= e["grids"].keys() <= changed, "grids: they are not those of the columns that change")


def all_options(e: Json) -> list[tuple[str, Json]]:
    """Return every counterfactual with its place: of the smallest flip sets, of larger ones, and of the curve."""
    curve = [(f"curve[{i}].counterfactual", point["counterfactual"]) for i, point in enumerate(e["curve"])]
    lists = [(f"{name}[{i}]", one) for name in ("counterfactuals", "larger") for i, one in enumerate(e[name])]
    return [*lists, *curve]


def leads_to(option: Json, unit: Json, row: Json, after: Json, how: Json) -> bool:
    """Say whether the new values of a unit's columns lead to the best values of an option, and not beyond."""
    for column in unit["columns"]:
        if column in after:
            if column not in option:
                return False
            if how[column] == "becomes":
                if unit["ordered"] or not same(after[column], option[column]):
                    return False
            else:  # the order of numbers is known here, that of other levels is not
                path = [*([row[column]] if unit["ordered"] else []), after[column], option[column]]
                steps = pairwise(value for value in path if isinstance(value, (int, float)))
                if not all(a <= b if how[column] == "at least" else a >= b for a, b in steps):
                    return False
    return True


def same(a: Any, b: Any) -> bool:
    """Say whether two cells are the same; in Python True equals 1, here it does not."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def reasons_of_proof(e: Json) -> list[list[str]]:
    """Return all reasons of the proof, by name: the explanation may list only some of them."""
    names = [unit["name"] for unit in e["moves"]]
    return [[names[i] for i in reason] for reason in e["proof"]["zeros_hold"]] if names else []


def check_list(e: Json, found: Findings) -> None:
    """Check that the counterfactuals are cheapest first, that none is missing, and that none lies inside a zero."""
    sets, reasons, expect = [one["flipset"] for one in e["counterfactuals"]], reasons_of_proof(e), found.expect
    place = {tuple(names): i for i, names in enumerate(e["flipsets"])}
    keys = [(one["cost"], place.get(tuple(one["flipset"]))) for one in e["counterfactuals"]]
    for (cost, first), (next_cost, second) in pairwise(keys):
        tie = cost == next_cost and (first is None or second is None or first <= second)
        expect(cost < next_cost or tie, "counterfactuals: they are not in order, cheapest first")
    for names in sets:
        if tuple(names) not in place:
            found.spend(1 + sum(map(len, reasons)))
            units = set(names)
            meets = not any(units.isdisjoint(reason) for reason in reasons)
            expect(meets, f"counterfactuals: moving {listed(names)} does not flip the decision, says the proof")
    expect(not e["diverse"] or e["max_options"], "diverse: it is true, and all options are listed")
    if e["status"] in ("none", "not asked"):
        expect(not sets, f"counterfactuals: there are some, and the status is {e['status']!r}")
    elif e["max_options"] is not None and e["status"] != "unproved":
        wanted, different = min(e["max_options"], len(place)), len(set(map(tuple, sets))) == len(sets)
        some = len(sets) == wanted and e["objective"] != "cost" and (different or e["status"] == "stopped")
        expect(some, f"counterfactuals: there must be {wanted:,} of {len(place):,} options, all different")
        found.spend((1 + len(place)) * (1 + sum(map(len, sets))))
        among = all(
            tuple(names) in place or (e["status"] == "stopped" and any(set(names) <= set(one) for one in place))
            for names in sets
        )
        expect(among, "counterfactuals: one of them is not one of the flip sets")
    elif e["status"] == "stopped":
        found.spend((1 + len(place)) * (1 + sum(map(len, sets))))
        covered = all(any(units.issuperset(names) for names in sets) for units in map(set, place))
        expect(len(sets) == len(place) and covered, "counterfactuals: there must be one for every flip set")
    elif e["status"] in ("optimal", "incomplete") and e["objective"] == "cost":
        few = len(sets) == 1 and len(sets[0]) <= (e["max_changes"] or 0)
        expect(few, "counterfactuals: there must be one, with at most max_changes changes")
    elif e["status"] in ("optimal", "incomplete"):
        one = len(sets) == 1 and e["objective"] is None  # an old file; it may be the cheapest of all
        expect(one or sorted(sets) == sorted(e["flipsets"]), "counterfactuals: there must be one for every flip set")


def check_larger(e: Json, found: Findings) -> None:
    """Check that options beyond the smallest are larger, that no known part of one is enough, and their order."""
    expect, larger, weight = found.expect, e["larger"], {unit["name"]: unit["weight"] for unit in e["moves"]}
    reasons = reasons_of_proof(e)
    if e["more"] is None or e["status"] != "optimal":
        expect(not larger and e["larger_end"] is None, "larger: it was not asked for, or nothing is proved")
        return
    ends = e["larger_end"] is not None and len(larger) <= e["more"]
    expect(ends and (e["larger_end"] != "enough" or len(larger) == e["more"]), "larger_end: it is not the right one")
    sets, keys = [set(one["flipset"]) for one in larger], []
    for i, (one, names) in enumerate(zip(larger, sets, strict=True)):
        found.spend(1 + (len(e["flipsets"]) + len(sets)) * (1 + len(names)) + sum(map(len, reasons)))
        total = sum(Fraction(str(weight.get(name, 0))) for name in names)
        at = f"larger[{i}].flipset"
        expect(total > Fraction(str(e["size"])), f"{at}: it is not larger than the smallest options")
        whole = not any(names.issuperset(part) for part in e["flipsets"]) and sum(part <= names for part in sets) == 1
        expect(whole, f"{at}: a part of it is enough, so it is not minimal")
        expect(not any(names.isdisjoint(reason) for reason in reasons), f"{at}: the proof says it does not flip")
        expect(e["max_changes"] is None or len(names) <= e["max_changes"], f"{at}: it has more than max_changes")
        keys.append((total, one["cost"]))
    expect(keys == sorted(keys), "larger: they are not in order of size, and then of cost")


def check_curve(e: Json, found: Findings) -> None:
    """Check that the curve goes on change by change from the smallest options, and never gets more expensive."""
    expect, curve, told, reasons = found.expect, e["curve"], [one for _, one in all_options(e)], reasons_of_proof(e)
    if not curve:
        expect(e["curve_end"] is None, "curve_end: there is no curve")
        return
    counts = e["status"] == "optimal" and "weights" not in e["proof"] and e["objective"] != "cost"
    if not expect(counts and e["curve_end"] is not None, "curve: it is not about numbers of changes, or has no end"):
        return
    first, cheapest = curve[0]["counterfactual"]["cost"], [one["cost"] for one in e["counterfactuals"][:1]]
    expect([first] == cheapest, "curve[0]: it does not cost what the cheapest of the smallest options costs")
    for i, point in enumerate(curve):
        one, changes = point["counterfactual"], point["changes"]
        found.spend(1 + len(told) + sum(map(len, reasons)))
        expect(changes == e["size"] + i, f"curve[{i}].changes: it is not one more than before")
        few = len(one["flipset"]) <= min(changes, e["max_changes"] or changes)
        expect(few, f"curve[{i}]: it has more than {changes} changes")
        meets = not any(set(one["flipset"]).isdisjoint(reason) for reason in reasons)
        expect(meets, f"curve[{i}]: the proof says that it does not flip the decision")
        least = min((other["cost"] for other in told if len(other["flipset"]) <= changes), default=inf)
        expect(one["cost_at_least"] <= least, f"curve[{i}].cost_at_least: another option on file costs less")
    costs = [point["counterfactual"]["cost"] for point in curve]
    expect(costs == sorted(costs, reverse=True), "curve: more changes cost more, and need not be made")


# --- 3. Rules between columns: which rows can exist -------------------------------------------------------------------


@dataclass
class Inequality:
    """That a sum of columns, each times its factor, is at most a limit, or less than it."""

    factors: dict[str, Fraction]
    limit: Fraction
    strict: bool


@dataclass
class Either:
    """That at least one of two columns passes its test; `last` keeps where on a scale one last passes (`smaller`)."""

    tests: list[tuple[str, Callable[[Json], bool]]]
    steps: int = STEPS_PER_TERM
    last: dict[tuple[int, int], int] = field(default_factory=dict)


@dataclass
class Constraint:
    """A text, whether the row breaks it (in the file, and in truth), and what it asks of other rows."""

    text: str
    told: bool
    broken: bool
    asks: list[Inequality | Either]


@dataclass
class Stepped:
    """The values first, first + step, first + 2 * step ... after a column's own value, as its type holds them."""

    own: list[Json]
    first: Fraction
    step: Fraction
    count: int
    number_type: str

    def __len__(self) -> int:
        return len(self.own) + self.count

    def __getitem__(self, place: int) -> Json:
        place %= len(self)
        own, value = len(self.own), self.first + (place - len(self.own)) * self.step
        return self.own[place] if place < own else held_as(self.number_type, value)


@dataclass
class Rules:
    """The rules of an explanation, as they apply to its row.

    Computed columns have texts and formulas, each after those that it uses; a formula is None where a function computes
    the column. A column of a constraint that moves along an order has a scale: the row's own value, unless that is
    missing or a special code, and then the stops, each better than the one before.
    """

    constraints: list[Constraint] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, Formula | None] = field(default_factory=dict)
    codes: dict[str, set[Any]] = field(default_factory=dict)
    scales: dict[str, list[Json] | Stepped] = field(default_factory=dict)
    steps: int = 0  # what looking at all rules once counts as

    def functions(self) -> list[str]:
        """Return the columns that a function computes: nobody can check them."""
        return [column for column, formula in self.formulas.items() if formula is None]

    def is_ordinary(self, column: str, cell: Json) -> bool:
        """Say whether a cell is neither missing nor a special code."""
        return not is_missing(cell) and key_of(cell) not in self.codes.get(column, ())


def check_rules(e: Json, found: Findings) -> None:
    """Check what the file says about its rules, and that every counterfactual keeps them."""
    rules, row, expect = e["rules"], e["row"], found.expect
    best = [pair for unit in e["moves"] for option in unit["options"] for pair in option.items()]
    for constraint in rules.constraints:
        breaks = "breaks" if constraint.broken else "does not break"
        expect(constraint.told == constraint.broken, f"rules: the row {breaks} {shown(constraint.text)}")
    for column, scale in rules.scales.items():
        places = range(len(scale)) if isinstance(scale, list) else sorted({0, 1 % len(scale), len(scale) - 1})
        found.spend(len(best) + STEPS_PER_TERM * len(places))
        ends = any(name == column and same(value, scale[-1]) for name, value in best)
        expect(ends, f"rules.stops: those of {shown(column)} do not end at its best value")
        numbers = [number(scale[place]) for place in places]
        pairs = [(a, b) for a, b in pairwise(numbers) if a is not None and b is not None]
        one_way = all(a < b for a, b in pairs) or all(a > b for a, b in pairs)
        expect(one_way, f"rules.stops: those of {shown(column)} do not go in one direction")
    for at, option in all_options(e):
        after = option["row"]
        found.spend(rules.steps + len(row))
        for constraint in rules.constraints:
            kept = all(keeps(ask, after, rules) for ask in constraint.asks)
            expect(kept, f"{at}.row: it breaks the rule {shown(constraint.text)}")
        for column, scale in rules.scales.items():
            found.spend(len(best) + (len(scale) if isinstance(scale, list) else 1))
            known = (row[column], *(value for name, value in best if name == column))
            inside = any(same(after[column], value) for value in known) or lies_on(scale, after[column])
            expect(inside, f"{at}.row: {shown(column)} is not between its own value and the best one")
        for column in rules.formulas:
            expect(same(after[column], computed(column, after, e)), f"{at}.row: {shown(column)} is not as computed")
        told = [[one["feature"], one["before"], one["after"]] for one in option.get("consequences", [])]
        changed = [column for column in row if column in rules.formulas and not same(row[column], after[column])]
        true = [[column, row[column], after[column]] for column in changed]
        expect(
            json.dumps(told) == json.dumps(true), f"{at}.consequences: they are not the computed columns that change"
        )


def is_missing(cell: Json) -> bool:
    """Say whether a cell holds no value."""
    return cell is None or cell == {"float": "nan"}


def key_of(cell: Json) -> Any:
    """Return what is equal for cells that are the same."""
    return (tuple(cell.items()) if isinstance(cell, dict) else cell), isinstance(cell, bool)


def number(cell: Json) -> Fraction | None:
    """Return a cell as the exact number that is written, true and false as 1 and 0; None if it is no finite number."""
    if isinstance(cell, (int, float)):
        return Fraction(int(cell)) if isinstance(cell, int) else Fraction(repr(cell))
    text = cell.get("decimal", "Infinity") if isinstance(cell, dict) else "Infinity"
    return None if text.endswith("Infinity") else Fraction(text)


def total(ask: Inequality, row: Json, rules: Rules) -> Fraction | None:
    """Return the sum of an inequality; None if a column has no ordinary value, so that the rule does not apply."""
    cells = {column: number(row[column]) for column in ask.factors if rules.is_ordinary(column, row[column])}
    known = [ask.factors[column] * value for column, value in cells.items() if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(ask.factors) else None


def keeps(ask: Inequality | Either, row: Json, rules: Rules) -> bool:
    """Say whether a row keeps a rule."""
    if isinstance(ask, Either):
        return any(test(row[column]) for column, test in ask.tests)
    value = total(ask, row, rules)
    return value is None or value < ask.limit or (value == ask.limit and not ask.strict)


def lies_on(scale: Any, cell: Json) -> bool:
    """Say whether a value lies between the ends of a scale; the order of values other than numbers is not known."""
    value, first, last = number(cell), number(scale[0]), number(scale[-1])
    if value is None or first is None or last is None:
        return isinstance(scale, list) and any(same(cell, one) for one in scale)
    return first <= value <= last or last <= value <= first


def highest(raw: Json, e: Json, found: Findings) -> list[Json]:
    """Return the highest rows that keep the rules, at or below a row: any other one is below one of them.

    Below are rows whose columns on a scale are at the same value or at one before it. A column that has not moved
    stays, and so does one that moved to a value outside the order. The search has boxes: all rows between two places of
    each scale. The highest row of a box is a result if it keeps the rules. Otherwise `smaller` returns smaller boxes
    that have all rows of the box that keep the rules. So none is lost.
    """
    row, rules = e["row"], e["rules"]
    scales = {c: s for c, s in rules.scales.items() if same(raw[c], s[-1]) and not same(raw[c], row[c])}
    boxes = [(dict.fromkeys(scales, 0), {c: len(s) - 1 for c, s in scales.items()})]
    kept: dict[tuple[int, ...], Json] = {}
    while boxes:
        low, high = boxes.pop()
        found.spend(STEPS_PER_BOX + len(row) + rules.steps)
        top = raw | {column: scales[column][place] for column, place in high.items()}
        asks = (ask for constraint in rules.constraints for ask in constraint.asks)
        broken = next((ask for ask in asks if not keeps(ask, top, rules)), None)
        if broken is None:
            kept[tuple(high.values())] = top
        else:
            boxes += smaller(broken, top, (low, high), scales, rules, found)
    found.spend(len(kept) ** 2 * (1 + len(scales)))
    return [
        top
        for places, top in kept.items()
        if not any(all(map(operator.le, places, other)) for other in kept if other != places)
    ]


def smaller(
    ask: Inequality | Either, top: Json, box: Box, scales: dict[str, Any], rules: Rules, found: Findings
) -> list[Box]:
    """Return smaller boxes that have all rows of a box that keep a rule, which the highest row breaks."""
    low, high = box
    if isinstance(ask, Either):  # one of the columns must be at a place where it passes: at the last of them, or below
        boxes = []
        for i, (column, test) in enumerate(ask.tests):
            if column in scales:
                key = i, high[column]
                if key not in ask.last:
                    found.spend(ask.steps * high[column])
                    places = range(high[column] - 1, -1, -1)
                    ask.last[key] = next((place for place in places if test(scales[column][place])), -1)
                boxes += [(low, high | {column: ask.last[key]})] if ask.last[key] >= low[column] else []
        return boxes
    # Only columns whose moving raises the sum can help, by moving less; all others help most where they are.
    raising = [
        column
        for column, factor in ask.factors.items()
        if column in scales and low[column] < high[column]
        if factor * ((number(scales[column][-1]) or 0) - (number(scales[column][0]) or 0)) > 0
    ]
    if not raising:
        return []
    column = min(raising, key=lambda one: high[one] - low[one])
    scale, places = scales[column], range(low[column], high[column] + 1)
    if len(raising) > 1:  # all places of one of them, one by one
        found.spend(STEPS_PER_BOX * len(places))
        return [(low | {column: place}, high | {column: place}) for place in places]
    found.spend(STEPS_PER_TERM * len(ask.factors) * len(places).bit_length())
    cells = {one: top[one] for one in ask.factors}
    kept = bisect_left(places, True, key=lambda place: not keeps(ask, cells | {column: scale[place]}, rules))
    return [(low, high | {column: places[kept - 1]})] if kept else []


def computed(column: str, after: Json, e: Json) -> Json:
    """Return the value of a computed column in a row: its own if nothing that its formula uses changes."""
    row, own, formula = e["row"], e["row"][column], e["rules"].formulas[column]
    if formula is None:
        return after[column]
    if all(same(row[name], after[name]) for kind, name in formula if kind == "column"):
        return own

    def operand(kind: str, value: Any) -> float | None:
        cell = value if kind == "number" else row[value] if kind == "before" else after[value]
        return None if is_missing(cell) else float(*cell.values()) if isinstance(cell, dict) else float(cell)

    def combine(sign: str, a: float | None, b: float | None) -> float | None:
        return None if a is None or b is None else ARITHMETIC[sign](a, b)

    try:
        value = evaluated(formula, operand, combine)
    except (ArithmeticError, ValueError):
        raise BadInput(f"rules: the column {shown(column)} cannot be computed in a row") from None
    if value is None:
        return own if is_missing(own) else None
    words = e.get("words", {"features": {}})["features"].get(column, {})
    is_whole = type(own) is int and isfinite(value) and value == int(value)
    held = int(value) if is_whole else held_as(words.get("number_type", "float64"), value)
    need(isfinite(held), f"rules: the computed column {shown(column)} is no finite number in a row")
    return held


def held_as(number_type: str, value: Fraction | float) -> float:
    """Return the number of a type that is nearest to a value."""
    if number_type == "int":
        return int(value)
    code = {"float64": "d", "float32": "f", "float16": "e"}[number_type]
    try:
        return float(struct.unpack(code, struct.pack(code, float(value)))[0])
    except OverflowError:
        return inf


def evaluated(formula: Formula, operand: Callable[[str, Any], Any], combine: Callable[[str, Any, Any], Any]) -> Any:
    """Return the result of a formula, given what its numbers and columns are, and how an operator combines two."""
    stack: list[Any] = []
    for kind, value in formula:
        if kind == "operator":
            right = stack.pop()
            stack.append(combine(value, stack.pop(), right))
        else:
            stack.append(operand(kind, value))
    return stack[0]


# --- 4. Rows and scores: what the model has to confirm ----------------------------------------------------------------


def queries(e: Json, found: Findings) -> Iterator[tuple[str, Iterable[Json], bool, Json]]:
    """Yield what the model has to confirm: a name, rows, whether one of them must flip, and a score that is claimed."""
    yield "the row", [e["row"]], False, e["score"]
    for at, one in all_options(e):
        yield at, [one["row"]], True, one["score"]
    for i, (first, second) in enumerate(e["contradictions"]):
        yield f"contradictions[{i}][0]", [first], True, None
        yield f"contradictions[{i}][1]", [second], False, None
    if e["rules"].functions():  # what a function computes is known in no other row
        return
    for i, one in enumerate(e["larger"]):  # minimal: without any one of its units, it does not flip
        units = [unit for unit in e["moves"] if unit["name"] in one["flipset"]]
        for left in units:
            rest = [unit for unit in units if unit is not left]
            yield f"larger[{i}] without {shown(left['name'])}", block(e, rest, found), False, None
    for key, flipping in (("zeros_hold", False), ("ones", True)):
        for given in map(set, e["proof"][key]):
            moved = [unit for i, unit in enumerate(e["moves"]) if (i in given) == flipping]
            names = listed([unit["name"] for unit in moved])
            yield f"proof: moving {names}", block(e, moved, found), flipping, None


def block(e: Json, units: list[Json], found: Findings) -> Iterator[Json]:
    """Yield the row with units moved: one with an order is at its best, any other has each of its options, or stays.

    Where there are rules, each of these rows is replaced by the highest rows that keep them, with computed columns.
    """
    for choice in product(*(unit["options"] if unit["ordered"] else [{}, *unit["options"]] for unit in units)):
        found.spend(STEPS_PER_CELL * len(e["row"]))
        raw = e["row"] | {column: value for option in choice for column, value in option.items()}
        for row in highest(raw, e, found) if e["rules"].constraints else [raw]:
            found.spend(sum(len(code or "") for code in e["rules"].formulas.values()))
            for column in e["rules"].formulas:
                row[column] = computed(column, row, e)
            yield row


def row_id(row: Json) -> str:
    """Return the id of a row in files of rows and scores: it depends on its columns and their values alone."""
    return "r" + hashlib.sha256(json.dumps(list(row.items())).encode()).hexdigest()[:32]


def check_scores(e: Json, scores: dict[str, float], tolerance: float, found: Findings) -> None:
    """Compare the scores of the model with every claim about them."""
    for name, rows, flipping, claimed in queries(e, found):
        ids = list(map(row_id, rows))
        if not ids:  # all of the rows would break rules
            found.expect(not flipping, f"{name}: it must flip the decision, and the rules leave no such row")
            continue
        for one in ids:
            need(one in scores, f"the file of scores has no score for {one} ({name}); write the rows with --rows")
        score = next((scores[one] for one in ids if flips(scores[one], e)), scores[ids[0]])
        must = "must flip" if flipping else "must not flip"
        found.expect(flips(score, e) == flipping, f"{name}: it {must} the decision, and the model's score is {score}")
        close = claimed is None or isclose(score, float(claimed), rel_tol=tolerance, abs_tol=tolerance)
        found.expect(close, f"{name}: its score is {claimed} in the file, and the model's score is {score}")


def collect_rows(e: Json, rows: dict[str, list[str]], found: Findings) -> None:
    """Add the rows to score, by their ids, as the texts of a CSV file; "id" has the names of the columns."""
    columns = list(e["row"])
    blocks = (block for _, block, _, _ in queries(e, found))
    own = {row_id(row): [as_csv(column, row[column]) for column in columns] for block in blocks for row in block}
    need(rows.setdefault("id", columns) == columns, "the columns are not those of the explanation before this one")
    rows.update(own)  # all of them, or none where the steps ran out


def as_csv(column: str, cell: Json) -> str:
    """Write a cell as CSV. A missing value is an empty cell. CSV has no types: the text 1 looks like the number 1."""
    if isinstance(cell, str):
        need(cell != "" and "\0" not in cell, f"column {shown(column)} has {shown(cell)}, which CSV cannot carry")
        return cell
    if isinstance(cell, dict):
        return str(*cell.values())  # inf, nan, a date, a time, a decimal
    return "" if cell is None else json.dumps(cell)


def write_rows(path: Path, rows: dict[str, list[str]]) -> None:
    """Write the rows to score; an existing file is not overwritten."""
    columns = rows.pop("id", [])
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row_id" if "id" in columns else "id", *columns])
        writer.writerows([one, *cells] for one, cells in rows.items())


def read_scores(path: Path) -> dict[str, float]:
    """Read scores by row: the first column has the id, and the last one, called "score", the score."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        try:
            return scores_in(lines, path.name)
        except UnicodeDecodeError:
            raise BadInput(f"{path.name} is not text in UTF-8") from None
        except csv.Error:
            raise BadInput(f"{path.name}, line {lines.line_num}: it is not CSV, or a cell is too long") from None


def scores_in(lines: Any, name: str) -> dict[str, float]:
    """Return the scores by row in the lines of a CSV file; `name` is that of the file."""
    scores: dict[str, float] = {}
    last = next(lines, [""])[-1].strip()
    need(last == "score", f"{name}: the first line must name the columns, and the last must be 'score'")
    for cells in filter(None, lines):
        text = cells[-1].strip().lower()
        try:
            score = float({"true": 1, "false": 0}.get(text, text))
        except ValueError:
            score = float("nan")
        at = f"{name}, line {lines.line_num}"
        need(not isnan(score), f"{at}: the last column must be a score, got {shown(cells[-1])}")
        need(scores.setdefault(cells[0], score) == score, f"{at}: {shown(cells[0])} has another score before")
    return scores


# --- 5. Reading: an explanation has exactly this shape, or it is refused ----------------------------------------------

NULL, NUMBER, TEXT, MAYBE = type(None), (int, float), (str,), (int, float, type(None))
CELL = (NULL, bool, int, float, str, dict)
WORDS: dict[Any, str] = {
    NULL: "null", bool: "true or false", int: "a whole number", float: "a number", str: "a string", dict: "a cell",
}  # fmt: skip
SPECIAL: dict[str, Callable[[str], Any]] = {  # a cell that JSON cannot write is an object, such as {"float": "inf"}
    "date": date.fromisoformat, "datetime": datetime.fromisoformat,
    "float": lambda text: text in ("inf", "-inf", "nan"),
    "decimal": re.compile(r"-?(Infinity|[0-9]{1,300}(\.[0-9]{1,300})?(E[+-][0-9]{1,2})?)").fullmatch,
}  # fmt: skip
BASES = {  # what the direction of a unit rests on, from the strongest to the weakest
    "proved": "proved from the model", "declared": "declared when the model was fitted",
    "audited": "audited", "assumed": "taken on trust",
}  # fmt: skip

# A tuple has the types that are allowed, or the words; a list is one of any length; a dictionary is an object with
# exactly these members, where "?" marks a member that may be left out, and "*" stands for any names.
FORMATS = ("plain", "thousands", "percent")
CHANGE = {
    "feature": TEXT, "before": CELL, "after": CELL, "how": ("at least", "at most", "becomes"), "cost?": NUMBER,
}  # fmt: skip
COUNTERFACTUAL = {
    "flipset": [TEXT], "changes": [CHANGE], "cost": NUMBER, "cost_at_least": NUMBER,
    "score": (int, float, "inf", "-inf"), "row": {"*": CELL},
    "consequences?": [{"feature": TEXT, "before": CELL, "after": CELL}],
}  # fmt: skip
STEPPED = {"first": NUMBER, "last": NUMBER, "step": NUMBER, "number_type?": ("float64", "float32", "float16")}
RULES = {
    "constraints": [{"text": TEXT, "broken": (bool,)}], "derived": {"*": (str, NULL)}, "follows": {"*": TEXT},
    "codes": {"*": [CELL]},
    "stops": {"*": lambda stops: [CELL] if isinstance(stops, list) else STEPPED},
}  # fmt: skip
OPTIONAL: dict[str, Any] = {  # what a member is where it is left out
    "max_changes": None, "objective": None, "max_options": None, "diverse": False, "more": None, "larger": [],
    "larger_end": None, "curve": [], "curve_end": None, "held_because": {}, "rules": None,
}  # fmt: skip
LABELS = {  # what people call things; only the types of computed columns matter to a check
    "decision": {
        "threshold?": NUMBER, "favorable?": ("above", "below"), "outcomes?": [TEXT], "outcome_nouns?": [TEXT],
        "score_label?": TEXT, "score_format?": FORMATS,
    },
    "features": {"*": {
        "label": TEXT, "unit?": TEXT, "value_labels?": {"*": TEXT}, "number_format?": FORMATS,
        "number_type?": ("float64", "float32", "float16"),
    }},
}  # fmt: skip
FORMAT_1 = {
    "format": TEXT, "decision": (bool,), "score": (int, float, "inf", "-inf"),
    "threshold": NUMBER, "status": ("optimal", "none", "stopped", "unproved", "incomplete", "not asked"),
    "size": MAYBE, "lower": MAYBE, "upper": MAYBE, "max_changes?": (int, NULL), "objective?": ("size", "cost", NULL),
    "words?": LABELS,
    "flipsets": [[TEXT]], "reasons": [[TEXT]], "held_fixed": [TEXT], "grids": {"*": TEXT}, "row": {"*": CELL},
    "held_because?": {"*": ("missing", "special code", "unknown value", "missing input")}, "own_bounds?": {"*": CELL},
    "id?": {"*": CELL},
    "counterfactuals": [COUNTERFACTUAL], "max_options?": (int, NULL), "diverse?": (bool,), "more?": (int, NULL),
    "larger?": [COUNTERFACTUAL], "larger_end?": ("enough", "all", "stopped", NULL),
    "curve?": [{"changes": (int,), "counterfactual": COUNTERFACTUAL}],
    "curve_end?": ("proved", "max_changes", "stopped", NULL),
    "contradictions": [[{"*": CELL}]], "queries": (int,), "rounds": (int,), "rules?": RULES,
    "proof": {
        "format": ("flipset-proof/1",), "d": (int,), "ones": [[(int,)]], "zeros_hold": [[(int,)]], "weights?": [NUMBER],
    },
    "moves": [{"name": TEXT, "columns": [TEXT], "ordered": (bool,), "weight": NUMBER, "options": [{"*": CELL}]}],
}  # fmt: skip
FORMAT_2 = FORMAT_1 | {
    "basis": {"*": tuple(BASES)}, "audited_pairs": (int, NULL), "contradicted": [TEXT],
    "fingerprints": dict.fromkeys(("model", "space", "reference", "flipset"), (str, NULL)),
}  # fmt: skip


def conform(value: Json, shape: Any, path: str) -> None:
    """Refuse a value that does not have a shape. The recursion is as deep as the shape, however deep the value is."""
    shape = shape(value) if callable(shape) else shape
    if isinstance(shape, tuple):
        if type(value) not in shape and not (isinstance(value, str) and value in shape):
            raise BadInput(
                f"{path} must be {' or '.join(str(WORDS.get(one, one)) for one in shape)}, got {shown(value)}"
            )
        if isinstance(value, str):
            need(len(value) <= MOST_TEXT and not re.search("[\ud800-\udfff]", value), f"{path} is not valid text")
        if isinstance(value, dict):
            need(is_special(value), f'{path} must be a cell, such as {{"float": "inf"}}, got another object')
    elif type(value) is not type(shape):
        raise BadInput(f"{path} must be {'a list' if isinstance(shape, list) else 'an object'}, got {shown(value)}")
    elif isinstance(shape, list):
        for i, entry in enumerate(value):
            conform(entry, shape[0], f"{path}[{i}]")
    else:
        members = {name.rstrip("?"): member for name, member in shape.items()}
        for name, member in value.items():
            if not name or (name not in members and "*" not in members):
                raise BadInput(f"{path} has {shown(name)}, which is not one of its names")
            its_path = f"{path}.{shown(name)[1:-1]}"
            conform(name, TEXT, its_path)
            conform(member, members.get(name) or members["*"], its_path)
        missing = [name for name in shape if name not in value and name != "*" and not name.endswith("?")]
        need(not missing, f"{path} has no {listed(missing)}")


def is_special(cell: Json) -> bool:
    """Say whether an object is a cell that JSON cannot write."""
    ((tag, text),) = cell.items() if len(cell) == 1 else [("", None)]
    try:
        return isinstance(text, str) and bool(SPECIAL[tag](text))
    except (KeyError, ValueError):
        return False


def need(holds: Any, problem: str) -> None:
    """Refuse the input unless something holds."""
    if not holds:
        raise BadInput(problem)


def shown(value: Json) -> str:
    """Write a value for a message: short, and without characters that control a terminal."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def listed(names: Sequence[str]) -> str:
    """Write the first names of a list."""
    text = ", ".join(shown(name)[1:-1] for name in names[:8]) or "nothing"
    return text if len(names) <= 8 else f"{text} and {len(names) - 8:,} more"


def parse(content: bytes) -> Json:
    """Parse JSON; refuse repeated names, numbers that are not finite, and texts that are nested too deeply."""

    def distinct(pairs: list[tuple[str, Json]]) -> Json:
        need(len(dict(pairs)) == len(pairs), "an object has a name twice")
        return dict(pairs)

    def finite(number: str) -> float:
        need(isfinite(float(number)), f"{shown(number)} is not a finite number")
        return float(number)

    def whole(number: str) -> int:
        need(len(number) <= MOST_DIGITS, f"a whole number may have {MOST_DIGITS} digits, and one has {len(number):,}")
        return int(number)

    need(sum(map(content.count, b",[{")) <= MOST_VALUES, f"it may have {MOST_VALUES:,} values, and has more")
    hooks: Any = {"object_pairs_hook": distinct, "parse_float": finite, "parse_int": whole, "parse_constant": finite}
    try:
        return json.loads(content.decode(), **hooks)
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not text in UTF-8, from byte {error.start + 1:,} on") from None
    except RecursionError:
        raise BadInput("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"it is not JSON, from line {error.lineno:,}, column {error.colno:,} on") from None


def read_explanation(e: Json, found: Findings | None = None) -> Json:
    """Refuse an explanation that does not have its shape, or whose parts do not refer to each other.

    Reading its rules takes steps of `found`.
    """
    form = e.get("format") if isinstance(e, dict) else None
    known = form in ("flipset-explanation/1", "flipset-explanation/2")
    need(known, f'"format" must be "flipset-explanation/1" or "flipset-explanation/2", got {shown(form)}')
    is_second = form == "flipset-explanation/2"
    conform(e, FORMAT_2 if is_second else FORMAT_1, "the explanation")
    e = OPTIONAL | e  # what was not asked for is not in the file, and older files lack some of these
    columns, units, proof = e["row"].keys(), e["moves"], e["proof"]
    others = [*(one["row"] for _, one in all_options(e)), *(row for pair in e["contradictions"] for row in pair)]
    need(
        columns and all(row.keys() == columns for row in others), "a row has no columns, or not those of the first row"
    )
    need(all(len(pair) == 2 for pair in e["contradictions"]), "contradictions must be pairs of rows")
    for _, one in all_options(e):
        one["row"] = {column: one["row"][column] for column in columns}  # in the order of the explained row
    e["contradictions"] = [
        [{column: row[column] for column in columns} for row in pair] for pair in e["contradictions"]
    ]
    moving = [column for unit in units for column in unit["columns"]]
    names = {unit["name"] for unit in units}
    need(len(names) == len(units) <= MOST_UNITS and "" not in names, "moves has a name twice, or too many units")
    need(len(set(moving)) == len(moving) and columns >= set(moving), "moves has a column twice, or an unknown one")
    for unit in units:
        options, own = unit["options"], set(unit["columns"])
        need(
            len(options) == 1 or (options and not unit["ordered"]), "moves has a unit without option, or with too many"
        )
        need(all(option and option.keys() <= own for option in options), "moves has an option of other columns")
        need(1e-100 <= unit["weight"] <= 1e100, "moves has a weight that is not positive, or not from 1e-100 to 1e100")
    need(len(set(e["held_fixed"])) == len(e["held_fixed"]), "held_fixed has a name twice")
    need(e["held_because"].keys() <= set(e["held_fixed"]), "held_because has a name that is not in held_fixed")
    d, sets = max(1, len(units)), proof["ones"] + proof["zeros_hold"]
    need(proof["d"] == d, f"proof.d must be {d}, the number of units that can move, got {shown(proof['d'])}")
    need(len(sets) * d <= MOST_BITS, f"proof may have {MOST_BITS // d:,} sets, and has {len(sets):,}")
    for one in sets:
        inside = not one or 0 <= min(one) <= max(one) < d
        need(inside and len(set(one)) == len(one), f"proof has a set that is not one of units 0 to {d - 1}")
    limits = [e[name] for name in ("max_changes", "max_options", "more") if e[name] is not None]
    small = "queries, rounds, max_changes, max_options or more is too small"
    need(min([1, *limits]) == 1 and min(e["queries"], e["rounds"]) >= 0, small)
    for name in ("id", "own_bounds"):
        need(e.get(name) != {}, f"{name} must have at least one column")
    read_words(e.get("words", {}).get("decision", {}))
    if is_second:
        need(e["basis"].keys() == names, "basis must have exactly the names of moves")
        need(set(e["contradicted"]) <= names, "contradicted has a name that is not one of moves")
        pairs, is_audited = e["audited_pairs"], "audited" in e["basis"].values()
        need(
            (pairs or 0) > 0 if is_audited else pairs is None,
            "audited_pairs must be positive where a basis is 'audited'",
        )
    e["rules"] = read_rules(e, Findings() if found is None else found)
    return e


def read_words(decision: Json) -> None:
    """Refuse words for the two outcomes that are not two different words."""
    for name in ("outcomes", "outcome_nouns"):
        pair = decision.get(name, ["a", "b"])
        two = len(pair) == len(set(pair)) == 2 and all(word.strip() for word in pair)
        need(two, f"words.decision.{name} must be two different texts that are not empty")
    need(decision.get("score_label", "score").strip(), "words.decision.score_label must not be empty")


# --- 6. Reading rules: a formula becomes a list in which each operator comes after its two operands -------------------

NAME = r"(?>`[^`\n]+`|[^\W\d]\w*)"
NUMBER_TEXT = r"(?>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)(?![\w.])"
COMPARISON = "(?>==|!=|<=|>=|<|>)"
VALUE = rf"""(?>(?:[-+]\s*)?{NUMBER_TEXT}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?:[tT]rue|[fF]alse)\b)"""
VALUES = rf"(?:\[\s*(?:{VALUE}\s*,\s*)*(?:{VALUE}\s*)?\]|\(\s*(?:{VALUE}\s*,\s*)*(?:{VALUE}\s*)?\))"
PLAIN = rf"(?:{NAME}\s*{COMPARISON}\s*{VALUE}|{NAME}\s*in\s*{VALUES}|{VALUE}\s*{COMPARISON}\s*{NAME})"
PLAIN_CONDITION = re.compile(rf"(?P<column>{NAME})\s*(?P<sign>{COMPARISON}|in)\s*(?P<values>.*)", re.DOTALL)
TURNED_CONDITION = re.compile(rf"(?P<values>{VALUE})\s*(?P<sign>{COMPARISON})\s*(?P<column>{NAME})")
CONDITION = rf"\s*(?:{PLAIN}|\(\s*{PLAIN}\s*\))\s*"
IMPLICATION = re.compile(rf"({CONDITION})\bimplies\b({CONDITION})")
TOGETHER = re.compile(rf"\s*if\s+({NAME})\s+moves\s+then\s+({NAME})(?:\s+moves)?\s*")
PART = re.compile(
    rf"\s*(?:(?P<number>{NUMBER_TEXT})|(?P<before>{NAME}\s*\.\s*before\b)|(?P<column>{NAME})"
    rf"|(?P<operator>{COMPARISON}|[-+*/()]))"
)
RANK = {"+": 1, "-": 1, "*": 2, "/": 2, "negative": 3}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ONE = ("number", "")  # what the constant of a sum is the factor of


def read_rules(e: Json, found: Findings) -> Rules:
    """Read the rules as they apply to the row; refuse those that are malformed."""
    given, row, rules = e["rules"], e["row"], Rules()
    told = [one["consequences"] for _, one in all_options(e) if "consequences" in one]
    need(all(told) and (given or not told), "consequences must not be empty, and need rules")
    if given is None:
        return rules
    need(max(map(len, given.values())) <= MOST_RULES, f"rules may have {MOST_RULES:,} entries of a kind, and have more")
    moving = {column for unit in e["moves"] for column in unit["columns"]}
    need(given["derived"].keys().isdisjoint(given["follows"]), "rules: a column is both in derived and in follows")
    rules.formulas = read_formulas(given, row, found)
    need({*rules.formulas, *given["codes"], *given["stops"]} <= row.keys(), "rules has an unknown column")
    need(
        rules.formulas.keys().isdisjoint({*e["held_fixed"], *moving}),
        "rules: a computed column is in moves or held_fixed",
    )
    need(moving >= given["stops"].keys(), "rules.stops has a column that is not in moves")
    rules.codes = {column: set(map(key_of, codes)) for column, codes in given["codes"].items()}
    rules.texts = {column: text or "a function" for column, text in (given["derived"] | given["follows"]).items()}
    sums: dict[str, Sum | None] = {}
    for column, formula in rules.formulas.items():
        try:
            sums[column] = None if formula is None else read_sum(formula, sums, "", found)
        except BadInput:  # not a sum, but a quotient, say
            sums[column] = None
    for column, stops in given["stops"].items():
        own = [row[column]] if rules.is_ordinary(column, row[column]) else []
        rules.scales[column] = read_scale(stops, own, f"rules.stops.{shown(column)[1:-1]}")
    ordered = {column for unit in e["moves"] if unit["ordered"] for column in unit["columns"]}
    for i, one in enumerate(given["constraints"]):
        asks = read_constraint(one["text"], f"rules.constraints[{i}].text", row, rules, sums, found)
        known = {column for ask in asks for column in columns_of(ask)}
        need(known <= row.keys(), f"rules.constraints[{i}].text names an unknown column")
        unlisted = (known & ordered) - rules.scales.keys()
        need(not unlisted, f"rules.stops has no {listed(sorted(unlisted))}")
        broken = [not keeps(ask, row, rules) for ask in asks]
        rules.steps += sum(ask.steps if isinstance(ask, Either) else STEPS_PER_TERM * len(ask.factors) for ask in asks)
        for ask in asks:
            for column in rules.scales.keys() & ask.factors if isinstance(ask, Inequality) else ():
                scale = rules.scales[column]
                found.spend(len(scale) if isinstance(scale, list) else 1)
                whole = isinstance(scale, Stepped) or None not in map(number, scale)
                need(whole, f"rules.stops.{shown(column)[1:-1]} must be numbers: the column is part of a sum")
        asks = [ask for ask in (relaxed(ask, row, rules) for ask in asks) if ask is not None]
        rules.constraints.append(Constraint(one["text"], one["broken"], any(broken), asks))
    rules.steps += sum(len(formula or []) for formula in rules.formulas.values())
    return rules


def columns_of(ask: Inequality | Either) -> list[str]:
    """Return the columns of a rule."""
    return list(ask.factors) if isinstance(ask, Inequality) else [column for column, _ in ask.tests]


def relaxed(ask: Inequality | Either, row: Json, rules: Rules) -> Inequality | Either | None:
    """Return what a rule asks of other rows: one that the row breaks must not get worse, or does not apply at all."""
    if keeps(ask, row, rules):
        return ask
    return (
        Inequality(ask.factors, total(ask, row, rules) or Fraction(0), False) if isinstance(ask, Inequality) else None
    )


def read_formulas(given: Json, row: Json, found: Findings) -> dict[str, Formula | None]:
    """Read the formulas of computed columns, each after those that it uses."""
    formulas: dict[str, Formula | None] = {}
    for key in ("derived", "follows"):
        for column, text in given[key].items():
            place = f"rules.{key}.{shown(column)[1:-1]}"
            found.spend(STEPS_PER_TERM * len(text or ""))
            formula = [] if text is None else arranged(read_parts(text, place), place)
            if key == "follows":  # its own name stands for the value before
                formula = [("before", column) if part == ("column", column) else part for part in formula]
            need(key == "follows" or all(kind != "before" for kind, _ in formula), f"{place}: only follows has .before")
            unknown = {name for kind, name in formula if kind in ("column", "before")} - row.keys()
            need(not unknown, f"{place} names unknown columns: {listed(sorted(unknown))}")
            formulas[column] = None if text is None else formula
    uses = {one: [name for kind, name in formula or () if kind == "column"] for one, formula in formulas.items()}
    try:
        order = [column for column in TopologicalSorter(uses).static_order() if column in formulas]
    except CycleError:
        raise BadInput("rules: computed columns need each other's results") from None
    return {column: formulas[column] for column in order}


def read_scale(stops: Json, own: list[Json], place: str) -> list[Json] | Stepped:
    """Read the values that a column may take, its own first where it is ordinary."""
    if isinstance(stops, list):
        need(stops, f"{place} must not be empty")
        return own + stops
    first, last, step = (Fraction(str(stops[name])) for name in ("first", "last", "step"))
    steps = round((last - first) / step) if step else -1
    need(0 <= steps < MOST_STOPS, f"{place} must lead from first to last by its step")
    whole = all(isinstance(stops[name], int) for name in ("first", "last", "step"))
    number_type = "int" if whole else stops.get("number_type", "float64")
    multiple = round(first / step) * step  # which a float may be only nearly
    start = multiple if held_as(number_type, multiple) == stops["first"] else first
    ends = held_as(number_type, start + steps * step) == stops["last"]
    need(ends, f"{place} must lead from first to last by its step")
    return Stepped(own, start, step, steps + 1, number_type)


def read_constraint(
    text: str, place: str, row: Json, rules: Rules, sums: dict[str, Sum | None], found: Findings
) -> list[Inequality | Either]:
    """Read a constraint into the rules that it stands for; columns that are sums of others are replaced by these."""
    need(len(text) <= MOST_RULE, f"{place} may have {MOST_RULE:,} characters")
    found.spend(STEPS_PER_TERM * len(text))
    one: Any
    if one := TOGETHER.fullmatch(text):
        first, second = (one[i].strip("`") for i in (1, 2))
        need(row.keys() >= {first, second}, f"{place} names an unknown column")
        stays, moves = (lambda cell: same(cell, row[first])), (lambda cell: not same(cell, row[second]))
        return [Either([(first, stays), (second, moves)])]
    if one := IMPLICATION.fullmatch(text):
        tests = [read_test(one[1], False, rules, place), read_test(one[2], True, rules, place)]
        return [Either(tests, STEPS_PER_TERM * (2 + text.count(",")))]
    signs: list[str] = []
    sides: list[list[Part]] = [[]]
    for kind, value in read_parts(text, place):
        need(kind != "before", f"{place} has .before, which only follows may have")
        if kind == "operator" and value in COMPARE:
            signs.append(value)
            sides.append([])
        else:
            sides[-1].append((kind, value))
    need(signs and "!=" not in signs, f"{place} must compare sums of columns, with <, <=, ==, >= or >")
    found_sums = [read_sum(arranged(side, place), sums, place, found) for side in sides]
    asks: list[Inequality | Either] = []
    for sign, (left, right) in zip(signs, pairwise(found_sums), strict=True):
        for factor in {"<": (1,), "<=": (1,), ">": (-1,), ">=": (-1,), "==": (1, -1)}[sign]:
            parts = {part: factor * value for part, value in combined("-", left, right, place).items()}
            limit = -parts.pop(ONE, Fraction(0))
            before = {name: parts.pop((kind, name)) for kind, name in list(parts) if kind == "before"}
            own = total(Inequality(before, limit, False), row, rules)
            if own is not None:  # otherwise a value before is missing, and the rule does not apply
                asks.append(Inequality({name: value for (_, name), value in parts.items()}, limit - own, sign in "<>"))
    return asks


def read_test(text: str, wanted: bool, rules: Rules, place: str) -> tuple[str, Callable[[Json], bool]]:
    """Read a side of an implication: a column, and a test that it passes where the condition holds, or does not.

    What is missing or a special code passes as well, because the rule does not apply to it.
    """
    text = text.strip()
    text = text[1:-1].strip() if text[0] == "(" else text
    one: Any = TURNED_CONDITION.fullmatch(text) or PLAIN_CONDITION.fullmatch(text)
    column, sign = one["column"].strip("`"), one["sign"]
    sign = TURNED.get(sign, sign) if one.re is TURNED_CONDITION else "==" if sign == "in" else sign
    values = [read_value(value, place) for value in re.findall(VALUE, one["values"])]
    need(column not in rules.formulas, f"{place} has a condition on a computed column")

    def test(cell: Json) -> bool:
        holds = any(compare(sign, cell, value) for value in values)
        return not rules.is_ordinary(column, cell) or holds == wanted

    return column, test


def compare(sign: str, cell: Json, value: Fraction | str) -> bool:
    """Compare a cell with a number or a text; what is of different kinds is only different."""
    text = next(iter(cell.values())) if isinstance(cell, dict) else cell  # a date and a time are compared as texts
    own: Any = text if number(cell) is None else number(cell)
    return COMPARE[sign](own, value) if isinstance(own, type(value)) else sign == "!="


def read_value(text: str, place: str) -> Fraction | str:
    """Read a number or a text in a condition."""
    if text[0] in "\"'":
        return re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t", "r": "\r"}.get(one[1], one[1]), text[1:-1])
    if text[0] in "tTfF":
        return Fraction(text[0] in "tT")
    return read_number(text.lstrip("-+ \t\r\n"), place) * (-1 if text[0] == "-" else 1)


def read_number(text: str, place: str) -> Fraction:
    """Read a number as the decimal that is written."""
    text = text.replace("_", "")
    need(len(text) <= MOST_DIGITS and isfinite(float(text)), f"{place} has a number that is too large")
    return Fraction(int(text)) if text.isdigit() else Fraction(repr(float(text)))


def read_parts(text: str, place: str) -> Iterator[Part]:
    """Yield the numbers, columns and operators of a formula."""
    at, text = 0, text.rstrip()
    need(len(text) <= MOST_RULE, f"{place} may have {MOST_RULE:,} characters")
    while at < len(text):
        one = PART.match(text, at)
        if one is None or one.lastgroup is None:
            raise BadInput(f"{place} cannot be read from character {at + 1} on: {shown(text[at : at + 20])}")
        word = one[one.lastgroup]
        if one.lastgroup == "number":
            yield "number", read_number(word, place)
        else:
            word = word.rpartition(".")[0].strip() if one.lastgroup == "before" else word
            yield one.lastgroup, word if one.lastgroup == "operator" else word.strip("`")
        at = one.end()


def arranged(parts: Iterable[Part], place: str) -> Formula:
    """Return a formula with each operator after its two operands; -a becomes -1 * a."""
    formula: Formula = []
    waiting: list[str] = []  # operators whose right operand is not complete, and opening parentheses
    ends = False  # whether an operand has just ended
    for kind, value in parts:
        if kind != "operator" and not ends:
            formula.append((kind, value))
            ends = True
        elif kind == "operator" and value in "+-(" and not ends:
            formula += [("number", Fraction(-1))] if value == "-" else []
            waiting += ["negative" if value == "-" else value] if value != "+" else []
        elif kind == "operator" and value != "(" and (value in RANK or value == ")") and ends:
            while waiting and RANK.get(waiting[-1], 0) >= RANK.get(value, 1):
                formula.append(("operator", waiting.pop().replace("negative", "*")))
            if value == ")":
                need(waiting and waiting.pop() == "(", f"{place} has a ) without its (")
            else:
                waiting.append(value)
                ends = False
        else:
            raise BadInput(f"{place} cannot be read: {shown(str(value))} is not expected where it is")
    need(ends and "(" not in waiting, f"{place} cannot be read: it ends too early")
    return [*formula, *(("operator", one.replace("negative", "*")) for one in reversed(waiting))]


def read_sum(formula: Formula, sums: dict[str, Sum | None], place: str, found: Findings) -> Sum:
    """Return a formula as a sum of columns; a computed column is replaced by the sum that it is."""

    def operand(kind: str, value: Any) -> Sum:
        if kind == "number":
            return {ONE: value}
        own = sums.get(value, {(kind, value): Fraction(1)}) if kind == "column" else {(kind, value): Fraction(1)}
        if own is None:
            raise BadInput(f"{place} names {shown(value)}, whose formula is not a sum of columns")
        return own

    def combine(sign: str, a: Sum, b: Sum) -> Sum:
        found.spend(len(a) + len(b))
        return combined(sign, a, b, place)

    result: Sum = evaluated(formula, operand, combine)
    return result


def combined(sign: str, a: Sum, b: Sum, place: str) -> Sum:
    """Return the sum, the difference, the product or the quotient of two sums, if it is one."""
    if sign == "*" and a.keys() <= {ONE}:
        a, b = b, a
    if sign in "*/":
        factor = b.get(ONE, Fraction(0))
        need(b.keys() <= {ONE} and (factor or sign == "*"), f"{place} is not linear, or divides by 0")
        result = {part: value * factor if sign == "*" else value / factor for part, value in a.items()}
    else:
        result = {part: ARITHMETIC[sign](a.get(part, Fraction(0)), b.get(part, Fraction(0))) for part in a | b}
    bits = max((max(abs(value.numerator), value.denominator).bit_length() for value in result.values()), default=0)
    need(bits <= MOST_FACTOR_BITS, f"{place} has a factor that is too large")
    return {part: value for part, value in result.items() if value}


# --- 7. The command ---------------------------------------------------------------------------------------------------


def check(e: Json, found: Findings, scores: dict[str, float] | None, args: argparse.Namespace) -> None:
    """Make all checks of an explanation; the proof and the scores only if nothing else is wrong."""
    given = args.threshold
    # "More than 0.5" is on file as the number next to 0.5: both name the same decision.
    alike = given is None or e["threshold"] in (given, nextafter(given, inf))
    found.expect(alike, f"threshold: it is {e['threshold']}, and --threshold is {given}")
    check_claims(e, found)
    check_counterfactuals(e, found)
    check_rules(e, found)
    check_list(e, found)
    check_larger(e, found)
    check_curve(e, found)
    if not found.problems:
        check_proof(e, found)
    if not found.problems and scores is not None:
        check_scores(e, scores, args.tolerance, found)
    unproved = "status: it is 'unproved', because the model contradicted the directions: nothing is proved"
    found.expect(e["status"] != "unproved", unproved)


def conclude(
    content: bytes, args: argparse.Namespace, scores: dict[str, float] | None, rows: Any
) -> tuple[str, list[str]]:
    """Check an explanation; return one of `RESULTS` and what to print. Rows to score are added to `rows`."""
    e, found = parse(content), Findings(args.max_steps)
    if isinstance(e, dict) and e.keys() == {"error"} and args.file.suffix == ".jsonl":  # a row was not explained
        return "without explanation", ["there is no explanation, only an error"]
    try:
        e = read_explanation(e, found)
        check(e, found, scores, args)
        if args.rows and not found.problems:
            collect_rows(e, rows, found)
    except Undecided:
        if not found.problems:
            return "not decided", [f"NOT DECIDED in {args.max_steps:,} steps. Allow more with --max-steps."]
    if found.problems:
        return "not confirmed", ["NOT CONFIRMED:", *(f"  {problem}" for problem in found.problems)]
    if e["rules"].functions():
        scores = None  # those of the proof's rows are not known
    result = "consistent" if scores is None else "confirmed"
    return result, [f"{result.upper()}. {claim(e)}", *basis(e, scores), *not_checked(e, scores, args)]


def claim(e: Json) -> str:
    """Return what an explanation claims."""
    decision, lower, sets = "approved" if e["decision"] else "declined", e["lower"], e["flipsets"]
    about = f"Decision: {decision} (score {e['score']}, threshold {e['threshold']})."
    what = "Changes needed" if all(unit["weight"] == 1 for unit in e["moves"]) else "Weight of the changes needed"
    first = "; ".join(map(listed, sets[:5])) + ("; ..." if len(sets) > 5 else "")
    if e["status"] == "optimal":
        return f"{about} {what}: {e['size']}. All smallest flip sets ({len(sets):,}): {first}."
    if e["status"] == "incomplete":
        return f"{about} {what}: {e['size']}. Smallest flip sets that are listed ({len(sets):,}, NOT ALL): {first}."
    if e["status"] == "none" and lower is None:
        return f"{about} No allowed change flips the decision."
    if e["status"] == "not asked":
        return f"{about} The row was scored and not explained."
    return f"{about} {what}: {lower or 0} or more. Flip sets found: {first or 'none'}."


def basis(e: Json, scores: Any) -> Iterator[str]:
    """Yield what the directions of the units rest on, from the strongest to the weakest, and the fingerprints."""
    agrees = "the model agrees with the proof and " if scores is None else ""
    given = f"Proved, given that {agrees}the score follows the declared directions"
    if "basis" not in e:
        yield f"{given}. (Format 1 does not say what they rest on, nor which model the explanation is about.)"
        return
    parts = []
    for one, words in BASES.items():
        names = [name for name, its_basis in e["basis"].items() if its_basis == one]
        pairs = f": {e['audited_pairs']:,} pairs, none in the wrong order" if one == "audited" and names else ""
        parts += [(listed(names), words + pairs)] if names else []
    yield f"{given}: {'; '.join(f'{names} ({words})' for names, words in parts) or 'nothing can move'}."
    if parts:
        yield f"The weakest basis: {parts[-1][1]}. All of this is what the file says."
    if e["contradicted"]:
        yield f"The model is known NOT to follow the directions of {listed(e['contradicted'])} in every row."
    prints = {name: "not known" if one is None else shown(one)[1:-1] for name, one in e["fingerprints"].items()}
    yield "Made with: " + ", ".join(f"{name} {one}" for name, one in prints.items()) + "."


def not_checked(e: Json, scores: Any, args: argparse.Namespace) -> Iterator[str]:
    """Yield what the file alone, or the file and the scores, cannot show."""
    yield "Not checked:"
    if e["rules"].functions():
        names = listed(e["rules"].functions())
        yield f"  {names}: computed by a function that is not in the file; so the rows of the proof are not known"
    elif scores is None:
        yield "  whether the model agrees with the proof and the counterfactuals (give --rows, then --scores)"
    if args.threshold is None:
        yield "  whether the threshold is the right one (give --threshold)"
    best = [f"{unit['name']} ({as_words(unit['options'])})" for unit in e["moves"]]
    yield f"  what may move, and its best values: {listed(best)}; held fixed: {listed(held(e))}"
    yield from as_rules(e)
    if e["status"] == "incomplete":
        yield "  which of the smallest flip sets are listed: there are others"
    yield "  grids, costs, that nothing is cheaper, values before the best ones, the order of levels other than numbers"
    if e["max_options"] is not None:
        yield "  diverse: which options were chosen; those left out may cost less"
    if e["more"] is not None:
        yield "  more, larger_end: whether other minimal options come before"
    if e["curve"]:
        yield "  curve_end: whether more changes could be cheaper"
    yield "  queries, rounds, words" + (", basis, audited_pairs, contradicted, fingerprints" if "basis" in e else "")


def held(e: Json) -> list[str]:
    """Name what was held fixed, with the reason where it is a value of the row."""
    why = e["held_because"]
    return [f"{name} ({why[name]})" if name in why else name for name in e["held_fixed"]]


def as_rules(e: Json) -> Iterator[str]:
    """Yield the rules as far as the file alone cannot show that they are the right ones."""
    rules = e["rules"]
    if rules.constraints or rules.formulas:
        broken = {True: " (the row breaks it)", False: ""}
        texts = [f"{shown(one.text)}{broken[one.broken]}" for one in rules.constraints]
        formulas = [f"{shown(column)[1:-1]} = {shown(text)[1:-1]}" for column, text in rules.texts.items()]
        yield f"  the rules: {'; '.join([*texts, *formulas][:20])}" + ("; ..." if len(texts + formulas) > 20 else "")
        yield "  special codes, and where columns of rules stop before their best values"


def as_words(options: list[Json]) -> str:
    """Write the values of the first options of a unit."""
    texts = [" and ".join(f"{column}={shown(cell)}" for column, cell in option.items()) for option in options[:3]]
    return " or ".join([*texts, "..."] if len(options) > 3 else texts)


def explanations(path: Path) -> Iterator[bytes]:
    """Yield the explanations in a file: one, or one for each line of a .jsonl file."""
    with path.open("rb") as file:
        while content := file.readline(MOST_BYTES + 1) if path.suffix == ".jsonl" else file.read(MOST_BYTES + 1):
            need(len(content) <= MOST_BYTES, f"{path.name} or a line of it has more than {MOST_BYTES:,} bytes")
            yield content


def run(args: argparse.Namespace) -> int:
    """Check a file and print the result; return the exit code."""
    scores = read_scores(args.scores) if args.scores else None
    is_table = args.file.suffix == ".jsonl"
    rows: dict[str, list[str]] = {}
    counts = Counter(dict.fromkeys(RESULTS, 0))
    for number, content in enumerate(explanations(args.file), 1):
        try:
            result, lines = conclude(content, args, scores, rows)
        except BadInput as error:
            need(is_table, f"{args.file.name}: {error}")
            result, lines = "malformed", [f"MALFORMED: {error}"]
        counts[result] += 1
        if not is_table:
            print(*lines, sep="\n")
        elif RESULTS[result] or result == "without explanation":
            print(f"line {number}:", *map(str.strip, lines))
    need(counts.total() > 0, f"{args.file.name} is empty")
    if is_table:
        print(f"Lines: {counts.total():,};", ", ".join(f"{result}: {count:,}" for result, count in counts.items()))
    if rows:
        write_rows(args.rows, rows)
        print(f"Rows to score: {len(rows):,}, in {args.rows}")
    return next((code for result, code in RESULTS.items() if counts[result] and code), 0)


def in_words(error: OSError) -> str:
    """Say what is wrong with a file, and what to do; the words of the system differ from one system to another."""
    name = "the output" if error.filename is None else str(error.filename)
    if isinstance(error, FileNotFoundError):
        folder = Path(name).parent
        return f"there is no file {name}" if folder.is_dir() else f"there is no folder {folder}"
    kinds = (
        (FileExistsError, "exists already, and is not overwritten: give another name"),
        (IsADirectoryError, "is a folder, and must be a file"),
        (NotADirectoryError, "is not a file: a part of its path is no folder"),
        (PermissionError, "cannot be opened: this user has no permission"),
    )
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    other = "cannot be written: no space is left" if full else "cannot be read or written"
    return f"{name} {next((words for kind, words in kinds if isinstance(error, kind)), other)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line; turn errors into one line and an exit code."""
    parser = argparse.ArgumentParser(description="Check a flipset explanation without flipset and without its model.")
    parser.add_argument("file", type=Path, help="an explanation (.json), or one on each line (.jsonl)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--rows", type=Path, help="write the rows that the model has to score to this CSV file")
    either.add_argument("--scores", type=Path, help="a CSV file: an id first, the model's score in the last column")
    parser.add_argument("--threshold", type=float, help="the threshold of the decision, to compare with the file")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="how much scores may differ (%(default)s)")
    parser.add_argument("--max-steps", type=int, default=STEPS, help="the most steps for one explanation (%(default)s)")
    args = parser.parse_args(arguments)
    try:
        need(args.tolerance >= 0, f"--tolerance must be a number of at least 0, got {args.tolerance}")
        need(args.max_steps > 0, f"--max-steps must be at least 1, got {args.max_steps}")
        return run(args)
    except (BadInput, OSError, ValueError) as error:  # a text that cannot be encoded is a ValueError
        text = in_words(error) if isinstance(error, OSError) else str(error)
        print(f"flipset_check: {ascii(text)[1:-1]}", file=sys.stderr)
        return RESULTS["malformed"]


if __name__ == "__main__":
    sys.exit(main())
