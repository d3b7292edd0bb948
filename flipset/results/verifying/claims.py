"""Checking that the parts of an explanation fit together, and that its claims follow from its proof."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, get_args

from flipset.errors import NotDecided
from flipset.proof import Proof
from flipset.protocol import by_size, everything
from flipset.results.data import Status
from flipset.results.verifying.findings import Findings, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.protocol import Flips
    from flipset.results.data import ExplanationData


def check_shape(e: ExplanationData, findings: Findings, budget: StepBudget) -> None:
    """Check that columns, units and the features of the proof fit together."""
    columns, units = list(e.row), e.moves.units
    for where, one in e.all_counterfactuals:
        budget.spend(len(one.row))
        findings.check(list(one.row) == columns, f"{where}.row: its columns are not those of the row")
    for i, pair in enumerate(e.contradictions):
        for row in pair:
            budget.spend(len(row))
            findings.check(list(row) == columns, f"contradictions[{i}]: its columns are not those of the row")
    for unit in units:
        budget.spend(len(unit.columns) + len(unit.options))
        cells = [column for option in unit.options for column, _ in option.end]
        inside = all(0 <= column < len(columns) for column in (*unit.columns, *cells))
        findings.check(inside and bool(unit.options), f"moves: {unit.name!r} has columns that the row does not have")
    d = max(1, len(units))
    findings.check(e.proof.d == d, f"proof.d: it is about {e.proof.d:,} features, and {len(units):,} can move")
    if not units:
        findings.check(e.proof == Proof(1, (1,), ()), "proof: nothing can move, so it must say that nothing flips")
    elif e.proof.weights is None:
        findings.check(all(unit.weight == 1 for unit in units), "proof.weights: it has none, and the units have")
    else:
        own = [float(unit.weight) for unit in units]
        findings.check([*map(float, e.proof.weights)] == own, "proof.weights: they are not those of the units")


def check_claims(e: ExplanationData, findings: Findings, budget: StepBudget) -> None:
    """Compare status, bounds, flip sets and reasons with the proof."""
    proof, units = e.proof, e.moves.units
    is_status = findings.check(e.status in get_args(Status), f"status: there is no status {e.status!r}")
    side = "at or above" if e.score >= e.threshold else "below"
    sides = f"decision: it is {e.decision!r}, and the score {e.score!r} is {side} the threshold {e.threshold!r}"
    findings.check(same(e.decision, e.score >= e.threshold), sides)
    whole = everything(proof.d)
    ones = proof.ones
    # Where nothing can move, the zero of the proof stands for the row itself and is no reason.
    zeros = proof.zeros if units else ()
    _check_sets("flipsets", e.flipsets, ones, e, findings, budget)
    _check_reasons(e, [whole & ~zero for zero in zeros], findings, budget)
    upper = proof.upper()
    findings.check(same(e.upper, upper), f"upper: it is {e.upper!r}, and the proof says {upper!r}")
    if not is_status:
        return
    if e.status in ("optimal", "incomplete"):
        findings.check(bool(ones), f"status: it is {e.status} without a flip set")
        for name in ("size", "lower"):
            value = getattr(e, name)
            findings.check(same(value, upper), f"{name}: it is {value!r}, and the proof says {upper!r}")
    else:
        findings.check(e.size is None, f"size: it is {e.size!r}, and the status is {e.status!r}")
    if e.status == "none":
        findings.check(not ones, "status: it is none, and the proof has a flip set")
    if e.status == "unproved":
        findings.check(e.lower is None, f"lower: it is {e.lower!r}, and nothing is proved")
    else:
        findings.check(not e.contradictions, f"contradictions: there are some, and the status is {e.status!r}")
    if e.status == "stopped":
        findings.check(len({proof.weigh(one) for one in ones}) <= 1, "flipsets: they are not of one size")
    _check_limit(e, findings)
    findings.checked += ["status", "size", "lower", "upper", "flipsets", "reasons"]


def _check_sets(
    name: str,
    claimed: Sequence[Sequence[str]],
    sets: Sequence[Flips],
    e: ExplanationData,
    findings: Findings,
    budget: StepBudget,
) -> None:
    keyed: list[tuple[tuple[int, list[int]], Flips]] = []
    for flips in sets:
        budget.spend(20 + e.proof.d // 16)
        keyed.append((by_size(flips), flips))
    # The order is part of the claim: explanations list sets by size and then by features, whatever the proof does.
    keyed.sort(key=lambda one: one[0])
    expected = []
    for _, flips in keyed:
        budget.spend(20 + e.proof.d // 16)
        expected.append(e.moves.names(flips))
    findings.check(len(set(sets)) == len(sets), f"{name}: the proof has one of them twice")
    findings.check([*map(tuple, claimed)] == expected, f"{name}: they are not those of the proof, in their order")


def _check_reasons(e: ExplanationData, reasons: Sequence[Flips], findings: Findings, budget: StepBudget) -> None:
    """Compare the reasons with the proof. Those that are listed may be some of the proof's, in their order."""
    if len(e.reasons) == len(reasons):
        _check_sets("reasons", e.reasons, reasons, e, findings, budget)
        return
    for _ in (*e.reasons, *reasons):
        budget.spend(20 + e.proof.d // 16)
    listed = {e.moves.names(flips): flips for flips in reasons}
    findings.check(len(listed) == len(reasons), "reasons: the proof has one of them twice")
    claimed = [listed.get(tuple(names)) for names in e.reasons]
    problem = "reasons: they are not some of those of the proof, in their order"
    if findings.check(None not in claimed, problem):
        keys = [by_size(flips) for flips in claimed if flips is not None]
        findings.check(all(a < b for a, b in pairwise(keys)), problem)


def _check_limit(e: ExplanationData, findings: Findings) -> None:
    """Compare the answer with the largest number of changes that was searched."""
    most = e.max_changes
    if e.objective is not None:
        findings.check(e.objective in ("size", "cost"), f"objective: there is no objective {e.objective!r}")
    if most is not None and e.status == "none" and e.lower is not None:
        ok = same(e.lower, most + 1)
        findings.check(ok, f"lower: it is {e.lower!r}, and sets of up to {most} changes were considered")
        findings.checked.append("max_changes")
    if most is None and e.status == "none" and e.lower is not None:
        # A bound of 1 or less says nothing, and would pass for a proof that nothing flips.
        findings.check(e.lower >= 2, f"lower: it is {e.lower!r}, and the file has no limit on the number of changes")
    if most is not None and e.status in ("optimal", "incomplete"):
        fewest = min(map(len, e.flipsets), default=0)
        findings.check(fewest <= most, f"max_changes: it is {most}, and {fewest} changes are needed")
    if e.objective == "cost" and e.status in ("optimal", "incomplete"):
        findings.check(most is not None, "max_changes: the cheapest of all is that of some number of changes at most")


def check_proof(e: ExplanationData, findings: Findings, budget: StepBudget) -> None:
    """Decide by combinatorics whether the proof forces the claim; raise `NotDecided` when the budget is spent."""
    proof = e.proof
    if e.status == "unproved":
        findings.not_checked["proof"] = "an unproved explanation has none"
        return
    if e.status == "optimal" or (e.status == "none" and e.lower is None):
        forced = proof.check(steps=budget)
        if forced is None:
            raise NotDecided(budget.why)
        findings.check(forced, "proof: its zeros and ones leave another answer open")
        return
    if e.status == "incomplete":
        # Not all flip sets are listed: the proof is about their size.
        forced = proof.check_size(steps=budget)
        if forced is None:
            raise NotDecided(budget.why)
        findings.check(forced, "proof: its zeros and ones leave open whether a smaller set flips")
        return
    # A stopped search claims no complete answer: the proof must only be possible, and support the bound.
    consistent = proof.is_consistent(steps=budget)
    if consistent is None:
        raise NotDecided(budget.why)
    findings.check(consistent, "proof: no monotone model agrees with its zeros and ones")
    if e.lower is not None:
        open_weight = proof.weight_below(e.lower, steps=budget)
        problem = f"lower: it is {e.lower!r}, and the proof shows no more than {open_weight!r}"
        findings.check(open_weight is None, problem)
