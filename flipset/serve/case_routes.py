"""Routes about single rows: explain, verify, report.

A route reads the bytes of the body, and leaves everything else to a thread: reading them as a request, the work, and
writing the answer.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 (FastAPI reads the annotations when a route is added)
from fastapi.responses import Response

from flipset.serve.bodies import read_body, takes, write_json
from flipset.serve.cases import REFUSED, Case, Cases, Change, Claim, Pair, answer
from flipset.serve.jobs import CHECK, ROW, TABLE
from flipset.show.report import report

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from fastapi import FastAPI

    from flipset.explainer import Explainer
    from flipset.serve.about import Served
    from flipset.serve.bodies import Strict
    from flipset.serve.jobs import Kind, Workers

    S = TypeVar("S", bound=Strict)

REPORT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}


def add_explaining_routes(app: FastAPI, served: Served, workers: Workers) -> None:
    """Add the routes that explain."""

    @app.post("/api/explain", responses=REFUSED, openapi_extra=takes(Case))
    async def explain(request: Request) -> Response:
        """Explain the decision for a row."""

        def work(case: Case, explainer: Explainer, _: Callable[[], bool]) -> Any:
            return answer(case.explain(explainer, served.frame))

        return _json(await _work(workers, ROW, request, Case, work))

    @app.post("/api/frontier", responses=REFUSED, openapi_extra=takes(Pair))
    async def frontier(request: Request) -> Response:
        """Find all smallest pairs of values of two features that flip the decision together."""

        def work(pair: Pair, explainer: Explainer, _: Callable[[], bool]) -> Any:
            row = pair.edited(served.frame, explainer.space)
            return asdict(explainer.frontier(row, pair.features, **pair.changes()))

        return _json(await _work(workers, ROW, request, Pair, work))

    @app.post("/api/table", responses=REFUSED, openapi_extra=takes(Cases))
    async def table(request: Request) -> Response:
        """Explain the decisions for several rows."""

        def work(many: Cases, explainer: Explainer, _: Callable[[], bool]) -> Any:
            return {"results": many.explain(explainer, served.frame)}

        return _json(await _work(workers, TABLE, request, Cases, work))


def add_proving_routes(app: FastAPI, served: Served, workers: Workers) -> None:
    """Add the routes that verify, report, and change the space."""

    @app.post("/api/verify", responses=REFUSED, openapi_extra=takes(Claim))
    async def verify(request: Request) -> Response:
        """Verify an explanation, and replay its proof."""
        return _json(await _work(workers, CHECK, request, Claim, Claim.replay))

    @app.post("/api/report", responses=REFUSED | REPORT, response_class=Response, openapi_extra=takes(Case))
    async def write_report(request: Request) -> Response:
        """Return an HTML report on a row."""

        def work(case: Case, explainer: Explainer, _: Callable[[], bool]) -> str:
            e = case.explain(explainer, served.frame)
            space = explainer.space.with_changes(**case.changes())
            where = f"row {case.row} of {served.data}" if case.row is not None else "a row that is not in the table"
            asked = where + (", changed" if case.row is not None and case.values else "")
            return report(e, asked=asked, model=served.model, identity=served.identity, space=space)

        def write(text: str) -> bytes:
            return text.encode("utf-8", "replace")

        text = await _work(workers, ROW, request, Case, work, write)
        return Response(
            text, media_type="text/html", headers={"content-disposition": 'attachment; filename="flipset.html"'}
        )

    @app.post("/api/space", responses=REFUSED, openapi_extra=takes(Change))
    async def space(request: Request) -> Response:
        """Return the space with some changes."""

        def work(change: Change, explainer: Explainer, _: Callable[[], bool]) -> Any:
            made = explainer.space.with_changes(**change.changes())
            return {"space": json.loads(made.to_json()), "toml": made.to_toml()}

        return _json(await _work(workers, ROW, request, Change, work))


async def _work(
    workers: Workers,
    kind: Kind,
    request: Request,
    shape: type[S],
    work: Callable[[S, Explainer, Callable[[], bool]], Any],
    write: Callable[[Any], bytes] = write_json,
) -> bytes:
    """Read the request, work on it and write the answer, in a thread."""
    # Here and not in the thread: only the event loop can read from the connection.
    body = await request.body()
    return await workers.do(kind, request, lambda explainer, stop: write(work(read_body(body, shape), explainer, stop)))


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")
