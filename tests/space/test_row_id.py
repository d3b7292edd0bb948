"""The identifier of a row, for people: exactly as it is."""

from datetime import date

import pytest

from flipset.space.row_id import cell_text, id_text, is_known, place_text, row_text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("00123", "00123"),
        (1234567, "1234567"),
        (7.0, "7"),
        (0.1, "0.1"),
        (date(2026, 1, 31), "2026-01-31"),
        (None, "missing"),
        ("", ""),
    ],
)
def test_a_cell_is_written_as_it_is(cell: object, text: str) -> None:
    assert cell_text(cell) == text


def test_a_row_is_named_by_its_identifier_or_else_by_its_number() -> None:
    client = {"client": "00123"}
    assert id_text(client) == row_text(3, client) == "client 00123"
    assert place_text(3, client) == "row 3 (client 00123)"
    levels = {"region": "north", "client": None}
    assert row_text(3, levels) == "region north, client missing"
    for nothing in (None, {"client": None}, {}):
        assert not is_known(nothing)
        assert row_text(1_234, nothing) == place_text(1_234, nothing) == "row 1234"
