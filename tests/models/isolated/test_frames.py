"""Messages between the two processes: what is written is read, and replies are bounded before they are read."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.models.isolated.frames import (
    LENGTHS,
    MOST_TEXT,
    Broken,
    Gone,
    read_reply,
    read_request,
    write_reply,
    write_request,
)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none() | st.floats(allow_nan=False)), st.binary())
def test_replies_are_read_as_they_were_written(about: dict[str, object], data: bytes) -> None:
    stream = io.BytesIO()
    write_reply(stream, about, data)
    stream.seek(0)
    assert read_reply(stream, len(data)) == (about, data)
    assert stream.read() == b""


def test_requests_keep_arrays() -> None:
    stream = io.BytesIO()
    write_request(stream, ("predict", np.array([[1.5, np.nan]])))
    stream.seek(0)
    verb, rows = read_request(stream)
    assert verb == "predict"
    assert rows.tobytes() == np.array([[1.5, np.nan]]).tobytes()


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_reply_or_broken(data: bytes) -> None:
    try:
        about, rest = read_reply(io.BytesIO(data), 16)
    except Broken:
        return
    assert isinstance(about, dict)
    assert len(rest) <= 16


@pytest.mark.parametrize(
    ("text", "words"),
    [(b"[1]", "not an object"), (b"{", "not JSON"), (b"[" * 100_000, "not JSON"), (b"\x80\x04N.", "not JSON")],
)
def test_replies_that_are_none(text: bytes, words: str) -> None:
    with pytest.raises(Broken, match=words):
        read_reply(io.BytesIO(LENGTHS.pack(len(text), 0) + text), 0)


@pytest.mark.parametrize("lengths", [(MOST_TEXT + 1, 0), (2, 9), (2**64 - 1, 2**64 - 1)])
def test_replies_that_are_too_long_are_refused_before_they_are_read(lengths: tuple[int, int]) -> None:
    stream = io.BytesIO(LENGTHS.pack(*lengths) + b"{}" + bytes(20))
    with pytest.raises(Broken, match="bytes, where at most"):
        read_reply(stream, 8)
    assert stream.tell() == LENGTHS.size


def test_the_end_of_the_stream_is_told_from_nonsense() -> None:
    whole = io.BytesIO()
    write_reply(whole, {"a": 1}, b"data")
    for length in range(len(whole.getvalue())):
        with pytest.raises(Gone):
            read_reply(io.BytesIO(whole.getvalue()[:length]), 4)
    with pytest.raises(Gone):
        read_request(io.BytesIO(b""))


def test_nothing_in_a_reply_is_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a reply was unpickled")

    monkeypatch.setattr("flipset.models.isolated.frames.pickle.loads", forbidden)
    stream = io.BytesIO()
    write_reply(stream, json.loads('{"a": [1]}'), b"\x80\x04N.")
    stream.seek(0)
    assert read_reply(stream, 4) == ({"a": [1]}, b"\x80\x04N.")
