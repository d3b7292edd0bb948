"""A scoring endpoint on loopback that speaks both protocols, counts what it is asked, and fails as it is told to."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Sequence

Rows = list[list[Any]]


class Server(ThreadingHTTPServer):
    """The endpoint; `fault` is asked about each request and names what is to go wrong with it, or nothing."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, model: Callable[[Rows], Sequence[Any]], fault: Callable[[int], str | None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
        self.fault = fault
        self.latency = 0.0
        self.scheme = "http"
        self.versions = ["1"]
        self.version = "1"
        self.get_faults = 0
        self.answered: Counter[tuple[Any, ...]] = Counter()
        self.received = 0
        self.requests = 0
        self.sizes: list[int] = []
        self.sent_headers: list[dict[str, str]] = []
        self.faults: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = Lock()
        self.ended = Event()

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    @property
    def infer(self) -> str:
        return f"{self.address}/v2/models/loans/infer"

    @property
    def invocations(self) -> str:
        return f"{self.address}/invocations"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that have gone."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out in one piece
    server: Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet."""

    def do_GET(self) -> None:
        if self.server.get_faults:
            self.server.get_faults -= 1
            self._reply(503, {})
        elif self.path == "/v2/models/loans" and self.server.versions:
            self._reply(200, {"name": "loans", "versions": self.server.versions})
        else:
            self._reply(404, {"error": "nothing there"})

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = _read_tensor(body) if self.path.partition("?")[0].endswith("/infer") else body["dataframe_split"]["data"]
        with server.lock:
            number = server.requests
            server.requests += 1
            server.received += len(rows)
            server.sizes.append(len(rows))
            server.sent_headers.append(dict(self.headers))
            server.at_once += 1
            server.most_at_once = max(server.at_once, server.most_at_once)
            fault = server.fault(number)
            server.faults[fault or ""] += 1
        try:
            if server.latency:
                server.ended.wait(server.latency)
            self._answer(rows, fault)
        finally:
            with server.lock:
                server.at_once -= 1

    def _answer(self, rows: Rows, fault: str | None) -> None:
        if fault == "drop":
            self.close_connection = True
        elif fault == "slow":
            self.server.ended.wait()  # until the test is over
            self.close_connection = True
        elif fault is not None and fault.isdigit():
            self._reply(
                int(fault), {"error": f"as told, with {self.headers.get('Authorization')}"}, {"Retry-After": "0"}
            )
        elif fault == "wait":
            self._reply(429, {"error": "later"}, {"Retry-After": "3600"})
        elif fault == "away":
            self._reply(307, {}, {"Location": f"{self.server.address}/elsewhere"})
        else:
            self._score(rows, fault)

    def _score(self, rows: Rows, fault: str | None) -> None:
        scores = list(self.server.model(rows))
        if fault is None:
            with self.server.lock:
                self.server.answered.update(map(tuple, rows))
        wrong = {
            "count": scores[1:],
            "nan": [float("nan"), *scores[1:]],
            "type": [None] * len(scores),
            "form": [[1.0]] * len(scores),
        }
        scores = wrong.get(str(fault), scores)
        if self.path.partition("?")[0].endswith("/infer"):
            shape = [len(scores), len(scores[0])] if scores and isinstance(scores[0], list) else [len(scores)]
            flat = [cell for one in scores for cell in one] if len(shape) == 2 else scores
            answer: Any = {
                "model_name": "loans",
                "model_version": self.server.version,
                "outputs": [{"name": "score", "shape": shape, "data": flat}],
            }
        else:
            answer = {"predictions": scores}
        if fault == "huge":
            answer["padding"] = "x" * 100_000
        self._reply(200, answer, cut=fault == "truncated", garbled=fault == "garbled")

    def _reply(
        self,
        status: int,
        answer: Any,
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
        garbled: bool = False,
    ) -> None:
        text = b"<html>" if garbled else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if cut else text)
        self.wfile.flush()
        if cut:
            self.close_connection = True


def _read_tensor(body: Any) -> Rows:
    columns = body["inputs"]
    if len(columns) == 1 and columns[0]["name"] == "rows":
        n, width = columns[0]["shape"]
        data = columns[0]["data"]
        return [data[i * width : (i + 1) * width] for i in range(n)]
    return [list(row) for row in zip(*(column["data"] for column in columns), strict=True)]


def never(number: int) -> None:
    """Fail at nothing."""


def often(seed: int, share: float, kinds: Sequence[str]) -> Callable[[int], str | None]:
    """Fail at a share of the requests, in one of these ways each."""
    rng = random.Random(seed)
    return lambda number: rng.choice(kinds) if rng.random() < share else None


@contextmanager
def serving(
    model: Callable[[Rows], Sequence[Any]],
    fault: Callable[[int], str | None] = never,
    *,
    latency: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Server]:
    """Run an endpoint for as long as it is needed."""
    server = Server(model, fault)
    server.latency = latency
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        server.scheme = "https"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
