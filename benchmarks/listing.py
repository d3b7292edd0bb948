"""Too many flip sets: the time to prove the size and list some hundreds, against ball search in the same run.

    python -m benchmarks.listing        measures, and writes docs/listing.md

Ball search asks every set up to the size of the answer. Both ask the same additive score of binary columns: as a model
on rows, with the default settings of `Explainer`, and as a function of sets, in batches of 64. Times are processor
seconds, so that other programs on the machine matter little; the ratio is what is compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset import Explainer, Feature, Space, find_flipsets, run
from flipset.answers.row_scores import RowScores
from flipset.explain.request import BATCH as ROW_BATCH
from flipset.explain.request import request_for
from flipset.layers import remember
from flipset.paper import ball_search
from flipset.protocol import features_of, relay
from flipset.space.moves import find_moves

if TYPE_CHECKING:
    from flipset.protocol import Flips, Flow
    from flipset.space.cells import Cells

BATCH = 64
OUTPUT = Path(__file__).parent.parent / "docs" / "listing.md"

SetFunction = Callable[[Sequence[frozenset[int]]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Case:
    """A function in which `size` of `d` features are needed."""

    name: str
    d: int
    size: int
    function: SetFunction
    weights: Sequence[float]
    gives_labels: bool


def additive(weights: Sequence[float], size: int, *, gives_labels: bool) -> SetFunction:
    """Return an additive score in which `size` changes are needed, and only just more than one fewer could reach."""
    threshold = sum(sorted(weights, reverse=True)[: size - 1]) + 1e-6

    def margins(sets: Sequence[frozenset[int]]) -> list[float]:
        return [sum([weights[i] for i in one]) - threshold for one in sets]

    return (lambda sets: [1.0 if one >= 0 else -1.0 for one in margins(sets)]) if gives_labels else margins


def cases() -> list[Case]:
    """Return all cases."""
    random = Random(5)
    unequal = [random.uniform(0.5, 1.5) for _ in range(30)]
    return [
        Case(f"{name}, {'labels' if labels else 'margins'}", d, size, additive(w, size, gives_labels=labels), w, labels)
        for name, d, size, w in (
            ("30 features, equal weights", 30, 5, [1.0] * 30),
            ("30 features, unequal weights", 30, 5, unequal),
            ("12 features, equal weights", 12, 6, [1.0] * 12),
            ("14 features, equal weights", 14, 7, [1.0] * 14),
        )
        for labels in (False, True)
    ]


def measure_rows(case: Case) -> str:
    """Measure one case as a model on rows; return a line of the table."""
    weights = np.array(case.weights)
    threshold = float(np.sort(weights)[::-1][: case.size - 1].sum() + 1e-6)
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(case.d)])

    def model(rows: Any) -> Any:
        scores = np.asarray(rows, dtype=float) @ weights
        return (scores >= threshold).astype(float) if case.gives_labels else scores

    explainer = Explainer(model, space, threshold=0.5 if case.gives_labels else threshold)
    row: Any = (0,) * case.d
    start = time.process_time()
    e = explainer.explain(row)
    own = time.process_time() - start
    assert e.status == "incomplete"
    assert e.size == case.size
    job = explainer._job(space, request_for(space), [row])
    start = time.process_time()
    ask = job.scorer().ask
    run(ball_on_rows(space, row, explainer.threshold), lambda cells: ask([(row, one) for one in cells]))
    return line(case, len(e.flipsets), len(e.proof.zeros), e.queries, own, time.process_time() - start)


def ball_on_rows(space: Space, row: Any, threshold: float) -> Flow[Cells, tuple[Flips, ...]]:
    """Run ball search about the flip sets of a row."""
    scores = RowScores(threshold)
    return (yield from remember(_ball_on_rows(space, row, scores), scores.scores))


def _ball_on_rows(space: Space, row: Any, scores: RowScores) -> Flow[Cells, tuple[Flips, ...]]:
    yield from scores.begin()
    moves = find_moves(space, row, raise_score=not scores.decision)
    return (yield from relay(ball_search(len(moves.units), batch=ROW_BATCH), partial(scores.blocks, moves)))


def measure_sets(case: Case) -> str:
    """Measure one case as a function of sets; return a line of the table."""
    start = time.process_time()
    result = find_flipsets(case.function, case.d, batch=BATCH)
    own = time.process_time() - start
    assert result.status == "incomplete"
    assert result.size == case.size
    assert result.proof.check_size(case.d)
    start = time.process_time()
    run(
        ball_search(case.d, batch=BATCH),
        lambda batch: case.function([frozenset(features_of(query)) for query in batch]),
    )
    ball = time.process_time() - start
    return line(case, len(result.flipsets), len(result.proof.zeros), result.queries, own, ball)


def line(case: Case, listed: int, zeros: int, queries: int, own: float, ball: float) -> str:
    """Return a line of a table."""
    asked = sum(comb(case.d, k) for k in range(case.size + 1))
    return (
        f"| {case.name} | {case.size} | {listed:,} | {zeros:,} | {queries:,} | {asked:,} | {own:.2f} | {ball:.2f} | "
        f"{own / ball:.1f} |"
    )


TABLE = """| function | changes | listed | zeros | queries | of ball search | seconds | of ball search | ratio |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""

HEAD = """# Too many flip sets

An additive score has a great many smallest flip sets. By default, 500 of them are listed, and the size is proved:
[theory](theory.md#when-there-are-too-many-flip-sets) says what that means. This page compares the time that it takes
with ball search, which asks every set up to that size. `python -m benchmarks.listing` writes it.

"""

FOOT = """
Seconds are processor seconds in one run. They include the proof and 100 minimal reasons, and for rows the values of all
listed flip sets. A function of sets takes about a microsecond a query here. The longer a model takes, the closer the
ratio comes to that of the queries.
"""


def main() -> None:
    """Measure all cases and write the page."""
    parts = [HEAD]
    for title, measure in (("A model on rows", measure_rows), ("A function of sets", measure_sets)):
        lines = [f"{measure(case)}\n" for case in cases()]
        print(title, *lines, sep="\n", flush=True)
        parts += [f"\n## {title}\n\n", TABLE, *lines]
    OUTPUT.write_text("".join([*parts, FOOT]))


if __name__ == "__main__":
    main()
