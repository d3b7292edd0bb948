"""Numbers that look like codes are pointed out, and amounts are not."""

from typing import Any

import pytest

from flipset.space.codes import code_hints, suspected_codes


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([-9, -8, -8, 0, 2, 5, 7, 9, 40], [-9, -8]),
        ([-999.0, 0.5, 1.5, 2.5], [-999]),
        ([-9, -8, -7], []),  # nothing else: perhaps these are amounts
        ([-9, -4.5, 3, 4, 5], []),
        ([-120, -9, 3, 4, 5, 6], []),
        ([0, 1, 3, 96, 98, 98], [96, 98]),
        ([0, 60, 95, 98, 99], []),  # percentages
        ([1, 2, 9999999], [9999999]),
        ([99], []),
        ([], []),
        ([-1, 0, 0, 4, 999], [-1, 999]),
    ],
)
def test_codes_are_few_and_apart_from_the_rest(numbers: Any, codes: list[int]) -> None:
    assert suspected_codes(numbers) == codes


def test_the_note_says_what_to_write() -> None:
    assert code_hints("late", [-9, -7, 0, 3.5, 12]) == [
        "in late, -9, -7 look like codes, not amounts; if so, write this, and lower and upper within 0 and 12:",
        "special = [-9, -7]",
    ]
    assert "999 looks like a code" in code_hints("late", [1, 2, 999])[0]
    assert code_hints("late", [1, 2, 3]) == []
