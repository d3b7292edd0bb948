"""Replaying an explanation: the model must give the same scores again."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any

from flipset.protocol import features_of
from flipset.results.verifying.findings import Findings, Terms, differences, kinds_of_options, named, same
from flipset.results.verifying.proof_queries import Asked, ask_proof, ask_sets
from flipset.space.feature import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flipset.boundary.step_budget import StepBudget
    from flipset.protocol import Flips, Flow
    from flipset.results.data import ExplanationData
    from flipset.results.verification import Answer
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.feature import Value
    from flipset.space.moves import Moves


def ask_again(
    e: ExplanationData, moves: Moves, terms: Terms, findings: Findings, budget: StepBudget
) -> Flow[Cells, None]:
    """Query the row, the counterfactuals, the contradictions, and the proof."""
    told = list(e.all_counterfactuals)
    others = [differences(e.row, one.row) for _, one in told]
    # Rows are asked by the cells in which they differ, as the search asked them: the model is given the same types.
    pairs = [(differences(e.row, flipped), differences(e.row, kept)) for flipped, kept in e.contradictions]
    asked = Asked(len(e.row), budget)
    scores = yield from asked.scores([(), *others, *(cells for pair in pairs for cells in pair)])
    _check_score("score", e.score, scores[()], terms, findings)
    decision = scores[()] >= e.threshold
    findings.check(decision == e.decision, f"decision: it is {e.decision!r}, and the model's is {decision!r}")
    findings.checked += ["decision", "score", "row"]
    for (where, one), cells in zip(told, others, strict=True):
        _check_score(f"{where}.score", one.score, scores[cells], terms, findings)
        flips = (scores[cells] >= e.threshold) != e.decision
        findings.check(flips, f"{where}.row: it does not flip the decision")
        # The claimed score is close to the model's, but may be on the other side of the threshold.
        claimed = (one.score >= e.threshold) != e.decision
        findings.check(claimed, f"{where}.score: it is {one.score!r}, which does not flip the decision")
    for i, (first, second) in enumerate(pairs):
        # The second row is at least as far, so its score should be at least as near to the other decision.
        further = scores[second] > scores[first] if e.decision else scores[second] < scores[first]
        findings.check(further, f"contradictions[{i}]: the model's answers do not contradict each other")
        if terms.space is not None:
            _check_further(f"contradictions[{i}]", e.contradictions[i], terms.space, e, findings)
    findings.checked.append("contradictions")
    if e.contradictions and terms.space is None:
        findings.not_checked["contradictions"] = (
            "that the second row is as far in every direction: the space is not given"
        )
    if e.status == "unproved":
        findings.check(False, "status: it is unproved, for the model contradicted the directions")
        return
    unknown = () if terms.space is not None or e.rules is None else e.rules.functions
    if unknown:
        findings.leave_undecided(
            f"{named(unknown)} is computed by a function, which is not in the file: its queries need the space"
        )
    elif not findings.is_over and moves.units:
        yield from _compare_proof(e, moves, findings, asked)
        yield from _compare_larger(e, moves, findings, asked)
    if findings.decided:
        findings.checked.append("proof")


def _check_score(name: str, claimed: float, score: float, terms: Terms, findings: Findings) -> None:
    close = isclose(claimed, score, rel_tol=terms.tolerance, abs_tol=terms.tolerance)
    findings.check(close, f"{name}: it is {claimed!r}, and the model says {score!r}")


def _check_further(
    where: str,
    pair: tuple[Mapping[str, Value], Mapping[str, Value]],
    space: Space,
    e: ExplanationData,
    findings: Findings,
) -> None:
    """Check that the second row is at least as far as the first in every direction, and equal elsewhere."""
    for feature in space.features:
        first, second = pair[0][feature.name], pair[1][feature.name]
        if same(first, second):
            continue
        further = feature.ordered and feature.is_ordinary(first) and feature.is_ordinary(second)
        if further:
            places = [_place(feature.levels, value) for value in (first, second)]
            rising = (feature.direction == 1) != e.decision
            further = None not in places and (places[0] < places[1] if rising else places[0] > places[1])
        if not findings.check(further, f"{where}: {feature.name!r} is not as far in the second row as in the first"):
            return


def _place(levels: Sequence[Value], value: Value) -> Any:
    if levels:
        return levels.index(value) if value in levels else None
    return value if is_number(value) else None


def _compare_proof(e: ExplanationData, moves: Moves, findings: Findings, asked: Asked) -> Flow[Cells, None]:
    """Query every zero and one of the proof, and compare."""

    def compare(answer: Answer) -> None:
        findings.answers.append(answer)
        word = "flips" if answer.expected else "does not flip"
        findings.check(
            answer.flips == answer.expected,
            f"proof: it says that moving {named(answer.moved)} {word} the decision, and the model's score is "
            f"{answer.score!r}",
        )

    yield from ask_proof(e, moves, e.threshold, asked, compare)


def _compare_larger(e: ExplanationData, moves: Moves, findings: Findings, asked: Asked) -> Flow[Cells, None]:
    """Query every larger option without one of its features: if that flips, the option is not minimal."""
    parts: dict[Flips, bool] = {}
    for one in e.larger:
        flips = moves.flips(one.flipset)
        parts |= {flips & ~(1 << i): False for i in features_of(flips)}

    def compare(answer: Answer) -> None:
        problem = f"larger: moving {named(answer.moved)} is enough, so that an option with more changes is not minimal"
        findings.check(not answer.flips, problem)

    yield from ask_sets(list(parts.items()), e, moves, e.threshold, asked, compare)


def list_unchecked(e: ExplanationData, findings: Findings) -> None:
    """List what no check can decide without a new search."""
    for each in kinds_of_options(e):
        findings.not_checked[f"{each}.cost_at_least"] = "the proof does not cover that nothing is cheaper"
    if e.id is None:
        findings.checked.append("id")
    else:
        findings.not_checked["id"] = "whose row it is; the model cannot say"
    findings.not_checked["queries"] = findings.not_checked["rounds"] = (
        "the effort of the search; the answer does not depend on it"
    )
    if e.status == "incomplete":
        findings.not_checked["flipsets"] = "which of the smallest flip sets are listed; there are others"
    for name in ("max_changes", "objective"):
        if name not in findings.checked:
            findings.not_checked[name] = "part of the request; no claim depends on it"
    if e.objective == "cost":
        findings.not_checked["objective"] = "the proof does not cover that nothing is cheaper"
