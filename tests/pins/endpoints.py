"""Models behind an endpoint on loopback: one request at a time, or eight."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import numpy as np

from flipset import Explainer
from flipset.models.remote import Endpoint
from tests.endpoints import Server, serving
from tests.pins.tables import Table, ordered
from tests.pins.transcripts import Case, Transcript, of_explanation, of_table, text_of, transcript
from tests.pins.transcripts import numbered as numbered_cases


@contextmanager
def endpoint(table: Table, in_flight: int, kind: str, **how: Any) -> Iterator[tuple[Server, Explainer]]:
    """Serve the model of a table, and ask it over the line."""

    def score(rows: Sequence[Sequence[Any]]) -> list[float]:
        return [float(one) for one in table.model(np.array(rows, dtype=float))]

    with serving(score) as server, Endpoint(getattr(server, kind), in_flight=in_flight, **how) as line:
        yield server, table.explainer(line)


def sent(server: Server, *, ordered: bool) -> dict[str, Any]:
    """Return what the endpoint was sent: the requests one by one, or all rows in no order."""
    rows = sorted(text_of(list(row)) for row in server.answered)
    return {"rows": rows, "sizes": server.sizes if ordered else None}


def drawn(what: str, i: int) -> Table:
    return ordered(f"endpoint/{what}", i, labels=i % 4 == 3)


def one_row(in_flight: int, i: int) -> Transcript:
    """Explain a row over the line."""
    table = drawn("row", i)
    kind = ("infer", "invocations")[i % 2]
    with endpoint(table, in_flight, kind) as (server, explainer):
        done = of_explanation(explainer.explain(table.rows[0], batch=(1, 8, 32)[i % 3]))
    done["asked"] = sent(server, ordered=in_flight == 1)
    return done


def whole_table(in_flight: int, i: int) -> Transcript:
    """Explain a table over the line. How many rows a request has is up to the time that requests take."""
    table = drawn("table", i)
    rng = Random(f"endpoint/{i}")
    with endpoint(table, in_flight, ("infer", "invocations")[i % 2]) as (server, explainer):
        found = explainer.explain_table(table.rows, batch=rng.choice((1, 8, 32)))
    done = of_table(found, rounds=False)
    done["asked"] = sent(server, ordered=False)
    return done


def billed(in_flight: int, i: int) -> Transcript:
    """Explain where each row has its price: then few questions are asked together, whatever time they take."""
    table = drawn("billed", i)
    with endpoint(table, in_flight, "infer", price_per_row=0.01) as (server, explainer):
        one = of_explanation(explainer.explain(table.rows[1]))
        done = of_table(explainer.explain_table(table.rows[:20]), rounds=False)
    answer = {"one": one["answer"], "all": done["answer"]}
    cost = [one["cost"], done["cost"]]
    reasons, proof = [one["reasons"], done["reasons"]], [one["proof"], done["proof"]]
    return transcript(answer, reasons, proof, cost, sent(server, ordered=False), done["rows"])


WAYS: dict[str, Callable[[int, int], Transcript]] = {"row": one_row, "table": whole_table, "billed": billed}


def cases() -> Iterator[tuple[str, Case]]:
    for name, way in WAYS.items():
        for in_flight in (1, 8):
            count = 4 if name == "billed" else 8
            yield from numbered_cases(f"endpoint/{name}/in-flight{in_flight}", count, partial(way, in_flight))
