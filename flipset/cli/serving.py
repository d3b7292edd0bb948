"""`flipset serve`: serve the page locally until interrupted."""

from __future__ import annotations

import secrets
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flipset import InputError
from flipset.cli.opening import opened_privately
from flipset.cli.options import Data, Model, ModelOptions, SpaceOptions
from flipset.cli.signals import diverting
from flipset.plural import count
from flipset.space.row_id import cell_text

MODEL, SPACE = ModelOptions(), SpaceOptions()
PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def serve(
    model: Model | None = None,
    data: Data | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    name: list[str] | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    everything: Annotated[bool | None, Parameter(negative="--only-seen")] = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Open a local page to explore the decisions of a model: the table, single rows, what-if changes, and proofs.

    Example: flipset serve model.ubj loans.csv --increasing income --decreasing debt

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The table of rows; also the population that costs refer to.
    host
        The address to listen on. Any other than the default admits other machines, which need the printed token.
    port
        The port to listen on; 0 picks a free one.
    name
        A host name that browsers on other machines may use; any other name is refused.
    browser
        Open the page in a browser.
    everything
        Explain all rows in the background, the default for a local model. --only-seen explains only rows that are
        viewed, the default for an endpoint.
    """
    from flipset.cli.inputs import open_all

    try:
        from flipset.serve import Served, make_app, make_server
    except ImportError as error:
        raise InputError(f"the page needs {error.name}: pip install 'flipset[serve]'") from None
    opened = open_all(model, data, model_options, space_options)
    called, frame = _name(opened.model), opened.frame
    ids = None if opened.ids is None else opened.ids.listed()
    if ids is not None:
        # First in the list of rows, and as texts, so that the page adds no separators.
        texts = {name: [cell_text(own[name]) for own in ids] for name in ids[0]}
        frame = frame.assign(**texts)[[*texts, *(name for name in frame.columns if name not in texts)]]
    token = secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        # With --port 0 the system has chosen it. It must be known here: requests are admitted by host and port.
        port = listening.getsockname()[1]
        hosts = tuple(f"{one}:{port}" for one in (*LOOPBACK, host, *(name or ())))
        # Rows that nobody looks at cost nothing with a local model. With an endpoint, each of them is billed.
        eager = everything if everything is not None else opened.explainer.endpoint is None
        served = Served(opened.explainer, frame, called, _name(opened.data), opened.identity, eager, ids)
        server = make_server(make_app(served, token=token, hosts=hosts))
        address = f"http://{(name or [_shown(host)])[0]}:{port}/#token={token}"
        print(f"Serving {called} on {count(len(frame), 'row')} at\n  {address}\nPress Ctrl-C to stop.", flush=True)
        server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]  # signals.py does it
        with (
            opened_privately(address) if browser else nullcontext(),
            diverting(lambda _: setattr(server, "should_exit", True)),
        ):
            server.run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Bind the port before the address is printed."""
    if not 0 <= port <= 65_535:
        raise InputError(f"--port {port}: expected 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    # Otherwise the port of a page that was just closed is refused for a minute.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}; --port 0 picks a free port") from None
    listening.listen(128)
    return listening


def _name(spec: str) -> str:
    """Return the name of a model or a table without its folder, which the page should not reveal."""
    return spec if spec.startswith(("python:", "http:", "https:")) else Path(spec).name


def _shown(host: str) -> str:
    # An address that means "all of this machine" can be listened on, but not opened.
    return "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
