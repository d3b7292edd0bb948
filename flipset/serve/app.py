"""The application: the page, the routes and the background work, behind the admission checks of `safety`."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles

from flipset.errors import FlipsetError
from flipset.serve.bodies import Malformed, write_json
from flipset.serve.calls import ModelAccess
from flipset.serve.case_routes import add_explaining_routes, add_proving_routes
from flipset.serve.cases import problem
from flipset.serve.jobs import Busy, Left, Workers
from flipset.serve.safety import Safety
from flipset.serve.table import BackgroundTable
from flipset.serve.table_routes import add_row_routes, add_summary_routes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from flipset.serve.about import Served

PAGE = Path(__file__).parent / "page"

RETRY_AFTER = "2"
"""Seconds after which a client may try again when too many requests are waiting."""


def make_app(served: Served, *, token: str | None = None, hosts: tuple[str, ...]) -> Any:
    """Return the application; `hosts` are the host names it answers to, including ports."""
    endpoint = served.explainer.endpoint
    model = ModelAccess(1 if endpoint is None else endpoint.in_flight)
    table = BackgroundTable(served.explainer, served.frame, model, eager=served.eager)
    workers = Workers(served.explainer, model)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        table.start()
        yield
        # In this order: no new call begins, then the table and the requests end with the calls that they wait for.
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

    _handle_errors(app)
    # On the application itself: included routers are built again at the first request, beside threads that are at work.
    add_explaining_routes(app, served, workers)
    add_proving_routes(app, served, workers)
    add_row_routes(app, served, table, workers)
    add_summary_routes(app, table, workers)

    index = (PAGE / "index.html").read_bytes()

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse(index)

    # Last, and under a path of its own, so that no file can hide a route.
    app.mount("/page", StaticFiles(directory=PAGE), name="static")
    return Safety(app, token=token or secrets.token_urlsafe(24), hosts=hosts)


def _handle_errors(app: FastAPI) -> None:
    """Answer errors of requests; what is not listed here is an error of flipset itself, and has status 500."""

    def answer(
        handled: type[Exception], status: int, say: Callable[[Any], Any], headers: dict[str, str] | None = None
    ) -> None:
        async def handle(_: Request, error: Exception) -> Response:
            return Response(write_json(say(error)), status, headers, "application/json")

        app.add_exception_handler(handled, handle)

    answer(FlipsetError, 400, problem)
    answer(Malformed, 422, lambda error: {"detail": error.problems})
    answer(RequestValidationError, 422, lambda error: {"detail": Malformed(error.errors()).problems})
    answer(
        Busy,
        503,
        lambda _: _refusal("too many requests are waiting; try again in a moment", "Busy"),
        {"retry-after": RETRY_AFTER},
    )
    # Nobody reads this, unless the server closes while a client waits.
    answer(Left, 503, lambda _: _refusal("the server is closing", "Busy"))
    answer(ClientDisconnect, 503, lambda _: _refusal("the request is not complete", "Busy"))


def _refusal(error: str, kind: str) -> dict[str, Any]:
    return {"error": error, "kind": kind, "rows": None}
