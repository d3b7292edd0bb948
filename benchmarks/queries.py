"""Count queries and rounds: the guided search, the paper's search, ball search, and the floor under all of them.

Run it with `make queries`; it takes some minutes and writes docs/queries.md. Counts are exact and the same every time
(up to the models that the installed version of scikit-learn fits). `--data DIR` adds the tables of a folder.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from math import comb, exp, log
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.cases import cases, in_folder, remembered, shipped
from benchmarks.families import FAMILIES, GRID, instance
from benchmarks.floor import floor_of
from benchmarks.reasons import TABLES, section
from flipset.explain.threads import one_thread
from flipset.layers import remember
from flipset.paper import ball_search, find_optimal
from flipset.paper.families import hidden_feature
from flipset.protocol import Done, advance
from flipset.search.guided import guided_search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.cases import Case, Table
    from flipset.protocol import Flips, Search

PAGE = Path(__file__).parent.parent / "docs" / "queries.md"
BATCHES = (1, 8, 64)
FLOOR_FEATURES = 16
BALL_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Run:
    """One search on one function."""

    queries: int
    rounds: int
    microseconds: float  # of the search itself, per query
    found: frozenset[Flips]


def run(search: Search[tuple[Flips, ...]], oracle: Callable[[Sequence[Flips]], Sequence[float]]) -> Run:
    """Drive a search, timing what is not the model."""
    queries = rounds = 0
    spent = -time.perf_counter()
    step = advance(search)
    while not isinstance(step, Done):
        spent += time.perf_counter()
        queries, rounds = queries + len(step), rounds + bool(step)
        answers = oracle(step)
        spent -= time.perf_counter()
        step = advance(search, answers)
    spent += time.perf_counter()
    return Run(queries, rounds, 1e6 * spent / max(queries, 1), frozenset(step.result))


def each(answer: Callable[[Flips], float]) -> Callable[[Sequence[Flips]], list[float]]:
    return lambda batch: [answer(query) for query in batch]


def geometric(values: Iterable[float]) -> float:
    logs = [log(value) for value in values]
    return exp(sum(logs) / len(logs))


def mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)


# --- families ---------------------------------------------------------------------------------------------------------


def measure_families(dimensions: Sequence[int], seeds: int) -> list[str]:
    lines: list[str] = []
    for d in dimensions:
        counts: dict[tuple[str, str], list[int]] = defaultdict(list)
        floors: dict[str, list[float]] = defaultdict(list)
        for family in FAMILIES:
            for S, delta in GRID:
                for seed in range(seeds):
                    _measure_one(family, S, delta, d, seed, counts, floors)
            print(f"  families, d = {d:,}: {family}", file=sys.stderr, flush=True)
        lines += _family_table(d, counts, floors)
    return lines


def _measure_one(
    family: str,
    S: int,
    delta: int,
    d: int,
    seed: int,
    counts: dict[tuple[str, str], list[int]],
    floors: dict[str, list[float]],
) -> None:
    function = instance(family, S, delta, d, seed)
    paper = run(remember(find_optimal(d)), each(function.label))
    size = next(iter(paper.found)).bit_count()
    counts[family, "paper"].append(paper.queries)
    counts[family, "ball"].append(sum(comb(d, k) for k in range(size + 1)))
    for batch in BATCHES:
        labels = run(guided_search(d, batch=batch), each(function.label))
        assert labels.found == paper.found, (family, S, delta, d, seed, batch)
        counts[family, f"labels {batch}"].append(labels.queries)
        counts[family, f"rounds {batch}"].append(labels.rounds)
        if function.has_margins:
            margins = run(guided_search(d, batch=batch), each(function.answer))
            assert margins.found == paper.found, (family, S, delta, d, seed, batch)
            counts[family, f"margins {batch}"].append(margins.queries)
        if batch == 1 and len(function.places) <= 13:
            table = np.array([function.margin(q) >= 0 for q in range(1 << len(function.places))])
            floor = floor_of(table, seconds=5)
            if floor is not None:
                floors[family].append(labels.queries / floor.queries)


ROWS = {
    "paper": "the paper's search",
    "ball": "ball search (computed)",
    "labels 1": "guided search, labels, batch 1",
    "labels 8": "guided search, labels, batch 8",
    "rounds 8": "... in rounds",
    "labels 64": "guided search, labels, batch 64",
    "rounds 64": "... in rounds",
    "margins 1": "guided search, margins, batch 1",
    "margins 8": "guided search, margins, batch 8",
    "margins 64": "guided search, margins, batch 64",
}


def _family_table(d: int, counts: dict[tuple[str, str], list[int]], floors: dict[str, list[float]]) -> list[str]:
    lines = [
        "",
        f"### d = {d:,}",
        "",
        "| | " + " | ".join(FAMILIES) + " | geo. mean |",
        "|---" * (len(FAMILIES) + 2) + "|",
    ]
    for key, words in ROWS.items():
        cells = [f"{mean(counts[family, key]):,.0f}" if counts[family, key] else "–" for family in FAMILIES]
        every = [value for family in FAMILIES for value in counts[family, key]]
        overall = f"{geometric(every):,.1f}" if all(counts[family, key] for family in FAMILIES) else "–"
        lines.append(f"| {words} | " + " | ".join(cells) + f" | {overall} |")
    cells = [f"{mean(floors[family]):.2f}" if floors[family] else "–" for family in FAMILIES]
    lines.append("| batch 1 ÷ floor, where 13 features matter at most | " + " | ".join(cells) + " | |")
    return lines


def measure_needle(d: int) -> list[str]:
    places = [d * i // 7 for i in range(1, 7)]
    counts = [run(guided_search(d), each(lambda q, i=i: hidden_feature(d, i).flips(q) or -1.0)).queries for i in places]  # type: ignore[misc]
    return ["", f"One relevant feature among {d:,}: {min(counts)} to {max(counts)} queries."]


# --- real models ------------------------------------------------------------------------------------------------------


def measure_tables(tables: Iterable[Table], quantiles: Sequence[float], rows: int) -> list[str]:
    runs: dict[str, dict[str, list[tuple[int, int, Run]]]] = {}
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for table in tables:
        runs[table.name] = defaultdict(list)
        with one_thread():
            for case in cases(table, quantiles, rows):
                _measure_case(case, runs[table.name], ratios)
        print(f"  {table.name}: {len(runs[table.name]['labels 1'])} rows", file=sys.stderr, flush=True)
    return _real_tables(runs, ratios)


def _measure_case(
    case: Case, runs: dict[str, list[tuple[int, int, Run]]], ratios: dict[tuple[str, str], list[float]]
) -> None:
    answer = remembered(case)

    def label(batch: Sequence[Flips]) -> list[float]:
        return [1.0 if margin >= 0 else -1.0 for margin in answer(batch)]

    first = run(guided_search(case.d), answer)
    if not first.found:
        return
    size = next(iter(first.found)).bit_count()
    ball = sum(comb(case.d, k) for k in range(size + 1))
    done = {"paper": run(remember(find_optimal(case.d)), label)}
    if ball <= BALL_MOST:
        done["ball"] = run(ball_search(case.d, batch=1024), answer)
    for batch in BATCHES:
        done[f"margins {batch}"] = run(guided_search(case.d, batch=batch), answer)
        done[f"labels {batch}"] = run(guided_search(case.d, batch=batch), label)
    for name, result in done.items():
        assert result.found == first.found, (case.table, case.quantile, name)
        runs[name].append((size, case.d, result))
    if case.d <= FLOOR_FEATURES:
        floor = floor_of(np.array(answer(range(1 << case.d))) >= 0)
        if floor is not None:
            for kind in ("margins 1", "labels 1"):
                ratios[case.table, kind].append(done[kind].queries / floor.queries)


def _real_tables(
    runs: dict[str, dict[str, list[tuple[int, int, Run]]]], ratios: dict[tuple[str, str], list[float]]
) -> list[str]:
    names = ("ball", "paper", *(f"{kind} {batch}" for kind in ("labels", "margins") for batch in BATCHES))
    lines = ["", "| table | rows | mean d | Δ | " + " | ".join(names) + " |", "|---" * (len(names) + 4) + "|"]
    for table, results in runs.items():
        for size in sorted({s for s, _, _ in results["labels 1"]}):
            chosen = {name: [r for s, _, r in results[name] if s == size] for name in names}
            width = mean(d for s, d, _ in results["labels 1"] if s == size)
            cells = [_cell(chosen[name]) for name in names]
            lines.append(f"| {table} | {len(chosen['paper'])} | {width:.0f} | {size} | " + " | ".join(cells) + " |")
    lines += ["", "| queries ÷ floor (d ≤ 16), batch 1 | rows | margins | labels |", "|---|---|---|---|"]
    for table in dict.fromkeys(name for name, _ in ratios):
        lines.append(
            f"| {table} | {len(ratios[table, 'margins 1'])} | {mean(ratios[table, 'margins 1']):.2f} "
            f"| {mean(ratios[table, 'labels 1']):.2f} |"
        )
    means = [mean(mean(ratios[table, kind]) for table, k in ratios if k == kind) for kind in ("margins 1", "labels 1")]
    lines.append(f"| **mean of the tables** | | **{means[0]:.2f}** | **{means[1]:.2f}** |")
    every = [r for results in runs.values() for s, _, r in results["margins 64"] if s <= 3]
    frugal = [r for results in runs.values() for s, _, r in results["margins 1"] if s <= 3]
    factor = sum(r.queries for r in every) / sum(r.queries for r in frugal)
    spent = statistics.median(r.microseconds for results in runs.values() for _, _, r in results["margins 1"])
    lines += [
        "",
        f"Batch 64 with margins, Δ ≤ 3: {statistics.median(r.rounds for r in every):.0f} rounds in the median, "
        f"{factor:.2f} times the queries of batch 1. "
        f"The search itself takes {spent:.0f} µs a query in the median, on one core.",
    ]
    return lines


def _cell(runs: Sequence[Run]) -> str:
    if not runs:
        return "–"
    return f"{mean(r.queries for r in runs):,.0f} / {statistics.median(r.rounds for r in runs):.0f}"


INTRODUCTION = """# Queries and rounds

