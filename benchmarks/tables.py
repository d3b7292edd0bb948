"""How fast tables are explained, as ratios in one run: `make tables` writes docs/tables.md.

Times are CPU times of one process on one thread. What is compared is measured in turns, and medians are taken
(`benchmarks/timing.py`). `--data DIR` adds tables of a folder; `--quick` takes one library, one turn and fewer rows.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.ball import ball_search
from benchmarks.cases import in_folder, shipped
from benchmarks.local_models import fit, libraries_here, rows_like
from benchmarks.pages import print_and_write
from benchmarks.timing import against_bare, in_turns, most_memory, timed
from flipset.errors import FlipsetError
from flipset.explain.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.ball import Found
    from benchmarks.cases import Table
    from benchmarks.local_models import LocalModel
    from flipset import Explainer

PAGE = Path(__file__).parent.parent / "docs" / "tables.md"
MOST = 4  # changes, in the comparison with ball search
BOUNDS = {"loanapp": (0.4, 0.7), "heloc": (0.3, 0.7), "wdbc": (0.1, 0.25), "give_me_some_credit": (0.4, 0.7)}
"""For each table the quantile of its bounds, and the share of its rows that is declined.

They are chosen so that rows with one to four changes occur.
"""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes
    ----------
    rows
        The rows of a table.
    queries
        The most queries of ball search for one figure. Another library takes fewer, by how slow its model is.
    turns
        How often what is compared is measured.
    libraries
        The libraries of the models.
    lengths
        The lengths of growing tables.
    singles
        The rows that are explained one by one.
    """

    rows: int = 1_000
    queries: int = 5_000_000
    turns: int = 3
    libraries: tuple[str, ...] = ("XGBoost", "LightGBM")
    lengths: tuple[int, ...] = (10_000, 100_000)
    singles: int = 60

    def queries_of(self, library: str) -> int:
        """Return the most queries for a model of a library."""
        return self.queries if library == "XGBoost" else self.queries // 6


FULL = Effort()
QUICK = Effort(queries=1_000_000, turns=1, libraries=("XGBoost",), lengths=(1_000, 5_000), singles=20)

SETS: dict[str, Any] = {"values": False, "reasons": False}
REASONS: dict[str, Any] = {"values": False}


def by_changes(models: Sequence[LocalModel], effort: Effort) -> Iterator[str]:
    """Ball search, sets, reasons and values, by the number of changes."""
    yield (
        "| table, model | features | changes | rows | queries: ball | sets | + reasons | all "
        "| ball ÷ sets, time | ball on frames ÷ sets | sets ÷ bare | + reasons ÷ bare | all ÷ bare "
        "| ms a row: sets | + reasons | all |"
    )
    yield "|---|" + "--:|" * 15
    for model in models:
        explainer = model.explainer(*BOUNDS[_table_of(model)])
        for changes, rows in _by_size(model, explainer, effort):
            yield _line(model, explainer, changes, rows, effort)


def _line(model: LocalModel, explainer: Explainer, changes: int, rows: Any, effort: Effort) -> str:
    n = len(rows)
    turns = in_turns(
        model.model,
        {
            "ball": lambda: ball(model, explainer, rows),
            "ball on frames": lambda: ball(model, explainer, rows, in_frames=True),
            "sets": lambda: explainer.explain_table(rows, max_flipsets=None, **SETS),
            "reasons": lambda: explainer.explain_table(rows, **REASONS),
            "all": lambda: explainer.explain_table(rows),
        },
        effort.turns,
    )
    _check_equal(model, turns["ball"].result, turns["sets"].result)
    ours = [turns[name] for name in ("sets", "reasons", "all")]
    queries = [turns["ball"].result.queries, *(turn.result.queries for turn in ours)]
    cells = [
        model.name,
        f"{rows.shape[1]}",
        f"{changes}",
        f"{n:,}",
        *(f"{asked / n:,.0f}" for asked in queries),
        *(f"{turns[name].seconds / ours[0].seconds:.2g}" for name in ("ball", "ball on frames")),
        *(f"{turn.ratio:.1f}" for turn in ours),
        *(f"{turn.seconds / n * 1e3:.2g}" for turn in ours),
    ]
    return f"| {' | '.join(cells)} |"


