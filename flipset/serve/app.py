"""The application: the page, the routes, and the background, behind their safety."""

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
from flipset.serve.calls import Gate
from flipset.serve.case_routes import explaining_routes, proving_routes
from flipset.serve.cases import problem
from flipset.serve.jobs import Busy, Desk, Left
from flipset.serve.safety import Safety
from flipset.serve.table import Book
from flipset.serve.table_routes import row_routes, summary_routes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from flipset.serve.about import Served

PAGE = Path(__file__).parent / "page"


def make_app(served: Served, *, token: str | None = None, hosts: tuple[str, ...], cookie: str = "flipset") -> Any:
    """Return the application, behind its safety; `hosts` are the names it answers to, ports included."""
    endpoint = served.explainer.endpoint
    gate = Gate(1 if endpoint is None else endpoint.in_flight)
    kept = Book(served.explainer, served.frame, gate, eager=served.eager)
    desk = Desk(served.explainer, gate)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        kept.start()
        yield
        gate.close()
        kept.close()
        if endpoint is not None:
            endpoint.close()
        desk.close()
        kept.join()

    app = FastAPI(
        title="flipset",
        summary="The least that turns a decision, with a proof.",
        version="1",
        docs_url=None,  # they would fetch scripts from elsewhere
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
        # The input itself is not repeated: it may hold what JSON cannot say, such as NaN or half of a surrogate pair.
        said = [{"type": one["type"], "loc": [*map(_part, one["loc"])], "msg": one["msg"]} for one in error.errors()]
        return JSONResponse({"detail": said}, status_code=422)

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Exception) -> Response:
        text = {"error": "too many requests are waiting; try again in a moment", "kind": "Busy", "rows": None}
        return JSONResponse(text, status_code=503, headers={"retry-after": "2"})

    @app.exception_handler(Left)
    async def left(_: Request, error: Exception) -> Response:
        return Response(status_code=499)  # nobody reads it

    for routes in (
        explaining_routes(served, desk),
        proving_routes(served, desk),
        row_routes(served, kept),
        summary_routes(kept),
    ):
        app.include_router(routes)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse((PAGE / "index.html").read_bytes())

    app.mount("/page", StaticFiles(directory=PAGE), name="static")
    return Safety(app, token=token or secrets.token_urlsafe(24), hosts=hosts, cookie=cookie)


def _part(part: int | str) -> int | str:
    """Return a part of the place of a mistake, such as can be sent."""
    return part if isinstance(part, int) else part.encode("utf-8", "replace").decode("utf-8")
