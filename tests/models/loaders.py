"""Loaders of model files that misbehave, for processes of their own: registered in `LOADERS`, sent there by name.

The file says what happens: its text is the name of one of `DEEDS`, which is done when the file is opened or, with
"later" in front, when the model is asked.
"""

import ctypes
import os
import select
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def segfault() -> None:
    ctypes.string_at(0)


def flood() -> None:
    print("x" * 300_000, file=sys.stderr)
    print("\x1b[31mlast words\x1b[0m\nterminate called without an active exception", file=sys.stderr, flush=True)
    os.abort()


def hang() -> None:
    select.select([], [], [], 3600)


def computes() -> None:
    """Compute for ever, and say so through the pipe whose name the environment has."""
    with open(os.environ["FLIPSET_TEST_BUSY"], "w") as busy:
        busy.write("busy")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    while True:
        pass


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    sys.exit(3)


def refuse() -> None:
    raise ValueError("\x1b[31mthree\nlines\nlong")


def warn() -> None:
    warnings.warn("made with another version", stacklevel=1)


def raw(data: bytes) -> Any:
    """Send bytes that are no reply, as a process would that is in other hands."""

    def send() -> None:
        for descriptor in range(3, 64):
            try:
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("pipe:"):
                    os.write(descriptor, data)
            except OSError:
                continue

    return send


DEEDS = {
    "abort": os.abort,
    "segfault": segfault,
    "flood": flood,
    "hang": hang,
    "computes": computes,
    "kill": kill,
    "leave": leave,
    "refuse": refuse,
    "warn": warn,
    "endless": raw(b"\xff" * 16),
    "no json": raw((4).to_bytes(8, "big") + (0).to_bytes(8, "big") + b"\x80\x04N."),
}


class Sum:
    """The score is the sum of a row; the deed is done when there is a negative number among the rows."""

    classes_ = np.array(["bad", "good"])

    def __init__(self, deed: str | None) -> None:
        self.deed = deed

    def __call__(self, rows: Any) -> Any:
        table = np.asarray(rows, dtype=float)
        if self.deed is not None and (table < 0).any():
            DEEDS[self.deed]()
        return table.sum(axis=1)


def load(file: Path) -> Any:
    """Open a file that says what happens."""
    deed = file.read_text()
    if deed.startswith("later "):
        return Sum(deed.removeprefix("later "))
    if deed:
        DEEDS[deed]()
    return Sum(None)


def hashes(table: Any) -> Any:
    """Return a number for each row that depends on its cells, their types, and the type of the table."""
    from hashlib import sha256

    kind = type(table).__qualname__
    types = str(getattr(table, "dtypes", getattr(table, "schema", getattr(table, "dtype", ""))))
    rows = table.to_numpy() if hasattr(table, "to_numpy") else table
    cells = rows.tolist() if hasattr(rows, "tolist") else rows.to_pylist()
    texts = [f"{kind} {types} {[(type(cell).__name__, repr(cell)) for cell in row]}" for row in cells]
    return np.array([int.from_bytes(sha256(text.encode()).digest()[:6], "big") for text in texts], dtype=float)


def load_hash(_: Path) -> Any:
    """Open a model whose scores are hashes of what it was given."""
    return hashes


def fill_memory() -> Any:
    """Ask for more memory than the limit of the test allows."""
    from flipset.errors import FlipsetError

    try:
        return bytearray(64 * 1024**3)
    except MemoryError:
        raise FlipsetError("MemoryError") from None
