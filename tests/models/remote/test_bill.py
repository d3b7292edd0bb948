"""What an endpoint was asked, in one line."""

import pytest

from flipset.models.remote.bill import Bill


def test_only_what_there_is_is_told() -> None:
    assert str(Bill(rows=1, calls=1, sent=1)) == "1 row answered in 1 request"
    told = str(Bill(rows=12_345, calls=1_000, sent=20_000, failed=3, price=12.5))
    assert "12,345 rows" in told
    assert "1,000 requests" in told
    assert "of which 3 failed" in told
    assert "12.50" in told


@pytest.mark.parametrize(
    ("price", "shown"),
    [(0.032, "0.0320"), (0.0001 * 3, "0.000300"), (0.0312345, "0.0313"), (1.001, "1.01"), (3.0, "3.00"),
     (0.1 * 3, "0.300"), (1234.5, "1,234.50"), (0.9999, "1.000")],
)  # fmt: skip
def test_a_price_is_never_shown_as_less_than_it_is(price: float, shown: str) -> None:
    assert f"for {shown} at most" in str(Bill(price=price))
