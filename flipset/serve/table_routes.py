"""Routes about the table: its rows, its summary, and its progress."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse

from flipset.serve.cases import REFUSED, Case, about_feature, clean
from flipset.serve.table import Query as RowQuery
from flipset.show.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from flipset.serve.about import Served
    from flipset.serve.table import BackgroundTable

REPORT_EVERY = 0.5
"""Seconds between two reports of progress."""


def row_routes(served: Served, table: BackgroundTable) -> APIRouter:
    """Return the routes about rows of the table."""
    app = APIRouter()

    @cache
    def described() -> dict[str, Any]:
        space = served.explainer.space
        return {
            "model": served.model,
            "data": served.data,
            "threshold": clean(served.explainer.threshold),
            "columns": table.columns,
            "numeric": [getattr(table.frame[name].dtype, "kind", "O") in "iuf" for name in table.columns],
            "rows": len(table),
            "features": [about_feature(feature, space) for feature in space.features],
            "units": table.units,
            "groups": table.group_columns(),
            "outcomes": asdict(OUTCOMES),
        }

    @app.get("/api/about")
    async def about() -> Response:
        """Return the names of model and table, the columns, the features with their scales, and the outcome words."""
        return JSONResponse(await asyncio.to_thread(described))

    @app.get("/api/rows", responses=REFUSED)
    async def rows(
        decision: Literal["", "yes", "no"] = "",
        size: Annotated[str, Query(max_length=40)] = "",
        feature: Annotated[str, Query(max_length=500)] = "",
        part: Literal["some", "all", "reason"] = "some",
        by: Annotated[str, Query(max_length=500)] = "",
        group: Annotated[str, Query(max_length=500)] = "",
        search: Annotated[str, Query(max_length=200)] = "",
        sort: Annotated[str, Query(max_length=500)] = "",
        descending: bool = False,
        start: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
        count: Annotated[int, Query(ge=0, le=500)] = 100,
    ) -> Response:
        """Return some rows of the table, filtered and sorted; they are explained next."""
        query = RowQuery(decision, size, feature, part, by, group, search, sort, descending)
        selected = await asyncio.to_thread(table.select, query)
        shown = selected[start : start + count]
        table.want(shown.tolist())
        rows = await asyncio.to_thread(table.page, shown)
        return JSONResponse(clean({"total": len(selected), "version": table.version, "rows": rows}))

    @app.get("/api/row", responses=REFUSED)
    async def one_row(row: Annotated[int, Query(ge=0)]) -> Response:
        """Return the cells of a row that the model uses."""
        return JSONResponse(clean({"values": Case(row=row).cells(served.frame, served.explainer.space.names)}))

    return app


def summary_routes(table: BackgroundTable) -> APIRouter:
    """Return the routes about all rows together."""
    app = APIRouter()

    @app.get("/api/summary", responses=REFUSED)
    async def summary(by: Annotated[str, Query(max_length=500)] = "") -> Response:
        """Return the summary of the explained rows, also by the values of a column."""
        return JSONResponse(clean(await asyncio.to_thread(table.summary, by)))

    @app.get("/api/progress", responses={200: {"content": {"text/event-stream": {}}}}, response_class=Response)
    async def progress(once: bool = False) -> Response:
        """Report the progress as server-sent events until all rows are explained, or once."""
        if once:
            return JSONResponse(table.progress())

        async def reports() -> AsyncIterator[str]:
            before: Any = None
            while True:
                now = table.progress()
                if now != before:
                    before = now
                    yield f"data: {json.dumps(now)}\n\n"
                if now["failure"] or now["explained"] == now["rows"]:
                    return
                await asyncio.sleep(REPORT_EVERY)

        return StreamingResponse(reports(), media_type="text/event-stream")

    return app
