"""`flipset serve`: the page on a local server, until it is interrupted."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flipset import InputError
from flipset.cli.options import ModelOptions, SpaceOptions
from flipset.plural import count

MODEL, SPACE = ModelOptions(), SpaceOptions()
PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve(
    model: str | None = None,
    data: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    name: list[str] | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    everything: Annotated[bool | None, Parameter(negative="--only-seen")] = None,
    how: ModelOptions = MODEL,
    what: SpaceOptions = SPACE,
) -> None:
    """Open a page on the decisions of a model: the table, one case, what if, and the proof.

    Example: flipset serve model.ubj loans.csv --increasing income --decreasing debt

    Parameters
    ----------
    model
        A model file, or python:package.module:object; with --url it is left out.
    data
        The table of rows, and the population that values and costs are about.
    host
        The address to listen at. Any but the default lets other machines in, who then need the printed token.
    port
        The port to listen at; 0 takes any that is free.
    name
        A name by which browsers on other machines call this one; others than these are refused.
    browser
        Open the page in a browser.
    everything
        Explain all rows in the background, as is done for a model that is here; --only-seen explains those that
        somebody looks at, as is done for an endpoint.
    """
    from flipset.cli.inputs import open_all

    try:
        import uvicorn

        from flipset.serve import Served, make_app
    except ImportError as error:
        raise InputError(f"the page needs {error.name}: pip install 'flipset[serve]'") from None
    opened = open_all(model, data, how, what)
    called, frame = _name(opened.model), opened.frame
    token = secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        port = listening.getsockname()[1]
        hosts = tuple(f"{one}:{port}" for one in (*LOOPBACK, host, *(name or ())))
        eager = everything if everything is not None else opened.explainer.endpoint is None
        served = Served(opened.explainer, frame, called, _name(opened.data), opened.identity, eager)
        app = make_app(served, token=token, hosts=hosts, cookie=f"flipset_{port}")
        address = f"http://{(name or [_shown(host)])[0]}:{port}/?token={token}"
        print(f"flipset shows {called} on {count(len(frame), 'row')} at\n  {address}\nCtrl-C ends it.", flush=True)
        if browser:
            webbrowser.open(address)
        config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=2)
        with suppress(KeyboardInterrupt):  # which is how it ends
            uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is said about it."""
    if not 0 <= port <= 65_535:
        raise InputError(f"--port {port}: expected 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(f"cannot listen at {host}:{port}: {error.strerror}; --port 0 takes any free port") from None
    listening.listen(128)
    return listening


def _name(spec: str) -> str:
    """Return what to call a model or a table: nobody on the page needs to know where it lies."""
    return spec if spec.startswith(("python:", "http:", "https:")) else Path(spec).name


def _shown(host: str) -> str:
    return "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
