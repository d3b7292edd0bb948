"""Routes about single rows: explain, verify, report."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from flipset.errors import FlipsetError
from flipset.serve.cases import REFUSED, Case, Cases, Change, Claim, Pair, answer, clean, problem
from flipset.show.report import report

if TYPE_CHECKING:
    from flipset.explainer import Explainer
    from flipset.serve.about import Served
    from flipset.serve.jobs import Workers


def explaining_routes(served: Served, workers: Workers) -> APIRouter:
    """Return the routes that explain."""
    app = APIRouter()

    @app.post("/api/explain", responses=REFUSED)
    async def explain(case: Case, request: Request) -> Response:
        """Explain the decision for a row."""
        explanation = await workers.do(request, lambda explainer: case.explain(explainer, served.frame))
        return JSONResponse(answer(explanation))

    @app.post("/api/frontier", responses=REFUSED)
    async def frontier(pair: Pair, request: Request) -> Response:
        """Find all smallest pairs of values of two features that flip the decision together."""

        def work(explainer: Explainer) -> Any:
            row = pair.cells(served.frame, explainer.space.names)
            return explainer.frontier(row, pair.features, fixed=pair.fixed, bounds=pair.bounds)

        return JSONResponse(clean(asdict(await workers.do(request, work))))

    @app.post("/api/table", responses=REFUSED)
    async def table(many: Cases, request: Request) -> Response:
        """Explain the decisions for several rows."""

        def work(explainer: Explainer) -> list[Any]:
            names = explainer.space.names
            rows = [
                Case(row=row).cells(served.frame, names)
                if isinstance(row, int)
                else Case(values=row).cells(served.frame, names)
                for row in many.rows
            ]
            results = explainer.explain_table([list(row.values()) for row in rows], **many.wanted())
            return [problem(one) if isinstance(one, FlipsetError) else answer(one) for one in results]

        return JSONResponse({"results": await workers.do(request, work)})

    return app


def proving_routes(served: Served, workers: Workers) -> APIRouter:
    """Return the routes that verify, report, and change the space."""
    app = APIRouter()

    @app.post("/api/verify", responses=REFUSED)
    async def verify(claim: Claim, request: Request) -> Response:
        """Verify an explanation, and replay its proof."""
        return JSONResponse(await workers.do_until(request, claim.replay))

    @app.post("/api/report", responses=REFUSED | {200: {"content": {"text/html": {}}}}, response_class=Response)
    async def write_report(case: Case, request: Request) -> Response:
        """Return an HTML report on a row."""

        def work(explainer: Explainer) -> str:
            e = case.explain(explainer, served.frame)
            space = explainer.space.with_changes(case.fixed, case.bounds)
            where = f"row {case.row} of {served.data}" if case.row is not None else "a row that is not in the table"
            asked = where + (", changed" if case.row is not None and case.values else "")
            return report(e, asked=asked, model=served.model, identity=served.identity, space=space)

        text = await workers.do(request, work)
        return Response(
            text, media_type="text/html", headers={"content-disposition": 'attachment; filename="flipset.html"'}
        )

    @app.post("/api/space", responses=REFUSED)
    async def space(change: Change) -> Response:
        """Return the space with some changes."""
        made = served.explainer.space.with_changes(change.fixed, change.bounds)
        return JSONResponse({"space": json.loads(made.to_json()), "toml": made.to_toml()})

    return app
