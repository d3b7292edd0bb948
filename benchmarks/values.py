"""What the cheapest values take beside the sets, row by row: `make values` writes docs/values.md.

    python -m benchmarks.values --data DIR        with tables of a folder, such as heloc

Models of 200 trees (XGBoost) with the table's directions. Ratios compare two runs on the same row, one after the other,
in processor time.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.cases import in_folder, shipped
from benchmarks.local_models import fit
from benchmarks.pages import print_and_write
from flipset import Explainer
from flipset.explain.threads import one_thread
from flipset.space.path import find_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.cases import Table
    from benchmarks.local_models import LocalModel
    from flipset import Counterfactual, Explanation, Space

PAGE = Path(__file__).parent.parent / "docs" / "values.md"
NAMED = ("heloc", "give_me_some_credit")
WITHIN = {"wdbc": 0.3}
"""Tables whose columns stay between two quantiles, so that many changes are needed."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one row took.

    Attributes
    ----------
    size
        The number of changes; None where nothing flips.
    sets, all
        Seconds for the sets and reasons, and with values.
    queries
        Queries for the sets and reasons, and with values.
    flipsets, proved
        The flip sets that are listed, and how many of their costs are proved.
    floor
        Queries about values that no proof can do without.
    """

    size: float | None
    sets: float
    all: float
    queries: tuple[int, int]
    flipsets: int
    proved: int
    floor: int


def explainer_of(local: LocalModel, within: float | None, *, labels: bool) -> Explainer:
    """Return an explainer in the ranges of the population, or between two of its quantiles."""
    space = local.space(within or 0.0)
    return Explainer(Labels(local).predict if labels else local.model, space)


@dataclass(frozen=True, slots=True)
class Labels:
    """A model that says no more than the decision."""

    local: LocalModel

    def predict(self, rows: object) -> object:
        """Return 1 for approved rows, 0 for the others."""
        return (self.local.scores(rows) >= 0.5).astype(float)


def measure(explainer: Explainer, row: object) -> Run:
    """Explain a row without values and with them."""
    start = time.process_time()
    sets = explainer.explain(row, values=False)
    middle = time.process_time()
    whole = explainer.explain(row)
    end = time.process_time()
    proved = [one for one in whole.counterfactuals if one.cost == one.cost_at_least]
    floor = sum(floor_of(explainer.space, whole, one) for one in whole.counterfactuals)
    queries = sets.queries, whole.queries
    return Run(whole.size, middle - start, end - middle, queries, len(whole.counterfactuals), len(proved), floor)


def floor_of(space: Space, explanation: Explanation, one: Counterfactual) -> int:
    """Return how many queries about values every proof of a cheapest counterfactual needs, at least.

    The counterfactual itself, unless the search for sets asked about it. And for each column that could go one step
    less far: a row that is no nearer than that and does not flip. One row cannot do for two columns: it would be no
    nearer than the counterfactual, which flips.
    """
    steps = []
    for change in one.changes:
        feature = space[change.feature]
        path = find_path(feature, change.before, raise_score=not explanation.decision, reference=space.reference)
        assert path is not None, "a column that changes has a path"
        steps.append((change.after == path.values[0], change.after == path.values[-1]))
    return sum(not first for first, _ in steps) + (not all(last for _, last in steps))


def lines_of(name: str, runs: Sequence[Run]) -> Iterator[str]:
    """One line for each number of changes."""
    for size in sorted({run.size for run in runs if run.size is not None}):
        same = [run for run in runs if run.size == size]
        sets, everything = mean(run.sets for run in same), mean(run.all for run in same)
        asked = mean(run.queries[1] - run.queries[0] for run in same)
        floor = mean(run.floor for run in same)
        proved = sum(run.proved for run in same) / sum(run.flipsets for run in same)
        rows = mean(run.proved == run.flipsets for run in same)
        yield (
            f"| {name} | {size} | {len(same)} | {mean(run.flipsets for run in same):.0f} | {1e3 * sets:.0f} "
            f"| {max(0.0, everything / sets - 1):.1f} | {mean(run.queries[0] for run in same):,.0f} | {asked:,.0f} "
            f"| {asked / floor if floor else 1:.1f} | {proved:.0%} | {rows:.0%} |"
        )
    yield f"| {name} | all | {len(runs)} | | | | | | | | {mean(run.queries[1] for run in runs):,.0f} queries a row |"


def page(tables: Sequence[Table], rows: int) -> Iterator[str]:
    """Measure everything, and write it down."""
    yield from INTRODUCTION.splitlines()
    for labels, title in ((False, "With scores"), (True, "With labels alone")):
        yield from ("", f"## {title}", "")
        yield (
            "| table | changes | rows | flip sets | ms, sets | values ÷ sets, time | queries, sets | queries, values "
            "| ÷ floor | costs proved | rows with all proved |"
        )
        yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        for table in tables:
            if labels and table.name in WITHIN:
                continue  # with labels, the sets of such rows take minutes
            local = fit("XGBoost", table)
            explainer = explainer_of(local, WITHIN.get(table.name), labels=labels)
            frame = local.frame.iloc[np.random.default_rng(0).permutation(len(local.frame))[:rows]]
            explainer.explain(frame.iloc[0])  # what is done once for all rows is not measured
            yield from lines_of(table.name, [measure(explainer, frame.iloc[i]) for i in range(len(frame))])


INTRODUCTION = """# What values take

Written by `make values` (`python -m benchmarks.values`). XGBoost, 200 trees; rows of both decisions, explained one by
one. Columns move in the ranges seen, on wdbc between the 30 and 70 % quantiles, so that many changes are needed. Time
is processor time of one run of `explain` with values, beside one without (`values=False`), on the same row.

The *floor* is what any proof of the cheapest values needs, at least: for each flip set the counterfactual itself, and
for each of its columns one row that does not flip, as far as its value is not the first step. No row does for two
columns ([theory](theory.md#values-and-other-distances)). Rows that the search for sets has asked about are not counted.

A row by itself, as here, is asked many queries in few calls: for up to three columns, cells of a grid are cut into many
parts at a time. Where queries count, `batch=1` asks one after the other. All queries of a row (40 rows of each table):

| | loanapp | heloc | give_me_some_credit |
|---|--:|--:|--:|
| one after the other (`batch=1`) | 80 | 88 | 81 |
| in a table | 88 | 101 | 85 |
| by itself, in few calls | 306 | 181 | 90 |

Before values were proved with grown zeros, a row by itself took 140, 137 and 152 (250, 120 and 80 rows).
On wdbc, 3 of 8 flip sets of eight columns were proved within 2,000 queries; now all 8 are, with 190 in the mean. Those
of five columns took 198 queries, and take 45; of six 689, and take 134 (6 flip sets each, one query at a time)."""


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30, help="rows of each table")
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = list(shipped())
    if given.data:
        tables += in_folder(given.data, NAMED)
    with one_thread():
        print_and_write(page(tables, given.rows), given.output)


if __name__ == "__main__":
    main()
