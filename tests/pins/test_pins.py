"""What the library did before it was rebuilt, it does still: answers, reasons, proofs, costs, and what it asks."""

import pytest

from tests.pins.cases import CASES, some
from tests.pins.command import differences, read_pins
from tests.pins.transcripts import pin_of

PINS = read_pins()


def check(name: str) -> None:
    now = pin_of(CASES[name]())
    assert now == PINS[name], f"{differences(PINS[name], now)}; see python -m tests.pins --show {name}"


def test_every_case_has_its_pin() -> None:
    assert PINS.keys() == CASES.keys()


@pytest.mark.parametrize("name", some())
def test_a_spread_of_cases_is_as_it_was(name: str) -> None:
    check(name)


@pytest.mark.campaign
@pytest.mark.parametrize("name", CASES)
def test_every_case_is_as_it_was(name: str) -> None:
    check(name)
