"""Explanations written as JSON: every field, and nothing that JSON cannot hold."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from flipset import InputError
from flipset.results.from_json import ADDED, OPTIONAL, REQUIRED
from flipset.results.to_json import dump, write_value
from flipset.space.told_rules import ToldRules
from tests.results.examples import explained


def test_all_fields_are_written() -> None:
    left_out: dict[str, Any] = {
        "id": {"client": "00123"}, "held_because": {"age": "missing"}, "own_bounds": {"limit": 5},
        "rules": ToldRules(follows={"age": "age + (years - years.before)"}),
    }  # fmt: skip
    assert set(dump(replace(explained(), **left_out))) == {*REQUIRED, *OPTIONAL, *ADDED}
    assert not set(left_out) & set(dump(explained()))


@pytest.mark.parametrize("value", [object(), 10**400, b"bytes", Decimal("1e400"), [1]])
def test_what_json_cannot_hold_is_refused_by_column(value: Any) -> None:
    with pytest.raises(InputError, match=r"column 'age' has .* which cannot be written as JSON"):
        write_value("age", value)
