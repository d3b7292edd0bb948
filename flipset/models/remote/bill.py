"""How much an endpoint was used, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from flipset.plural import count


@dataclass(slots=True)
class Bill:
    """How much an endpoint was used so far.

    Attributes
    ----------
    rows
        Rows that were answered.
    calls
        Requests that were sent, including those that failed.
    sent
        Rows in all these requests.
    failed
        Requests without a usable answer.
    price
        The price of the calls and rows sent. It is an upper bound, because some requests may have failed before the
        endpoint counted them.
    """

    rows: int = 0
    calls: int = 0
    sent: int = 0
    failed: int = 0
    price: float = 0.0

    def __str__(self) -> str:
        failed = f", of which {self.failed:,} failed" if self.failed else ""
        price = f", for {self.price:,.2f} at most" if self.price else ""
        return f"{count(self.rows, 'row')} answered in {count(self.calls, 'request')}{failed}{price}"
