"""Checking which options are listed: some of all, larger ones that are minimal, and the curve of costs.

A larger option must not pass for a smallest one, nor for a minimal one if a part of it is enough. What follows from the
proof is checked here, and `replay` asks the model about every larger option with one feature less.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from flipset.results.verifying.findings import named, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.protocol import Flips
    from flipset.results.data import ExplanationData
    from flipset.results.verifying.findings import Findings


def check_options(e: ExplanationData, findings: Findings, budget: StepBudget) -> None:
    """Check the number of options, the larger ones and the curve, as far as the file and its proof go."""
    if e.max_options is None:
        findings.check(not e.diverse, "diverse: it is true, and all options are listed")
    findings.check(not (e.objective == "cost" and e.max_options), "max_options: the objective 'cost' has one option")
    findings.checked.append("max_options")
    places = {unit.name: 1 << i for i, unit in enumerate(e.moves.units)}
    _check_larger(e, places, findings, budget)
    _check_curve(e, places, findings, budget)
    findings.checked += ["larger", "curve"]
    list_unchecked_options(e, findings)


def list_unchecked_options(e: ExplanationData, findings: Findings) -> None:
    """List what only a new search could show about the choice of options."""
    for name, asked, why in (
        ("diverse", e.max_options is not None, "which options were chosen: those left out may cost less"),
        ("more", e.more is not None, "whether other minimal options come before: the proof does not cover them"),
        ("larger_end", e.more is not None, "whether other minimal options come before: the proof does not cover them"),
        ("curve_end", bool(e.curve), "the proof does not cover that nothing is cheaper"),
    ):
        if asked:
            findings.not_checked[name] = why
        else:
            findings.checked.append(name)


def _flips(names: Sequence[str], places: dict[str, int]) -> Flips:
    return sum({places.get(name, 0) for name in names})


def _check_larger(e: ExplanationData, places: dict[str, int], findings: Findings, budget: StepBudget) -> None:
    if e.more is None or e.status != "optimal":
        findings.check(not e.larger, "larger: there are some, and they were not asked for, or nothing is proved")
        findings.check(e.larger_end is None, f"larger_end: it is {e.larger_end!r}, and there is no list that ends")
        return
    count = len(e.larger)
    ends = e.larger_end is not None and count <= e.more and (e.larger_end != "enough" or count == e.more)
    findings.check(ends, f"larger_end: it is {e.larger_end!r}, with {count:,} of {e.more:,}")
    sets = [_flips(one.flipset, places) for one in e.larger]
    for i, (one, flips) in enumerate(zip(e.larger, sets, strict=True)):
        where = f"larger[{i}].flipset"
        budget.spend(20 + len(e.proof.ones) + len(e.proof.zeros) + count)
        larger = e.size is not None and e.proof.weigh(flips) > e.size
        findings.check(larger, f"{where}: {named(one.flipset)} is not larger than the smallest options")
        inside = next((names for names in e.flipsets if {*names} <= {*one.flipset}), None)
        findings.check(inside is None, f"{where}: it is not minimal, because {named(inside or ())} is enough")
        minimal = all(flips == other or flips & other != other for other in sets) and sets.count(flips) == 1
        findings.check(minimal, f"{where}: it is there twice, or contains another one")
        _check_meets(where, flips, e, findings)
        few = e.max_changes is None or len(one.flipset) <= e.max_changes
        findings.check(few, f"{where}: it has more than {e.max_changes} changes")
    keys = [(e.proof.weigh(flips), one.cost) for one, flips in zip(e.larger, sets, strict=True)]
    in_order = all(a <= b for a, b in pairwise(keys))
    findings.check(in_order, "larger: they are not in order of size, and then of cost")


def _check_meets(where: str, flips: Flips, e: ExplanationData, findings: Findings) -> None:
    """Check that a set lies in no zero of the proof."""
    flipping = all(flips & ~zero for zero in e.proof.zeros)
    findings.check(flipping, f"{where}: it does not flip the decision, says the proof")


def _check_curve(e: ExplanationData, places: dict[str, int], findings: Findings, budget: StepBudget) -> None:
    if not e.curve:
        findings.check(e.curve_end is None, f"curve_end: it is {e.curve_end!r}, and there is no curve")
        return
    counts = e.status == "optimal" and e.proof.weights is None and e.objective != "cost"
    if not findings.check(counts, "curve: it is about numbers of changes in proved options, and these are not"):
        return
    findings.check(e.curve_end is not None, "curve_end: it must say why the curve ends")
    first = e.curve[0].counterfactual
    begins = bool(e.counterfactuals) and first.cost == e.counterfactuals[0].cost
    findings.check(begins, "curve[0]: it does not cost what the cheapest of the smallest options costs")
    for i, point in enumerate(e.curve):
        one = point.counterfactual
        budget.spend(20 + len(e.proof.zeros) + len(e.counterfactuals) + len(e.larger))
        in_turn = e.size is not None and same(point.changes, int(e.size) + i)
        findings.check(in_turn, f"curve[{i}].changes: it is {point.changes}, and not one more than before")
        few = len(one.flipset) <= min(point.changes, e.max_changes or point.changes)
        findings.check(few, f"curve[{i}].counterfactual.flipset: it has more than {point.changes} changes")
        _check_meets(f"curve[{i}].counterfactual.flipset", _flips(one.flipset, places), e, findings)
        told = (*e.counterfactuals, *e.larger, *(other.counterfactual for other in e.curve))
        bounds = all(other.cost >= one.cost_at_least for other in told if len(other.flipset) <= point.changes)
        findings.check(bounds, f"curve[{i}].counterfactual.cost_at_least: another option on file costs less")
    falls = all(a.counterfactual.cost >= b.counterfactual.cost for a, b in pairwise(e.curve))
    findings.check(falls, "curve: more changes cost more, and need not be made")
