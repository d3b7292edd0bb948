"""`AnswerStore`: what an explainer needs of a journal, and whose fault it is when one fails."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from flipset.errors import FlipsetError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset.space import Space


@runtime_checkable
class AnswerStore(Protocol):
    """What an explainer needs of a journal, so that other kinds of stores can take its place. `Journal` is one.

    A store may also have `abefore`, as `Journal` does. Without it, an endpoint behind the store is called in threads.
    """

    def bind(self, space: Space, positive: Any) -> None:
        """Note what the answers are about; refuse a store that is about something else."""

    def before(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the model behind the store: it scores only rows that are not in the store."""

    def kept(self, part: str) -> str | None:
        """Return a setting that all runs with this store share; None if it was not kept yet."""

    def keep(self, part: str, value: str) -> str:
        """Keep a setting for all runs with this store, unless it was kept before; return the one that counts."""


@contextmanager
def blaming_the_store(store: AnswerStore) -> Iterator[None]:
    """Turn what a store raises into a `StorageError`. The model behind it must raise nothing but errors of flipset."""
    try:
        yield
    # The model behind the store has raised it, or the store has found the right words itself.
    except FlipsetError:
        raise
    except Exception as error:
        name = getattr(store, "path", type(store).__name__)
        raise StorageError(f"the journal {name} failed: {type(error).__name__}: {error}") from error