def ball(model: LocalModel, explainer: Explainer, rows: Any, *, in_frames: bool = False) -> Found:
    """Search the sets of the rows of a frame by ball search; the model is given matrices, or frames."""
    cells = model.matrix(rows)

    def flips(asked: Any) -> Any:
        scores = model.scores(type(rows)(asked, columns=rows.columns) if in_frames else asked)
        return scores >= scores.dtype.type(explainer.threshold)

    return ball_search(flips, cells, model.best(cells, explainer.space), MOST)


def _check_equal(model: LocalModel, found: Found, explanations: Any) -> None:
    places = {name: i for i, name in enumerate(model.frame.columns)}
    for sets, one in zip(found.sets(), explanations, strict=True):
        assert not isinstance(one, FlipsetError)
        assert {frozenset(places[name] for name in names) for names in one.flipsets} == sets


def _by_size(model: LocalModel, explainer: Explainer, effort: Effort) -> Iterator[tuple[int, Any]]:
    """Yield declined rows for each number of changes: as many as there are, and as the effort allows."""
    d, most = model.frame.shape[1], effort.queries_of(model.library)
    pool = model.declined(min(12_000, max(300, 4 * most // comb(d, min(MOST, d)))), explainer.threshold)
    sizes = ball(model, explainer, pool).sizes
    for changes in range(1, MOST + 1):
        asked = sum(comb(d, size) for size in range(1, changes + 1))
        rows = pool[sizes == changes].head(min(effort.rows, max(10, most // asked)))
        if len(rows):
            yield changes, rows


def _table_of(model: LocalModel) -> str:
    return model.name.split(",")[0]


def whole_tables(models: Sequence[LocalModel], effort: Effort) -> Iterator[str]:
    """All decisions of a table as they come, in the ranges that the table has."""
    yield "| table, model | features | queries a row | ms a row | all ÷ bare | sets + reasons ÷ bare | sets ÷ bare |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for model in models:
        explainer, rows = model.explainer(), rows_like(model.frame, effort.rows)
        turns = in_turns(
            model.model,
            {
                "all": partial(explainer.explain_table, rows),
                "reasons": partial(explainer.explain_table, rows, **REASONS),
                "sets": partial(explainer.explain_table, rows, **SETS),
            },
            effort.turns,
        )
        whole = turns["all"]
        ratios = " | ".join(f"{turn.ratio:.1f}" for turn in turns.values())
        n, d = rows.shape
        yield f"| {model.name} | {d} | {whole.result.queries / n:.0f} | {whole.seconds / n * 1e3:.2g} | {ratios} |"


def growth(table: Table, library: str, effort: Effort) -> Iterator[str]:
    """Longer and longer tables: time a row, and the memory of a process that does nothing else."""
    yield f"| {table.name}, {library}: rows | µs a row | ÷ the shortest | most memory of the process |"
    yield "|--:|--:|--:|--:|"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        figures = process.submit(grow, table, library, effort).result()
    for n, each, most in figures:
        yield f"| {n:,} | {each * 1e6:,.0f} | {each / figures[0][1]:.2f} | {most:,.0f} MB |"


def grow(table: Table, library: str, effort: Effort) -> list[tuple[int, float, float]]:
    """Return rows, seconds a row and megabytes, for one length after the other."""
    model = fit(library, table)
    explainer = model.explainer()
    figures = []
    with one_thread():
        explainer.explain_table(rows_like(model.frame, min(effort.lengths)).head(200))
        for n in effort.lengths:
            rows = rows_like(model.frame, n)
            seconds, _ = timed(partial(explainer.explain_table, rows))
            figures.append((n, seconds / n, most_memory()))
    return figures


def one_row(models: Sequence[LocalModel], effort: Effort) -> Iterator[str]:
    """One row at a time, warm, against the calls that it makes."""
    yield "| table, model | changes | rows | calls | queries | ms | all ÷ bare calls |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for model in models:
        explainer, rows = model.explainer(), rows_like(model.frame, effort.singles)
        explainer.explain(rows.iloc[0])
        found: dict[str, list[tuple[float, ...]]] = {"1–2": [], "3 and more": []}
        for i in range(len(rows)):
            row = rows.iloc[i]
            # Twice, and the faster one counts: a single call is short against what else the machine does.
            turns = [against_bare(model.model, partial(explainer.explain, row)) for _ in range(2)]
            turn = min(turns, key=lambda one: one.seconds)
            e = turn.result
            if e.size:
                found["1–2" if e.size <= 2 else "3 and more"].append(
                    (e.rounds, e.queries, turn.seconds * 1e3, turn.ratio)
                )
        for changes, figures in found.items():
            if figures:
                calls, queries, each, ratio = (statistics.median(column) for column in zip(*figures, strict=True))
                some = f"{calls:.0f} | {queries:.0f} | {each:.1f} | {ratio:.1f}"
                yield f"| {model.name} | {changes} | {len(figures)} | {some} |"


# --- the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
# How fast tables are explained

Written by `make tables` (`python -m benchmarks.tables`). Models of 200 trees with declared directions, on one thread.
Times are CPU times; what is compared was measured in turns. *Bare* is the time that the model alone takes for the same
rows in the same batches. Machines differ and are noisy: look at the ratios. [Peers](peers.md) compares single rows with
other tools.
"""

BY_CHANGES = """\
Declined rows, grouped by the size of their smallest flip sets. *Ball* is ball search in arrays: all sets of 1, 2, ...
features that can move, of all rows that are still open, in calls of up to 65,536 rows. Its sets are the same; it has no
proof, no reasons and no values. *Sets* is `explain_table(values=False, reasons=False)`, *+ reasons* has only
`values=False`, and *all* is the default. The bounds are quantiles of the table, and a share of its rows is declined,
chosen so that all sizes occur. The model is fitted on a frame, and flipset gives it frames. Ball search gives it
matrices, which some libraries read faster, and then once more frames:
"""

WHOLE = """\
Approved and declined rows, within the ranges of the table. All of `explain_table`, without values, and the sets alone,
each divided by the time of the bare model.
"""

GROWTH = """\
In a process of its own. The memory includes the libraries, the model and the table;
[Reliability](reliability.md#memory) has it by command.
"""

ONE_ROW = """\
`explain`, warm, divided by the calls of the model that it makes; medians.
"""

SHARED = """\
A row that is at least as good as one that was accepted is accepted too. Of the queries asked for 250 rows, 39 %
(loanapp) and 3 % (heloc) would follow from answers given for other rows. Looking that up takes longer than asking a
model on the same machine, so it is not done.
"""


def page(tables: Sequence[Table], effort: Effort) -> Iterator[str]:
    """Measure everything, and write it down."""
    models = [fit(library, table) for table in tables for library in libraries_here(effort.libraries)]
    small = [model for model in models if model.frame.shape[1] < 20]
    yield INTRODUCTION
    if effort is QUICK:
        yield from ("These figures are of a quick run (`--quick`): one library, one turn, fewer rows.", "")
    yield from ("## By the number of changes", "", BY_CHANGES)
    for name in dict.fromkeys(map(_table_of, models)):
        quantile, declined = BOUNDS[name]
        yield f"- {name}: bounds at {quantile:.0%} and {1 - quantile:.0%}, at least {declined:.0%} declined"
    yield ""
    yield from by_changes(models, effort)
    yield from ("", "## Whole tables", "", WHOLE)
    yield from whole_tables(small, effort)
    yield from ("", "## Growth", "", GROWTH)
    yield from growth(tables[0], effort.libraries[0], effort)
    yield from ("", "## One row", "", ONE_ROW)
    yield from one_row(small, effort)
    yield from ("", "## Answers shared between rows", "", SHARED)


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    parser.add_argument("--quick", action="store_true", help="one library, one turn, fewer rows")
    parser.add_argument("--million", action="store_true", help="let a table grow to 1,000,000 rows")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = list(shipped())
    if given.data:
        known = {table.name for table in tables}
        tables += [table for table in in_folder(given.data, tuple(BOUNDS)) if table.name not in known]
    effort = QUICK if given.quick else replace(FULL, lengths=(*FULL.lengths, 1_000_000)) if given.million else FULL
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        print_and_write(page(tables, effort), given.output)


if __name__ == "__main__":
    main()
