"""Replaying an explanation: the model must give the same scores again."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING, Any

from flipset.errors import NotDecided
from flipset.limits import CELLS_AT_ONCE, MOST_QUERIED, MOST_QUERIED_CELLS
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
    from flipset.step_budget import StepBudget

ROWS_AT_ONCE = 10_000
"""The most rows in one call of the model; fewer where rows are wide, so that a call has at most `CELLS_AT_ONCE`."""


def ask_again(
    e: ExplanationData, moves: Moves, terms: Terms, findings: Findings, budget: StepBudget
) -> Flow[Cells, None]:
    """Query the row, the counterfactuals, the contradictions, and the proof."""
    others = [differences(e.row, one.row) for one in e.counterfactuals]
    # Rows are asked by the cells in which they differ, as the search asked them: the model is given the same types.
    pairs = [(differences(e.row, flipped), differences(e.row, kept)) for flipped, kept in e.contradictions]
    asked = _Asked(len(e.row), budget)
    scores = yield from asked.scores([(), *others, *(cells for pair in pairs for cells in pair)])
    _check_score("score", e.score, scores[()], terms, findings)
    decision = scores[()] >= e.threshold
    findings.check(decision == e.decision, f"decision: it is {e.decision!r}, and the model's is {decision!r}")
    findings.checked += ["decision", "score", "row"]
    for i, (one, cells) in enumerate(zip(e.counterfactuals, others, strict=True)):
        _check_score(f"counterfactuals[{i}].score", one.score, scores[cells], terms, findings)
        flips = (scores[cells] >= e.threshold) != e.decision
        findings.check(flips, f"counterfactuals[{i}].row: it does not flip the decision")
        # The claimed score is close to the model's, but may be on the other side of the threshold.
        claimed = (one.score >= e.threshold) != e.decision
        findings.check(claimed, f"counterfactuals[{i}].score: it is {one.score!r}, which does not flip the decision")
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
    if not findings.is_over and moves.units:
        yield from _ask_proof(e, moves, findings, asked)
    if findings.decided:
        findings.checked.append("proof")


class _Asked:
    """Asks rows, each once, in calls of a limited size.

    A counterfactual may also be a row of the proof, and with options the rows of one query may be among those of
    another. So scores are kept, but no more than `CELLS_AT_ONCE` cells of rows: beyond that, a row may be asked again.
    """

    def __init__(self, columns: int, budget: StepBudget) -> None:
        self._rows_at_once = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // columns))
        self._budget = budget
        self._kept: dict[Cells, float] = {}
        self._room = int(CELLS_AT_ONCE)

    def scores(self, rows: Sequence[Cells]) -> Flow[Cells, dict[Cells, float]]:
        """Return the score of each row."""
        scores = {cells: self._kept[cells] for cells in rows if cells in self._kept}
        new = list(dict.fromkeys(cells for cells in rows if cells not in scores))
        for start in range(0, len(new), self._rows_at_once):
            part = new[start : start + self._rows_at_once]
            self._budget.spend(len(part))
            self._budget.look()  # a call of the model may take long
            answers = yield from ask(part)
            for cells, score in zip(part, answers, strict=True):
                scores[cells] = score
                self._room -= 1 + len(cells)
                if self._room > 0:
                    self._kept[cells] = score
        return scores


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


def _ask_proof(e: ExplanationData, moves: Moves, findings: Findings, asked: _Asked) -> Flow[Cells, None]:
    """Query every zero and one of the proof, in parts, and compare."""
    facts = [*((zero, False) for zero in e.proof.zeros), *((one, True) for one in e.proof.ones)]
    # Counted before any row is made: a file of a few bytes may stand for billions of rows.
    sizes = [_size(moves, flips) for flips, _ in facts]
    cells = [rows * width for rows, width in sizes]
    if sum(rows for rows, _ in sizes) > MOST_QUERIED or sum(cells) > MOST_QUERIED_CELLS:
        limits = f"{MOST_QUERIED:,} rows or {MOST_QUERIED_CELLS:,} cells"
        raise NotDecided(f"its queries have more than {limits}")
    if max(cells, default=0) > CELLS_AT_ONCE:
        raise NotDecided(f"one of its queries has more than {CELLS_AT_ONCE:,} cells")
    for part in _parts(facts, cells):
        blocks = [moves.rows(flips) for flips, _ in part]
        scores = yield from asked.scores([cells for block in blocks for cells in block])
        for (flips, expected), block in zip(part, blocks, strict=True):
            block_scores = [scores[cells] for cells in block]
            # A set flips if some row of its block does, so the first such row decides.
            flipping = next((score for score in block_scores if (score >= e.threshold) != e.decision), None)
            score = block_scores[0] if flipping is None else flipping
            moved = moves.names(flips)
            findings.answers.append(Answer(moved, expected, flipping is not None, score))
            word = "flips" if expected else "does not flip"
            problem = (
                f"proof: it says that moving {named(moved)} {word} the decision, and the model's score is {score!r}"
            )
            findings.check((flipping is not None) == expected, problem)


def _size(moves: Moves, flips: Flips) -> tuple[int, int]:
    """Return the number of rows of a query, which `check_block` has bounded, and of the cells that change in each."""
    if moves.ends is not None:
        return 1, flips.bit_count()
    rows, width = 1, 0
    for i in features_of(flips):
        rows *= moves.units[i].block
        width += len(moves.units[i].columns)
    return rows, max(1, width)


def _parts(facts: Sequence[tuple[Flips, bool]], cells: Sequence[int]) -> Iterator[list[tuple[Flips, bool]]]:
    """Split queries into parts of at most `CELLS_AT_ONCE` cells and `ROWS_AT_ONCE` queries."""
    part: list[tuple[Flips, bool]] = []
    total = 0
    for fact, size in zip(facts, cells, strict=True):
        if part and (total + size > CELLS_AT_ONCE or len(part) == ROWS_AT_ONCE):
            yield part
            part, total = [], 0
        part.append(fact)
        total += size
    if part:
        yield part


def list_unchecked(e: ExplanationData, findings: Findings) -> None:
    """List what no check can decide without a new search."""
    if e.counterfactuals:
        findings.not_checked["counterfactuals[].cost_at_least"] = "the proof does not cover that nothing is cheaper"
    findings.not_checked["queries"] = findings.not_checked["rounds"] = (
        "the effort of the search; the answer does not depend on it"
    )
    for name in ("max_changes", "objective"):
        if name not in findings.checked:
            findings.not_checked[name] = "part of the request; no claim depends on it"
    if e.objective == "cost":
        findings.not_checked["objective"] = "the proof does not cover that nothing is cheaper"
