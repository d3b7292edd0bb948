"""A server of the tests' own, on a free port of this machine, and a small model to ask it about."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pandas as pd

from flipset import Explainer, Space
from flipset.serve import Served, make_app, make_server
from tests.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "a-token-of-the-tests"
SCRIPT = "<img src=x onerror=\"document.title='broken'\"><b>bold</b>"


def applications(n: int = 240) -> pd.DataFrame:
    """Applications with incomes, debts, something nobody may change, a group, and a cell that holds markup."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "income": rng.integers(10, 100, n),
            "savings": rng.integers(0, 50, n),
            "debt": rng.integers(0, 60, n),
            "late": rng.integers(0, 4, n),
            "age": rng.integers(20, 70, n).astype(float),
            "region": rng.choice(["north", "south"], n),
        }
    )
    frame["note"] = [SCRIPT if i == 3 else f"file {i}" for i in range(n)]
    return frame


def approve(rows: Any) -> Any:
    """A score that no single feature rules."""
    raw = rows["income"] + rows["savings"] * 0.7 - rows["debt"] * 0.9 - rows["late"] * 12 + rows["age"] * 0.01
    return 1 / (1 + np.exp(-(raw.to_numpy(dtype=float) - 45) / 15))


def touchy(rows: Any) -> Any:
    """The same, but it fails on the age of row 5."""
    if (rows["age"] == FRAME["age"][5]).any():
        raise RuntimeError("not this age")
    return approve(rows)


def explainer(predict: Any = approve, n: int = 240) -> Explainer:
    """An explainer of that model in the ranges of that table."""
    columns = ["income", "savings", "debt", "late", "age"]
    space = Space.from_frame(applications(n)[columns], increasing=["income", "savings"], decreasing=["debt", "late"])
    return Explainer(predict, space)


FRAME = applications()
EXPLAINER = explainer()
COLUMNS = list(EXPLAINER.space.names)


def cells_of(row: int) -> dict[str, Any]:
    """The cells of a row that the model is given."""
    return {name: FRAME[name].iloc[row].item() for name in COLUMNS}


@contextmanager
def serving_applications() -> Iterator[Running]:
    """Serve that model on that table."""
    with running(Served(EXPLAINER, FRAME, "approve", "applications.csv", "sha256:0")) as where:
        yield where


@dataclass(frozen=True)
class Running:
    """Where a server is, and how to speak to it."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def entrance(self) -> str:
        return f"{self.address}/#token={TOKEN}"

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.address, headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE, **more
        )


@contextmanager
def running(served: Served, **limits: Any) -> Iterator[Running]:
    """Serve until the block ends, with other limits on connections if given."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    port = listening.getsockname()[1]
    app = make_app(served, token=TOKEN, hosts=(f"127.0.0.1:{port}", f"localhost:{port}"))
    server = make_server(app, log_level="error", **limits)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with Running(port).client() as client:
            client.get("/api/about").raise_for_status()  # a listening socket keeps it waiting until the server is up
        yield Running(port)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
