"""The application: the page, the routes and the background work, behind the admission checks of `safety`."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from flipset.errors import FlipsetError
from flipset.serve.calls import ModelAccess
from flipset.serve.case_routes import explaining_routes, proving_routes
from flipset.serve.cases import problem
from flipset.serve.jobs import Busy, Left, Workers
from flipset.serve.safety import Safety
from flipset.serve.table import BackgroundTable
from flipset.serve.table_routes import row_routes, summary_routes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from flipset.serve.about import Served

PAGE = Path(__file__).parent / "page"


def make_app(served: Served, *, token: str | None = None, hosts: tuple[str, ...], cookie: str = "flipset") -> Any:
    """Return the application; `hosts` are the host names it answers to, including ports."""
    endpoint = served.explainer.endpoint
    model = ModelAccess(1 if endpoint is None else endpoint.in_flight)
    table = BackgroundTable(served.explainer, served.frame, model, eager=served.eager)
    workers = Workers(served.explainer, model)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        table.start()
        yield
        model.close()
        table.close()
        if endpoint is not None:
            endpoint.close()
        workers.close()
        table.join()

    app = FastAPI(
        title="flipset",
        summary="The smallest changes that flip a decision, with a proof.",
        version="1",
        docs_url=None,  # it would load scripts from another site
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )

    @app.exception_handler(FlipsetError)
    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, FlipsetError)
        return JSONResponse(problem(error), status_code=400)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        # The input is not repeated: it may have values that JSON lacks, such as NaN or half of a surrogate pair.
        errors = [{"type": one["type"], "loc": [*map(_part, one["loc"])], "msg": one["msg"]} for one in error.errors()]
        return JSONResponse({"detail": errors}, status_code=422)

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Exception) -> Response:
        text = {"error": "too many requests are waiting; try again in a moment", "kind": "Busy", "rows": None}
        return JSONResponse(text, status_code=503, headers={"retry-after": "2"})

    @app.exception_handler(Left)
    async def left(_: Request, error: Exception) -> Response:
        return Response(status_code=499)  # nobody reads it: the client has disconnected

    for routes in (
        explaining_routes(served, workers),
        proving_routes(served, workers),
        row_routes(served, table),
        summary_routes(table),
    ):
        app.include_router(routes)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse((PAGE / "index.html").read_bytes())

    app.mount("/page", StaticFiles(directory=PAGE), name="static")
    return Safety(app, token=token or secrets.token_urlsafe(24), hosts=hosts, cookie=cookie)


def _part(part: int | str) -> int | str:
    """Return a part of the location of an error, in a form that can be sent."""
    return part if isinstance(part, int) else part.encode("utf-8", "replace").decode("utf-8")
