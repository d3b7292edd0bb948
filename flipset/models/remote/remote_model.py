"""`RemoteModel`: what an explainer needs of a model that is reached over a network. `Endpoint` is one.

Anything with these members is treated as an endpoint: a subclass, a wrapper, or a client for a protocol other than
HTTP. Several calls of it are then under way at a time, and `batch` is chosen by how long they take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from flipset.models.remote.call_times import CallTimes


@runtime_checkable
class RemoteModel(Protocol):
    """A model that answers calls from elsewhere, several at a time."""

    @property
    def in_flight(self) -> int:
        """How many calls may be under way at a time. The model itself keeps to this limit, across all callers."""

    @property
    def price_per_row(self) -> float:
        """The price of one row; 0 if the number of calls matters more than the number of rows."""

    @property
    def call_times(self) -> CallTimes:
        """How long calls took; the model records each of them."""

    @property
    def answered_as(self) -> str | None:
        """The model version that the answers name; None if they name none."""

    def __call__(self, rows: Any, names: Sequence[str] | None = None) -> Any:
        """Return one score, or one list of scores, for each row."""

    def ask(self, rows: Any, names: Sequence[str] | None = None) -> Awaitable[Any]:
        """Return the same as a coroutine, in any event loop; cancelling it cancels the call."""

    def fill(self) -> int:
        """Return how many rows the next call should have."""

    def identity(self) -> str:
        """Return what identifies this model and its version, for journals and reports."""

    def close(self) -> None:
        """Cancel all calls and close all connections; the next call opens them again."""
