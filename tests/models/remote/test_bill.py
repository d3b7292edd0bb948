"""What an endpoint was asked, in one line."""

from flipset.models.remote.bill import Bill


def test_only_what_there_is_is_told() -> None:
    assert str(Bill(rows=1, calls=1, sent=1)) == "1 row answered in 1 request"
    told = str(Bill(rows=12_345, calls=1_000, sent=20_000, failed=3, price=12.5))
    assert "12,345 rows" in told
    assert "1,000 requests" in told
    assert "of which 3 failed" in told
    assert "12.50" in told
