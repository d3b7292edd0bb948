"""Calls of the model: no more at a time than it bears, which may be one, and people before the background."""

from __future__ import annotations

from contextlib import contextmanager
from threading import BoundedSemaphore, Condition
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Gone(BaseException):
    """Whoever asked is no longer there. Not an error of the model's: nothing may take it for one."""


class Gate:
    """Where all calls of one model come through, so many at once."""

    def __init__(self, at_once: int = 1) -> None:
        self._model = BoundedSemaphore(at_once)
        self._turn = Condition()
        self._people = 0
        self._closed = False

    @contextmanager
    def person(self) -> Iterator[None]:
        """Keep the background waiting for as long as somebody does."""
        with self._turn:
            self._people += 1
        try:
            yield
        finally:
            with self._turn:
                self._people -= 1
                self._turn.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether nothing is let through any more."""
        return self._closed

    def close(self) -> None:
        """Let nothing through any more."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()

    def for_person(self, predict: Callable[[Any], Any], is_gone: Callable[[], bool]) -> Callable[[Any], Any]:
        """Return the model for one who is there, until that one is gone."""

        def ask(rows: Any) -> Any:
            with self._model:
                if self._closed or is_gone():
                    raise Gone
                return predict(rows)

        return ask

    def for_background(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model for work that can wait."""

        def ask(rows: Any) -> Any:
            with self._turn:
                self._turn.wait_for(lambda: self._closed or not self._people)
            with self._model:
                if self._closed:
                    raise Gone
                return predict(rows)

        return ask
