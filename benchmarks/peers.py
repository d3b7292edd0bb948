"""flipset beside other tools, on the same rows, models, bounds and costs: `make peers` writes docs/peers.md.

Tools that are not installed are left out. `pip install "flipset[peers]"` brings treecf and DiCE; that needs an
environment of its own, since DiCE needs another build of XGBoost. NICE asks for old versions of NumPy and pandas, but
runs with new ones: `pip install --no-deps NICEx`.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.cases import in_folder, shipped
from benchmarks.local_models import fit
from benchmarks.pages import print_and_write
from benchmarks.rivals import contest, flipset_tools, tools_for
from benchmarks.timing import against_bare, timed
from flipset.explain.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.cases import Table
    from benchmarks.rivals import Answer, Contest, Tool

PAGE = Path(__file__).parent.parent / "docs" / "peers.md"
DECLINED = 0.5
"""The share of a table that is declined: enough that several changes are needed."""

WIDTHS = {"loanapp": (6, 12), "heloc": (6, 12, 18), "wdbc": (6, 12, 18)}
"""How many columns may move."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How many rows are asked about, and how many of them the slow heuristics are asked about."""

    rows: int = 20
    rows_of_heuristics: int = 10


QUICK = Effort(6, 3)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a tool answered about each row, and the seconds that it took."""

    tool: Tool
    seconds: list[float]
    answers: list[Answer]


def ask_all(tools: Sequence[Tool], rows: Any, sizes: Sequence[int]) -> list[Asked]:
    """Ask tools in turns: all of them about one row, then about the next; the first row once more before that."""
    asked = [Asked(tool, [], []) for tool in tools]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, size in enumerate([sizes[0], *sizes]):
            row = rows.iloc[max(i - 1, 0)]
            for one in asked:
                seconds, answer = timed(partial(one.tool.ask, row, size))
                if i:  # the first answers warm up
                    one.seconds.append(seconds)
                    one.answers.append(answer)
    return asked


def rows_and_sizes(given: Contest, n: int) -> tuple[Any, list[int]]:
    """Return declined rows that some change helps, and their numbers of changes."""
    pool = given.model.declined(4 * n, given.threshold)
    ask = flipset_tools(given)["sets"].ask
    sizes = [min(map(len, ask(pool.iloc[i], 0).sets), default=0) for i in range(len(pool))]
    helped = np.flatnonzero(sizes)[:n]
    return pool.iloc[helped], [sizes[i] for i in helped]


HEAD = "| table, columns that may move | rows | changes | tool | ms | ÷ flipset | {} | proved |"


def exact_answers(contests: Sequence[Contest], question: str, effort: Effort) -> Iterator[str]:
    """One question to all tools that prove their answers."""
    yield HEAD.format("agrees")
    yield "|---|--:|--:|---|--:|--:|--:|--:|"
    for given in contests:
        rows, sizes = rows_and_sizes(given, effort.rows)
        if not sizes:
            continue
        if question == "none":
            given, sizes = _out_of_reach(given, rows), [0] * len(sizes)
        asked = ask_all(list(tools_for(question, given)), rows, sizes)
        for one in asked:
            agrees = _share(_agrees(question, ours, theirs) for ours, theirs in zip(
                asked[0].answers, one.answers, strict=True
            ))  # fmt: skip
            yield _line(given, sizes, one, asked[0], agrees)


def _out_of_reach(given: Contest, rows: Any) -> Contest:
    """Return a threshold that none of the rows reaches at its best."""
    cells = given.model.matrix(rows)
    best = float(given.model.scores(given.model.best(cells, given.space)).max())
    return given.at((best + 1) / 2)


def _agrees(question: str, ours: Answer, theirs: Answer) -> bool:
    """Say whether an answer is the same as flipset's, as far as the question asks for it."""
    if question == "none":
        return ours.sets == theirs.sets
    if question == "sets":  # one of all smallest sets
        return bool(theirs.sets) and theirs.sets <= ours.sets and theirs.is_allowed
    if ours.cost is None or theirs.cost is None:
        return False
    return abs(ours.cost - theirs.cost) < 1e-6 and (question != "values" or ours.sets == theirs.sets)


def heuristic_answers(contests: Sequence[Contest], effort: Effort) -> Iterator[str]:
    """One counterfactual from tools that prove nothing, beside all of `explain`."""
    yield HEAD.format("found | allowed | of the smallest size | cost ÷ flipset")
    yield "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    for given in contests:
        rows, sizes = rows_and_sizes(given, effort.rows_of_heuristics)
        if not sizes:
            continue
        asked = ask_all(list(tools_for("heuristic", given)), rows, sizes)
        for one in asked:
            pairs = list(zip(asked[0].answers, one.answers, sizes, strict=True))
            allowed = [(ours, answer) for ours, answer, _ in pairs if answer.sets and answer.is_allowed]
            ratios = [answer.cost / ours.cost for ours, answer in allowed if ours.cost and answer.cost is not None]
            middle = f"{statistics.median(ratios):.2g}" if ratios else "–"
            found, kept = _share(bool(answer.sets) for _, answer, _ in pairs), f"{len(allowed) / len(pairs):.0%}"
            least = _share(any(len(a) == size for a in answer.sets) and answer.is_allowed for _, answer, size in pairs)
            yield _line(given, sizes, one, asked[0], f"{found} | {kept} | {least} | {middle}")


