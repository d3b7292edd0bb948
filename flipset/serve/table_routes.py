"""Routes about the table: its rows, its summary, and its progress."""

from __future__ import annotations

import asyncio
import json
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from flipset.boundary.limits import MOST_FILTER
from flipset.results.to_json import dump_words
from flipset.serve.bodies import Strict, read_body, takes, write_json
from flipset.serve.cases import REFUSED, Case, about_feature
from flipset.serve.groups import group_columns
from flipset.serve.jobs import VIEW
from flipset.serve.selection import Query as RowQuery
from flipset.serve.selection import Selection
from flipset.serve.table_summary import summarize_rows
from flipset.space.row_id import row_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fastapi import FastAPI

    from flipset.serve.about import Served
    from flipset.serve.jobs import Workers
    from flipset.serve.row_results import RowResults
    from flipset.serve.table import BackgroundTable

REPORT_EVERY = 0.5
"""Seconds between two reports of progress."""


Text = Annotated[str, Query(max_length=MOST_FILTER)]


class Background(Strict):
    """Whether to explain all rows in the background."""

    everything: bool = Field(description="False stops the background work; viewed rows are still explained.")


def _describe(served: Served, results: RowResults) -> dict[str, Any]:
    """Return the names of model and table, the columns, the features with their scales, and the outcome words."""
    space = served.explainer.space
    return {
        "model": served.model,
        "data": served.data,
        "threshold": served.explainer.threshold,
        "columns": results.columns,
        "numeric": [getattr(results.frame[name].dtype, "kind", "O") in "iuf" for name in results.columns],
        "rows": len(results),
        "features": [about_feature(feature, space) for feature in space.features],
        "units": results.units,
        "groups": group_columns(results.frame),
        # By the side of the threshold: the word for scores at or above it, and for those below.
        "outcomes": {"approved": space.decision.outcome(True), "declined": space.decision.outcome(False)},
        "favorable": space.decision.is_favorable(True),
        "score_label": space.decision.score_label,
        "constraints": list(space.constraints),
        "words": dump_words(space.words)["features"],
    }


def add_row_routes(app: FastAPI, served: Served, table: BackgroundTable, workers: Workers) -> None:
    """Add the routes about rows of the table."""
    results, selection = table.results, Selection(table.results)

    # Made once, at the first request: bars and groups take a look at the whole table.
    described = cache(partial(_describe, served, results))

    @app.get("/api/about")
    async def about(request: Request) -> Response:
        """Return the names of model and table, the columns, the features with their scales, and the outcome words."""
        return await _view(workers, request, described)

    @app.get("/api/rows", responses=REFUSED)
    async def rows(
        request: Request,
        decision: Literal["", "yes", "no"] = "",
        size: Annotated[str, Query(max_length=40)] = "",
        feature: Text = "",
        part: Literal["some", "all", "reason"] = "some",
        by: Text = "",
        group: Text = "",
        search: Text = "",
        sort: Text = "",
        descending: bool = False,
        start: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
        count: Annotated[int, Query(ge=0, le=500)] = 100,
    ) -> Response:
        """Return some rows of the table, filtered and sorted; they are explained next."""
        query = RowQuery(decision, size, feature, part, by, group, search, sort, descending)

        def select() -> Any:
            selected = selection.select(query)
            shown = selected[start : start + count]
            table.want(shown.tolist())
            return {"total": len(selected), "version": results.version, "rows": results.shown(shown)}

        return await _view(workers, request, select)

    @app.get("/api/row", responses=REFUSED)
    async def one_row(request: Request, row: Annotated[int, Query(ge=0)]) -> Response:
        """Return the cells of a row that the model uses, and the name of the row: its identifier or its number."""
        names = served.explainer.space.names

        def one() -> Any:
            values = Case(row=row).cells(served.frame, names)
            return {"values": values, "name": row_text(row, None if served.ids is None else served.ids[row])}

        return await _view(workers, request, one)


def add_summary_routes(app: FastAPI, table: BackgroundTable, workers: Workers) -> None:
    """Add the routes about all rows together."""

    @app.get("/api/summary", responses=REFUSED)
    async def summary(request: Request, by: Text = "", reference: Text = "") -> Response:
        """Return the summary of the explained rows, declined and approved apart, and compare the groups of a column."""
        words = table.explainer.space.words.of(by)
        return await _view(workers, request, lambda: summarize_rows(table.results, by, reference, words))

    @app.get("/api/progress", responses={200: {"content": {"text/event-stream": {}}}}, response_class=Response)
    async def progress(once: bool = False) -> Response:
        """Report the progress as server-sent events until all rows are explained, or once."""
        if once:
            return _json(write_json(table.progress()))

        async def reports() -> AsyncIterator[str]:
            before: Any = None
            while True:
                now = table.progress()
                # Only changes are sent, so that a page that is left open costs nothing.
                if now != before:
                    before = now
                    yield f"data: {json.dumps(now)}\n\n"
                if now["failure"] or now["explained"] == now["rows"]:
                    return
                await asyncio.sleep(REPORT_EVERY)

        return StreamingResponse(reports(), media_type="text/event-stream")

    @app.post("/api/background", responses=REFUSED, openapi_extra=takes(Background))
    async def background(request: Request) -> Response:
        """Stop explaining all rows in the background, or go on with it; return the progress."""
        body = await request.body()

        def change() -> Any:
            table.explain_all(read_body(body, Background).everything)
            return table.progress()

        return await _view(workers, request, change)


async def _view(workers: Workers, request: Request, work: Callable[[], Any]) -> Response:
    """Answer with what is known about the table, in a thread."""
    return _json(await workers.do(VIEW, request, lambda explainer, stop: write_json(work())))


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")
