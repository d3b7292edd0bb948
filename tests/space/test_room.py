"""Room to move is counted in decimals, and rounded inwards."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from flipset.space.room import Room, decimal, float_within, read_room


@pytest.mark.parametrize(
    ("given", "amount", "is_share"),
    [(5000, 5000, False), (0.1, Fraction(1, 10), False), (0, 0, False), ("20 %", Fraction(1, 5), True),
     (" 12.5% ", Fraction(1, 8), True), ("0 %", 0, True)],
)  # fmt: skip
def test_amounts_and_shares_are_read(given: Any, amount: Any, is_share: bool) -> None:
    assert read_room(given) == Room(Fraction(amount), is_share)


@pytest.mark.parametrize(
    "given", [-1, True, None, "20", "-5 %", "%", "1e3 %", "a %", float("inf"), [3], "9" * 40 + " %"]
)
def test_anything_else_is_no_room(given: Any) -> None:
    assert read_room(given) is None


def test_shares_are_of_the_distance_from_zero() -> None:
    fifth = read_room("20 %")
    assert fifth is not None
    assert [fifth.beyond(value, 1) for value in (50, -50, 0)] == [60, -40, 0]
    assert [fifth.beyond(value, -1) for value in (50, -50, 0)] == [40, -60, 0]
    assert fifth.beyond(0.1, 1) == Fraction(12, 100)


def test_a_float_within_a_limit_never_reads_as_more() -> None:
    assert float_within(Fraction(3, 10), 1) == 0.3
    rng = Random(3)
    for _ in range(2_000):
        limit = Fraction(rng.randrange(-(10**20), 10**20), 10 ** rng.randrange(25))
        for sign in (1, -1):
            found = float_within(limit, sign)
            assert sign * (decimal(found) - limit) <= 0
            assert abs(found - float(limit)) <= abs(float(limit)) * 2**-51