def one_row(contests: Sequence[Contest], effort: Effort) -> Iterator[str]:
    """All of `explain` about one row, beside the calls of the model that it makes."""
    yield "| table, columns that may move | changes | rows | calls | queries | ms | explain ÷ its bare calls |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for given in contests:
        rows, sizes = rows_and_sizes(given, effort.rows)
        tool = flipset_tools(given)["explain"]
        turns = [against_bare(given.model.model, partial(tool.ask, rows.iloc[i], 0)) for i in range(len(sizes))]
        for words, some in (("1–2", {1, 2}), ("3 and more", set(range(3, 100)))):
            of_size = [turn for turn, size in zip(turns, sizes, strict=True) if size in some]
            if of_size:
                figures = (
                    f"{statistics.median(turn.result.calls for turn in of_size):.0f}",
                    f"{statistics.median(turn.result.queries for turn in of_size):.0f}",
                    f"{statistics.median(turn.seconds for turn in of_size) * 1e3:.1f}",
                    f"{statistics.median(turn.ratio for turn in of_size):.1f}",
                )
                yield f"| {_name(given)} | {words} | {len(of_size)} | {' | '.join(figures)} |"


def _line(given: Contest, sizes: Sequence[int], one: Asked, first: Asked, middle: str) -> str:
    each, base = statistics.median(one.seconds), statistics.median(first.seconds)
    changes = f"{statistics.mean(sizes):.1f}" if any(sizes) else "none"
    proved = _share(answer.is_proved for answer in one.answers)
    ratio = "" if one is first else f"{each / base:.2g}"
    return (
        f"| {_name(given)} | {len(sizes)} | {changes} | {one.tool.name} | {each * 1e3:.3g} | {ratio} | {middle} "
        f"| {proved} |"
    )


def _name(given: Contest) -> str:
    return f"{given.model.name.split(',')[0]}, {given.columns}"


def _share(flags: Any) -> str:
    listed = list(flags)
    return f"{sum(listed) / len(listed):.0%}"


# --- the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
# flipset and its peers

Written by `make peers` (`python -m benchmarks.peers`). XGBoost models of 200 trees with declared directions; declined
rows, and crossings of them. Every tool gets the same model, bounds, directions, grids and costs (shares of a column's
range), as far as it takes them. The tools are asked about one row after the other, in turns, on one thread. Times are
medians of CPU times, without the time to set a tool up; in *÷ flipset*, more than 1 means that the other tool takes
longer. *Proved* is the share of rows on which a tool says that its answer is proved. Machines differ: look at the
ratios.
"""

QUESTIONS = (
    ("sets", "Which is the smallest set?", """\
flipset finds all smallest sets, and asks the model only for scores. treecf reads the trees, and finds one set, by
branch and bound; it agrees where its set is one of flipset's.
"""),
    ("values", "All smallest sets, with their cheapest values", """\
treecf's `recourse_menu`, which is told the size of the smallest sets. It agrees where sets and least cost are equal.
"""),
    ("cheapest", "The cheapest counterfactual of all, with any number of changes", """\
flipset: `objective="cost", max_changes=` all columns. Both tools stop after 5 seconds.
"""),
    ("none", "No option exists", """\
The threshold is out of reach for these rows.
"""),
)  # fmt: skip

HEURISTICS = """\
DiCE and NICE find one counterfactual and prove nothing; flipset's time here is that of all of `explain`, reasons and
proof included. A counterfactual is *allowed* if it is approved and keeps the fixed columns, the bounds and the
directions. NICE takes no bounds and no fixed columns. *Cost* compares allowed counterfactuals with flipset's cheapest
one of the smallest size; a heuristic may be cheaper with more changes.
"""

ONE_ROW = """\
The time of `explain`, warm, beside the time of its own calls of the model; medians.
"""

ELSEWHERE = """\
## Where others are the better choice

- **treecf** reads the trees instead of asking the model. It takes models that are not monotone. It finds the cheapest
  counterfactual of all, and proves that none exists, several times faster than flipset on models like these. It has
  plans for groups of features, bounds by isolation forests, calibrated targets, and reports on portfolios. It cannot
  explain a model that it cannot read, and its proofs are records of its own search.
- **DiCE** takes models of any kind, and returns several diverse counterfactuals at once. It needs no directions.
- **NICE** takes its values from a real row of the table, which can make a counterfactual more plausible, and finds one
  in a few milliseconds. It needs no directions.
- **Ball search** is a short program. Where a model is fast and one or two changes are enough, and only the sets are
  wanted, it may be all that is needed: see [tables](tables.md).

flipset needs a model that is monotone in the columns that move. It asks the model for scores alone, so it takes a
remote model as well as a local one; it finds all smallest sets; and it proves its answer with queries that anybody can
repeat.
"""


def page(tables: Sequence[Table], effort: Effort) -> Iterator[str]:
    """Measure everything, and write it down."""
    contests = [
        contest(model, columns, DECLINED)
        for model in (fit("XGBoost", table) for table in tables)
        for columns in WIDTHS[model.name.split(",")[0]]
    ]
    yield INTRODUCTION
    if effort is QUICK:
        yield from ("These figures are of a quick run (`--quick`), with few rows.", "")
    yield f"Versions: {', '.join(_versions())}."
    for question, title, words in QUESTIONS:
        yield from ("", f"## {title}", "", words)
        yield from exact_answers(contests, question, effort)
    yield from ("", "## Heuristics", "", HEURISTICS)
    yield from heuristic_answers(contests, effort)
    yield from ("", "## One row, beside the bare model", "", ONE_ROW)
    yield from one_row(contests, effort)
    yield from ("", ELSEWHERE)


def _versions() -> Iterator[str]:
    for package in ("flipset", "treecf", "dice-ml", "NICEx", "xgboost-cpu", "xgboost", "numpy"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with further tables: heloc")
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = list(shipped())
    if given.data:
        tables += in_folder(given.data, ("heloc",))
    with one_thread():
        print_and_write(page(tables, QUICK if given.quick else Effort()), given.output)


if __name__ == "__main__":
    main()
