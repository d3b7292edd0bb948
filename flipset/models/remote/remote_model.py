"""What an explainer needs of a model that is asked over a network: the contract that `Endpoint` meets.

Anything with these members is treated as an endpoint: a subclass, a wrapper, or a client for a protocol that is not
HTTP. Its calls are then made several at a time, and `batch` follows from how long they take.
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
        """How many calls may be under way at a time. The model itself keeps to it, whoever calls."""

    @property
    def price_per_row(self) -> float:
        """What a row costs; 0 where few calls matter more than few rows."""

    @property
    def call_times(self) -> CallTimes:
        """How long calls took; the model notes each."""

    @property
    def answered_as(self) -> str | None:
        """The version of the model that its answers say they are of; None where they do not say."""

    def __call__(self, rows: Any, names: Sequence[str] | None = None) -> Any:
        """Return one score, or one list of scores, for each row."""

    def ask(self, rows: Any, names: Sequence[str] | None = None) -> Awaitable[Any]:
        """Return the same to a coroutine, in any event loop; cancelling it gives the call up."""

    def fill(self) -> int:
        """Return how many rows the next call should have."""

    def identity(self) -> str:
        """Return what tells this model and its version from others, for journals and reports."""

    def close(self) -> None:
        """Give up all calls and close all connections; the next call opens them again."""
