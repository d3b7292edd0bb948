"""Explanations with their columns in another order."""

from flipset.results.column_order import in_columns
from tests.results.examples import data_of, explained


def test_columns_come_in_the_order_that_is_wanted() -> None:
    e = data_of(explained())
    turned = in_columns(e, ("age", "debt", "income"))
    assert list(turned.row) == ["age", "debt", "income"]
    assert [unit.columns for unit in turned.moves.units] == [(2,), (1,)]
    assert turned.moves.names(0b01) == e.moves.names(0b01)
    assert in_columns(turned, tuple(e.row)).row == e.row
