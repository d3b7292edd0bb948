"""What an endpoint was asked, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from flipset.plural import count


@dataclass(slots=True)
class Bill:
    """What an endpoint was asked so far.

    Attributes
    ----------
    rows
        Rows that were answered.
    calls
        Requests that were sent, those included that failed.
    sent
        Rows in all these requests.
    failed
        Requests without an answer that could be used.
    price
        What the calls and the rows sent cost by the endpoint's prices: at most this, for some failed on the way.
    """

    rows: int = 0
    calls: int = 0
    sent: int = 0
    failed: int = 0
    price: float = 0.0

    def __str__(self) -> str:
        failed = f", {self.failed:,} of them in vain" if self.failed else ""
        price = f", for {self.price:,.2f} at most" if self.price else ""
        return f"{count(self.rows, 'row')} answered in {count(self.calls, 'request')}{failed}{price}"
