"""The time that the guided search itself takes at batch 1, against another checkout of flipset, interleaved in one run.

    git worktree add ../before COMMIT
    python -m benchmarks.overhead ../before
    python -m benchmarks.overhead ../before --data DIR --tables heloc swd

Each checkout runs in a process of its own. The two take turns, row by row, and look all answers up in a list, so that
the model takes no part in the time. Times are processor seconds, and of several passes the fastest counts.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import flipset
from flipset.protocol import Done, advance
from flipset.search.guided import guided_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent.parent
KINDS = ("margins", "labels")
MOST_FEATURES = 16
PASSES = 5


@dataclass(frozen=True, slots=True)
class Spent:
    """Queries and processor seconds of one search."""

    queries: int
    seconds: float


# --- one checkout -----------------------------------------------------------------------------------------------------


def work(path: Path) -> None:
    """Search the recorded functions that are asked for on standard input, and print what each search took."""
    with path.open("rb") as file:
        recorded: list[tuple[str, int, list[float]]] = pickle.load(file)
    print(Path(flipset.__file__).parent.parent, flush=True)
    for line in sys.stdin:
        number, kind = line.split()
        _, d, margins = recorded[int(number)]
        answers = margins if kind == "margins" else [1.0 if margin >= 0 else -1.0 for margin in margins]
        spent = search(d, answers)
        print(spent.queries, spent.seconds, flush=True)


def search(d: int, answers: Sequence[float]) -> Spent:
    """Run one search on answers in a list."""
    queries = 0
    flow = guided_search(d)
    seconds = -time.process_time()
    step = advance(flow)
    while not isinstance(step, Done):
        queries += len(step)
        step = advance(flow, [answers[query] for query in step])
    return Spent(queries, seconds + time.process_time())


# --- both checkouts ---------------------------------------------------------------------------------------------------


class Checkout:
    """A process that runs the code of one checkout."""

    def __init__(self, path: Path, recorded: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--worker", str(recorded)],
            env={**os.environ, "PYTHONPATH": str(path.resolve()), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        used = self._line()
        if Path(used) != path.resolve():
            raise SystemExit(f"{path} holds no flipset: Python found that of {used}; give the path of a checkout")

    def run(self, number: int, kind: str) -> Spent:
        """Run one search."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number} {kind}\n")
        self.process.stdin.flush()
        queries, seconds = self._line().split()
        return Spent(int(queries), float(seconds))

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended; its error is above")
        return line.strip()


def record(data: Path | None, tables: Sequence[str], rows: int) -> Iterator[tuple[str, int, list[float]]]:
    """Yield the margins of all sets, for rows of real tables with few features."""
    from benchmarks.cases import cases, in_folder, shipped
    from flipset.explain.threads import one_thread

    chosen = list(shipped()) + (list(in_folder(data, tables)) if data else [])
    with one_thread():
        for table in chosen:
            for case in cases(table, (0.05, 0.15, 0.3), rows):
                if case.d <= MOST_FEATURES:
                    margins = case.answer(range(1 << case.d))
                    if margins[-1] >= 0:
                        yield table.name, case.d, margins


def compare(here: Checkout, other: Checkout, count: int, kind: str, passes: int) -> str:
    """Return a line with queries and seconds of both checkouts, and their ratios."""
    queries = [0, 0]
    seconds = [0.0, 0.0]
    for number in range(count):
        fastest = [float("inf"), float("inf")]
        asked = [0, 0]
        for _ in range(passes):
            for i, checkout in enumerate((here, other)):
                spent = checkout.run(number, kind)
                fastest[i], asked[i] = min(fastest[i], spent.seconds), spent.queries
        for i in range(2):
            seconds[i] += fastest[i]
            queries[i] += asked[i]
    each = [1e6 * seconds[i] / queries[i] for i in range(2)]
    return (
        f"{kind}: {queries[0]:,} queries against {queries[1]:,}; {each[0]:.1f} us a query against {each[1]:.1f} "
        f"({each[0] / each[1]:.2f}); {seconds[0] / count * 1e3:.2f} ms a row against {seconds[1] / count * 1e3:.2f} "
        f"({seconds[0] / seconds[1]:.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="the other checkout")
    parser.add_argument("--data", type=Path, help="a folder of further tables with cards")
    parser.add_argument("--tables", nargs="*", default=["boston_loanapp", "lending_club_2016", "swd"])
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    if options.other is None:
        parser.error("give the path of the other checkout")
    with tempfile.TemporaryDirectory() as folder:
        recorded = Path(folder) / "recorded.pickle"
        functions = list(record(options.data, options.tables, options.rows))
        with recorded.open("wb") as file:
            pickle.dump(functions, file)
        here, other = Checkout(HERE, recorded), Checkout(options.other, recorded)
        for kind in KINDS:
            print(compare(here, other, len(functions), kind, options.passes), flush=True)
        here.close()
        other.close()


if __name__ == "__main__":
    main()
