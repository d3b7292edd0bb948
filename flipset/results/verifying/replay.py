"""The model says again what it is claimed to have said."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any

from flipset.protocol import ask, features_of
from flipset.results.verification import Answer
from flipset.results.verifying.findings import Findings, Terms, differences, named, same
from flipset.space.feature import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset.protocol import Flips, Flow
    from flipset.results.data import ExplanationData
    from flipset.space import Space
    from flipset.space.feature import Value
    from flipset.space.moves import Cells, Moves

ROWS_AT_ONCE = 10_000
"""Rows that the model is given in one call."""

MOST_ASKED = 5_000_000
"""Rows that a verification may ask in all."""


def ask_again(e: ExplanationData, moves: Moves, terms: Terms, found: Findings) -> Flow[Cells, None]:
    """Ask the row, the counterfactuals, the contradictions, and the questions of the proof."""
    others = [differences(e.row, one.row) for one in e.counterfactuals]
    pairs = [(differences(e.row, turned), differences(e.row, stays)) for turned, stays in e.contradictions]
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


def _check_score(name: str, said: float, score: float, terms: Terms, found: Findings) -> None:
    close = isclose(said, score, rel_tol=terms.tolerance, abs_tol=terms.tolerance)
    found.check(close, f"{name}: it is {said!r}, and the model says {score!r}")


def _check_further(
    where: str, pair: tuple[Mapping[str, Value], Mapping[str, Value]], space: Space, e: ExplanationData, found: Findings
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


def _ask_proof(e: ExplanationData, moves: Moves, terms: Terms, found: Findings) -> Flow[Cells, None]:
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
            told = f"proof: it says that moving {named(moved)} {word} the decision, and the model's score is {score!r}"
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


def list_unchecked(e: ExplanationData, found: Findings) -> None:
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
