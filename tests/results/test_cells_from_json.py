"""Cells of explanations read from JSON."""

from datetime import date, datetime
from decimal import Decimal
from math import copysign, inf, isnan
from typing import Any

import pytest

from flipset.boundary.reading import Field
from flipset.errors import InputError
from flipset.results.cells_from_json import if_there, optional, read_value, same_cell
from flipset.results.to_json import write_value


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "text", inf, -inf, date(2026, 1, 31), datetime(2026, 1, 31, 12, 30), Decimal("1.10")],
    ids=repr,
)
def test_what_is_written_is_read(value: Any) -> None:
    found = read_value(Field(write_value("x", value), "x"))
    assert (found, type(found)) == (value, type(value))


def test_nan_is_read() -> None:
    found = read_value(Field({"float": "nan"}, "x"))
    assert isinstance(found, float)
    assert isnan(found)


@pytest.mark.parametrize(
    "value", [[], {}, {"float": "1"}, {"date": "soon"}, {"decimal": "1e999"}, {"a": "b"}, {"date": "", "float": ""}]
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InputError):
        read_value(Field(value, "x"))


def test_the_same_number_is_kept_once() -> None:
    a, b = float("1.5"), float("1.50")
    assert same_cell(a, b) is b
    assert type(same_cell(1, 1.0)) is int
    assert copysign(1, same_cell(-0.0, 0.0)) == -1


def test_members_that_are_not_there() -> None:
    assert optional(None, Field.flag) is None
    assert optional(Field(None, "x"), Field.flag) is None
    assert if_there(None, Field.flag) is None
    with pytest.raises(InputError):
        if_there(Field(None, "x"), Field.flag)
