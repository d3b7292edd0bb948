"""Access to the model: a limited number of calls at a time, and requests of clients before background work."""

from __future__ import annotations

from contextlib import contextmanager
from threading import BoundedSemaphore, Condition
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Gone(BaseException):
    """The client has disconnected. A BaseException, so that nothing handles it as an error of the model."""


class ModelAccess:
    """All calls of one model go through here; at most `at_once` run at a time."""

    def __init__(self, at_once: int = 1) -> None:
        self._model = BoundedSemaphore(at_once)
        self._turn = Condition()
        self._clients = 0
        self._closed = False

    @contextmanager
    def client(self) -> Iterator[None]:
        """Keep background work waiting while a client waits."""
        with self._turn:
            self._clients += 1
        try:
            yield
        finally:
            with self._turn:
                self._clients -= 1
                self._turn.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether no more calls are made."""
        return self._closed

    def close(self) -> None:
        """Make no more calls."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()

    def for_client(self, predict: Callable[[Any], Any], is_gone: Callable[[], bool]) -> Callable[[Any], Any]:
        """Return the model for the request of a client, until the client disconnects."""

        def ask(rows: Any) -> Any:
            with self._model:
                if self._closed or is_gone():
                    raise Gone
                return predict(rows)

        return ask

    def for_background(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model for background work."""

        def ask(rows: Any) -> Any:
            with self._turn:
                self._turn.wait_for(lambda: self._closed or not self._clients)
            with self._model:
                if self._closed:
                    raise Gone
                return predict(rows)

        return ask