Written by `make queries`. All counts are of the search alone: answer and proof. Making every reason minimal comes on
top ([below](#reasons)). Every run was compared with the paper's search and gave the same flip sets.

## Families

Mean queries over the grid (S, Δ) in (3,1) (3,3) (3,5) (4,2) (4,4) (6,3) (8,1) (8,2) (12,2), several seeds each, with
the relevant features scattered among d: *dnf* random terms, *cnf* random clauses with a planted hitting set, *thr* at
least Δ, *low* the paper's lower-bound family, *andor* disjoint clauses, *dlist* decision lists, *ltf* linear
thresholds, *trees* sums of monotone trees. Only *thr*, *ltf* and *trees* have margins. The geometric mean is over all
runs."""

REAL = """
## Real models

Monotone gradient boosting of 200 trees; declined rows; features move to the 5 %, 15 % or 30 % quantile of the training
table. Mean queries / median rounds by table and size. The floor is the size of the smallest proof, by enumeration and
integer programming."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder of further tables with cards")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--dimensions", nargs="*", type=int, default=[50, 100, 1_000, 10_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=15)
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    tables = list(shipped())
    if options.data:
        tables += in_folder(options.data, options.tables)
    lines = [INTRODUCTION]
    if options.dimensions:
        lines += measure_families(options.dimensions, options.seeds)
        lines += measure_needle(1_000_000)
    lines.append(REAL)
    lines += measure_tables(tables, (0.05, 0.15, 0.3), options.rows)
    lines.append(section(options.data, options.tables, seeds=1, rows=5).rstrip())
    text = "\n".join(lines) + "\n"
    print(text)
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
