"""Access to the model: a limited number of calls at a time, and urgent work first.

Work has a rank. While work of a lower rank number is under way, calls of a higher one wait, so a person who changes a
value waits for at most one call of a table. Waiting work is not starved: after `GIVE_WAY` more urgent pieces of work
have ended, one call goes ahead.

Invariant: a call that waits here ends with `Gone` as soon as its client has left or the server closes. A call that the
model has begun is never cut short.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from threading import Condition
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Rank(IntEnum):
    """How urgent work is: one row, a check of an explanation, a table for a client, the page's own table."""

    ROW = 0
    CHECK = 1
    TABLE = 2
    BACKGROUND = 3


GIVE_WAY = 16
"""The number of more urgent pieces of work that may end before a waiting call goes ahead of further ones."""

CALL_ROWS = 1_024
"""The most rows in one call for a table: a person may have to wait for such a call."""


class Gone(BaseException):
    """The client has disconnected. A BaseException, so that nothing handles it as an error of the model."""


class ModelAccess:
    """All calls of one model go through here; at most `at_once` run at a time."""

    def __init__(self, at_once: int = 1) -> None:
        self._free = at_once
        self._change = Condition()
        self._under_way = [0] * len(Rank)  # pieces of work, by rank
        self._ended = [0] * len(Rank)
        self._closed = False

    @contextmanager
    def working(self, rank: Rank) -> Iterator[None]:
        """Keep less urgent calls waiting while this work is under way."""
        with self._change:
            self._under_way[rank] += 1
        try:
            yield
        finally:
            with self._change:
                self._under_way[rank] -= 1
                self._ended[rank] += 1
                self._change.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether no more calls are made."""
        return self._closed

    def close(self) -> None:
        """Make no more calls."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def wake(self) -> None:
        """Let waiting calls look again whether their client has left."""
        with self._change:
            self._change.notify_all()

    def for_work(self, predict: Callable[[Any], Any], rank: Rank, is_gone: Callable[[], bool]) -> Callable[[Any], Any]:
        """Return the model for work of this rank, until `is_gone` says that nobody waits for it."""

        def ask(rows: Any) -> Any:
            with self._a_call(rank, is_gone):
                return predict(rows)

        return ask

    @contextmanager
    def _a_call(self, rank: Rank, is_gone: Callable[[], bool]) -> Iterator[None]:
        with self._change:
            # Counted from now on: what ended before this call began to wait does not entitle it to anything.
            limit = sum(self._ended[:rank]) + GIVE_WAY

            def is_its_turn() -> bool:
                return not any(self._under_way[:rank]) or sum(self._ended[:rank]) >= limit

            self._change.wait_for(lambda: self._closed or is_gone() or (self._free > 0 and is_its_turn()))
            # Looked at again after the wait, which also ends for these two.
            if self._closed or is_gone():
                raise Gone
            self._free -= 1
        try:
            yield
        finally:
            with self._change:
                self._free += 1
                # All, since only some of those that wait may go next, and any of them may be gone.
                self._change.notify_all()
