"""Count the queries for reasons: the search alone, the default, and all reasons of the proof.

`benchmarks.queries` writes them into docs/queries.md; `python -m benchmarks.reasons` writes this section alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.cases import cases, in_folder, remembered, shipped
from benchmarks.families import FAMILIES, GRID, instance
from flipset import run
from flipset.explain.threads import one_thread
from flipset.protocol import ask
from flipset.search.guided import guided_search
from flipset.search.solve import MAX_FLIPSETS, Limits, solving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.cases import Table
    from flipset.protocol import Flips
    from flipset.search.result import Flipsets

    Oracle = Callable[[Sequence[Flips]], Sequence[float]]

PAGE = Path(__file__).parent.parent / "docs" / "queries.md"
TABLES = ["heloc", "boston_loanapp", "lending_club_2016", "taiwan_credit", "swd"]
WANTED: dict[str, bool | str] = {"the search alone": False, "five reasons (the default)": True, "all reasons": "all"}
QUANTILES = (0.05, 0.15, 0.3)

HEADING = "## Reasons"
INTRODUCTION = f"""
{HEADING}

Queries of the search with its proof, and of [minimal reasons](theory.md#which-reasons-are-reported) on top: none
(`reasons=False`), five (the default), or those of the whole proof (`reasons="all"`). Batch 1; at most
{MAX_FLIPSETS} flip sets are listed. Ratios are geometric means over all runs of a kind."""


def solved(d: int, oracle: Oracle, reasons: bool | int | str) -> Flipsets:
    """Search with so many reasons."""
    limits = Limits(reasons=reasons, max_flipsets=MAX_FLIPSETS)  # type: ignore[arg-type]
    return run(solving(d, guided_search, limits, answer=ask), oracle)


def ratio(some: Iterable[int], bare: Iterable[int]) -> float:
    """Return the geometric mean of the ratios."""
    return exp(fmean(log(a / b) for a, b in zip(some, bare, strict=True)))


def measure_families(d: int, seeds: int) -> list[str]:
    """Return a table for the families, and one for those of them that have margins."""
    lines = []
    for kind in ("labels", "margins"):
        counts: dict[str, dict[str, list[int]]] = {name: defaultdict(list) for name in WANTED}
        for family in FAMILIES:
            for S, delta in GRID:
                for seed in range(seeds):
                    function = instance(family, S, delta, d, seed)
                    if kind == "margins" and not function.has_margins:
                        continue
                    answer = function.label if kind == "labels" else function.answer
                    for name, wanted in WANTED.items():
                        found = solved(d, lambda batch, answer=answer: list(map(answer, batch)), wanted)  # type: ignore[misc]
                        counts[name][family].append(found.queries)
            print(f"  reasons, {kind}: {family}", file=sys.stderr, flush=True)
        lines += _family_table(f"d = {d}, {kind}", counts)
    return lines


def _family_table(title: str, counts: dict[str, dict[str, list[int]]]) -> list[str]:
    bare = counts["the search alone"]
    names = list(bare)
    lines = ["", f"| {title} | " + " | ".join(names) + " | geo. mean | ÷ alone |", "|---" * (len(names) + 3) + "|"]
    for name, by_family in counts.items():
        every = [count for family in names for count in by_family[family]]
        base = [count for family in names for count in bare[family]]
        cells = [f"{fmean(by_family[family]):,.0f}" for family in names]
        mean = exp(fmean(map(log, every)))
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {mean:,.1f} | {ratio(every, base):.2f} |")
    return lines


def measure_tables(tables: Iterable[Table], rows: int) -> list[str]:
    """Return a table for real models."""
    lines = [
        "",
        "| real models | kind | rows | mean d | mean Δ | alone | five | all | five ÷ alone | all ÷ alone |",
        "|---" * 10 + "|",
    ]
    every: dict[str, list[list[int]]] = defaultdict(list)
    for table in tables:
        runs: dict[str, list[list[Flipsets]]] = defaultdict(list)
        with one_thread():
            for case in cases(table, QUANTILES, rows):
                margins = remembered(case)

                def labels(batch: Sequence[Flips], margins: Oracle = margins) -> list[float]:
                    return [1.0 if margin >= 0 else -1.0 for margin in margins(batch)]

                for kind, oracle in (("margins", margins), ("labels", labels)):
                    found = [solved(case.d, oracle, wanted) for wanted in WANTED.values()]
                    if found[0].flipsets:
                        runs[kind].append(found)
        for kind, results in runs.items():
            counts = [[one.queries for one in found] for found in results]
            every[kind] += counts
            width = fmean(found[0].proof.d for found in results)
            size = fmean(found[0].size or 0 for found in results)
            means = " | ".join(f"{fmean(column):,.0f}" for column in zip(*counts, strict=True))
            lines.append(
                f"| {table.name} | {kind} | {len(results)} | {width:.0f} | {size:.1f} | {means} | {_ratios(counts)} |"
            )
        print(f"  reasons: {table.name}", file=sys.stderr, flush=True)
    return [*lines, *(f"| **all** | {kind} | {len(c)} | | | | | | {_ratios(c)} |" for kind, c in every.items())]


def _ratios(counts: Sequence[Sequence[int]]) -> str:
    alone, five, all_ = zip(*counts, strict=True)
    return f"{ratio(five, alone):.2f} | {ratio(all_, alone):.2f}"


def section(folder: Path | None, names: Sequence[str], seeds: int, rows: int) -> str:
    """Return the section of the page."""
    tables = [*shipped(), *(in_folder(folder, list(names)) if folder else ())]
    return "\n".join([INTRODUCTION, *measure_families(100, seeds), *measure_tables(tables, rows)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder of further tables with cards")
    parser.add_argument("--tables", nargs="*", default=TABLES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=5)
    options = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8").split(f"\n{HEADING}\n")[0]
    PAGE.write_text(text + section(options.data, options.tables, options.seeds, options.rows), encoding="utf-8")


if __name__ == "__main__":
    main()
