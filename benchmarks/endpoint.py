"""What an endpoint costs in time and queries: `python -m benchmarks.endpoint` asks one of its own, 20 ms away.

The endpoint is a process of its own on this machine that waits 20 ms before it answers each request, as one in another
building would; it answers many requests at a time. Queries and requests are its own count.
"""

from __future__ import annotations

import argparse
import time
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cases import in_folder, shipped
from benchmarks.local_models import fit, rows_like
from benchmarks.lockstep_ball import ball_table
from benchmarks.pages import print_and_write
from flipset import Explainer, FlipsetError
from flipset.explain.threads import keep_process_on_one_thread, one_thread
from flipset.models.remote.endpoint import Endpoint
from tests.endpoints import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from benchmarks.cases import Table
    from benchmarks.local_models import LocalModel

LATENCY = 0.02
PAGE = Path(__file__).parent.parent / "docs" / "endpoint.md"


def _serve(table: Table, line: Connection) -> None:
    """Be the endpoint, until told to end; say how much was asked whenever somebody wants to know."""
    import pandas as pd

    keep_process_on_one_thread()
    setting = fit("XGBoost", table)
    names = list(setting.frame.columns)

    def score(rows: list[list[Any]]) -> list[float]:
        found: list[float] = setting.model.predict_proba(pd.DataFrame(rows, columns=names))[:, 1].tolist()
        return found

    with serving(score, latency=LATENCY) as server:
        line.send(server.invocations)
        while line.recv() == "how much":
            line.send((server.requests, server.received))


@contextmanager
def endpoint_for(table: Table) -> Iterator[tuple[str, Connection]]:
    """Run the endpoint in a process of its own; give its address, and a line to ask how much it was asked."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(table, theirs))
    process.start()
    try:
        yield ours.recv(), ours
    finally:
        ours.send("that is all")
        process.join()


def measure(setting: LocalModel, table: Table, n: int) -> Iterator[str]:
    """Explain rows in several ways, and say what each took."""
    frame = rows_like(setting.frame, n)
    local = setting.explainer()
    space = local.space
    with endpoint_for(table) as (url, line):

        def counted(what: str, in_flight: int, work: Any) -> tuple[str, Any]:
            line.send("how much")
            requests, asked = line.recv()
            with Endpoint(url, in_flight=in_flight, timeout=60) as endpoint:
                explainer = Explainer(endpoint, space, threshold=local.threshold)
                start = time.perf_counter()
                found = work(explainer)
                seconds = time.perf_counter() - start
            line.send("how much")
            after, received = line.recv()
            each = (received - asked) / n
            return f"| {what} | {in_flight} | {seconds:.2f} | {after - requests:,} | {each:.0f} |", found

        yield "| | requests in flight | seconds | requests | queries a row |"
        yield "|---|--:|--:|--:|--:|"
        for in_flight in (1, 8, 64):
            yield counted("all of it, rows share the requests", in_flight, lambda e: e.explain_table(frame))[0]
        yield counted("all of it, `batch=1`", 8, lambda e: e.explain_table(frame, batch=1))[0]
        one_by_one = counted(
            "all of it, one row after another", 8, lambda e: [e.explain(frame.iloc[i]) for i in range(n)]
        )
        yield one_by_one[0]
        sets = {"values": False, "reasons": False}
        text, ours = counted("the sets alone", 8, lambda e: e.explain_table(frame, **sets))
        yield text
        text, balls = counted("ball search: the sets alone, 64 a round", 8, lambda e: ball_table(e, frame))
        yield text
        for e, (found, _) in zip(ours, balls, strict=True):
            assert not isinstance(e, FlipsetError)
            assert {frozenset(names) for names in e.flipsets} == found


def page(tables: list[Table], n: int) -> Iterator[str]:
    """Measure, and write it down."""
    yield from ("# What an endpoint costs", "")
    yield from (
        "Written by `make endpoint` (`python -m benchmarks.endpoint`). A process on the same machine that waits 20 ms",
        f"before it answers each request, with an XGBoost model of 200 trees behind it; {n} rows. `batch` follows from",
        "the measured time unless it is given. Queries and requests are the endpoint's own count.",
        "",
    )
    for table in tables:
        setting = fit("XGBoost", table)
        yield from (f"## {table.name}, {table.rows.shape[1]} features", "")
        yield from measure(setting, table, n)
        yield ""


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    tables = [table for table in shipped() if table.name == "loanapp"]
    if given.data:
        tables += in_folder(given.data, ("heloc",))
    with one_thread():
        print_and_write(page(tables, given.rows), given.output)


if __name__ == "__main__":
    main()
