"""How soon the page answers: `python -m benchmarks.page` asks a server of its own what-if requests about real rows.

Times are taken at the client, on the same machine, one request after another: the whole way through the server.
"""

from __future__ import annotations

import json
import socket
import statistics
import time
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import numpy as np

from benchmarks.cases import shipped
from benchmarks.local_models import fit
from flipset.explain.threads import one_thread
from flipset.serve import Served, make_app, make_server

if TYPE_CHECKING:
    from flipset import Explainer

TOKEN = "benchmark"
REQUESTS = 200


def ask(port: int, body: dict[str, Any]) -> float:
    head = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    request = Request(f"http://127.0.0.1:{port}/api/explain", json.dumps(body).encode(), head)
    start = time.perf_counter()
    with urlopen(request) as answer:
        answer.read()
    return time.perf_counter() - start


def measure(explainer: Explainer, frame: Any) -> list[float]:
    """Ask about rows with one value moved somewhere in its range, while the table is explained in the background."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = make_app(Served(explainer, frame), token=TOKEN, hosts=(f"127.0.0.1:{port}",))
    server = make_server(app)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    rng = np.random.default_rng(0)
    movable = [feature for feature in explainer.space.features if feature.ordered]
    try:
        ask(port, {"row": 0})
        times = []
        for _ in range(REQUESTS):
            feature = movable[int(rng.integers(len(movable)))]
            value = float(rng.choice(frame[feature.name]))
            times.append(ask(port, {"row": int(rng.integers(len(frame))), "values": {feature.name: value}}))
        return times
    finally:
        server.should_exit = True
        thread.join()


def main() -> None:
    print("| table, model | median, ms | 95 of 100 within, ms | longest, ms |\n|---|--:|--:|--:|")
    with one_thread():
        table = next(one for one in shipped() if one.name == "loanapp")
        for library in ("XGBoost", "LightGBM", "HistGradientBoosting"):
            setting = fit(library, table)
            frame = setting.frame.reset_index(drop=True)
            times = sorted(1e3 * seconds for seconds in measure(setting.explainer(), frame))
            late = times[int(len(times) * 0.95)]
            print(f"| {setting.name} | {statistics.median(times):.0f} | {late:.0f} | {times[-1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
