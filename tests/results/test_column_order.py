"""Explanations with their columns in another order."""

import json

from flipset import Explanation
from flipset.results.column_order import in_columns
from tests.results.examples import data_of, explained
from tests.ruled import BROKEN, ruled_explainer


def test_columns_come_in_the_order_that_is_wanted() -> None:
    e = data_of(explained())
    turned = in_columns(e, ("age", "debt", "income"))
    assert list(turned.row) == ["age", "debt", "income"]
    assert [unit.columns for unit in turned.moves.units] == [(2,), (1,)]
    assert turned.moves.names(0b01) == e.moves.names(0b01)
    assert in_columns(turned, tuple(e.row)).row == e.row


def test_consequences_are_in_the_order_of_the_columns() -> None:
    e = ruled_explainer().explain(BROKEN, more=5)
    turned = in_columns(e, list(e.row)[::-1])
    orders = [[each.feature for each in one.consequences] for one in turned.promised]
    assert ["age", "dti"] in orders
    assert ["dti", "age"] not in orders
    assert in_columns(turned, list(e.row)).larger == e.larger


def test_a_program_that_sorts_the_keys_of_json_changes_nothing() -> None:
    text = json.dumps(json.loads(ruled_explainer().explain(BROKEN, more=5).to_json()), sort_keys=True)
    e = Explanation.from_json(text)
    assert list(e.row) == sorted(BROKEN)
    assert ruled_explainer().verify(e).problems == ()
    (one,) = ruled_explainer().recheck([e])
    assert one.holds
    assert one.proof_holds
    assert one.same_moves
    assert not one.disallowed
