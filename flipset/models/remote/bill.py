"""How much an endpoint was used, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

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
        price = f", for {_rounded_up(self.price)} at most" if self.price else ""
        return f"{count(self.rows, 'row')} answered in {count(self.calls, 'request')}{failed}{price}"


def _rounded_up(price: float) -> str:
    """Return a price with two decimals, or with three digits where it is less than 1; never less than it is."""
    digits = 2 if price >= 1 else 2 - floor(log10(price))
    # Prices are sums of floats: a last bit too much must not become another cent.
    return f"{ceil(round(price * 10**digits, 6)) / 10**digits:,.{digits}f}"
