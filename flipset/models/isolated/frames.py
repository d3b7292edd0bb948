"""Messages between a program and the process that runs its model.

The two directions are not alike, because a hostile model file may have taken the process over:

- A request comes from the program, which the process trusts. It is a pickle, so tables of every kind keep their types.
- A reply comes from the process, which the program does not trust. It is a JSON object and plain bytes, both with their
  lengths in front, and it is refused before it is read if it is longer than expected. Nothing in it is ever unpickled.
"""

from __future__ import annotations

import json
import pickle
import struct
from typing import IO, Any

LENGTH = struct.Struct(">Q")
LENGTHS = struct.Struct(">QQ")

MOST_TEXT = 16 * 1024 * 1024
"""The most bytes of JSON in a reply. The names of 100,000 columns take about 2 MB."""


class Broken(Exception):
    """The other side sent something that is no message."""


class Gone(Broken):
    """The other side has closed its end, which is what happens when it dies."""


def write_request(out: IO[bytes], request: Any) -> None:
    """Send a request to the process."""
    body = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
    out.write(LENGTH.pack(len(body)))
    out.write(body)
    out.flush()


def read_request(source: IO[bytes]) -> Any:
    """Return the next request of the program, in the process; raise `Gone` when the program is."""
    (length,) = LENGTH.unpack(_exactly(source, LENGTH.size))
    return pickle.loads(_exactly(source, length))


def write_reply(out: IO[bytes], about: dict[str, Any], data: bytes = b"") -> None:
    """Send a reply to the program."""
    # The text is complete before anything is written, so an error here does not leave half a reply in the pipe.
    text = json.dumps(about).encode()
    out.write(LENGTHS.pack(len(text), len(data)))
    out.write(text)
    out.write(data)
    out.flush()


def read_reply(source: IO[bytes], most: int) -> tuple[dict[str, Any], bytes]:
    """Return a reply of the process: an object and at most `most` bytes; raise `Broken` for anything else."""
    text_length, length = LENGTHS.unpack(_exactly(source, LENGTHS.size))
    # Before a byte of it is read: the lengths may be those of an attacker, who wants memory to be reserved.
    if text_length > MOST_TEXT or length > most:
        raise Broken(f"a reply of {text_length + length:,} bytes, where at most {MOST_TEXT + most:,} were expected")
    try:
        about = json.loads(_exactly(source, text_length))
    except (ValueError, RecursionError):
        raise Broken("a reply that is not JSON") from None
    if not isinstance(about, dict):
        raise Broken("a reply that is not an object")
    return about, _exactly(source, length)


def _exactly(source: IO[bytes], length: int) -> bytes:
    read = source.read(length)
    if len(read) < length:
        raise Gone("the other side is gone")
    return read
