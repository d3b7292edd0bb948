"""Which row a person means: by number, by identifier, or by a condition."""

from typing import Any

import pandas as pd
import pytest

from flipset import Feature, InputError, Space
from flipset.cli.rows import ids_of, pick_row

FRAME = pd.DataFrame({"id": [7, 8, 9], "a": [1.0, 2.0, 3.0], "b": [0, 5, 9]})
SPACE = Space([Feature("a", direction=+1, lower=0, upper=9)])


def test_a_row_is_picked_by_number_or_by_a_condition() -> None:
    assert pick_row(FRAME, "2", None) == 2
    assert pick_row(FRAME, None, "id == 8") == 1
    for row, where, message in (
        ("3", None, "rows 0 to 2"),
        ("first", None, "expected a number, counted from 0"),
        (None, None, "choose a row"),
        ("1", "id == 8", "choose a row"),
        (None, "id > 7", "met by 2 rows; exactly 1 is expected"),
        (None, "id +", "cannot be read"),
        (None, "id + 1", "is not a condition"),
    ):
        with pytest.raises(InputError, match=message):
            pick_row(FRAME, row, where)


def test_a_row_is_picked_by_its_identifier() -> None:
    ids: list[dict[str, Any]] = [{"client": "007"}, {"client": 7}, {"client": "x"}, {"client": "x"}, {"client": None}]
    assert pick_row(FRAME, "007", None, ids) == 0
    assert pick_row(FRAME, "7", None, ids) == 1
    with pytest.raises(InputError, match="no row has this client; with --id, --row is an identifier, such as 007"):
        pick_row(FRAME, "0", None, ids)
    with pytest.raises(InputError, match="2 rows have this client, those with the numbers 2, 3"):
        pick_row(FRAME, "x", None, ids)
    levels = [{"region": "north", "client": 7}]
    assert pick_row(FRAME, "north, 7", None, levels) == 0


def test_identifiers_are_those_of_the_option_or_of_an_index_with_a_name() -> None:
    ids = ids_of(FRAME, SPACE, "id")
    assert ids is not None
    assert ids.listed()[0] == {"id": 7}
    assert ids_of(FRAME, SPACE, None) is None
    assert ids_of(FRAME.iloc[1:], SPACE, None) is None
    named = ids_of(FRAME.set_index("id"), SPACE, None)
    assert named is not None
    assert named.of_index
    with pytest.raises(InputError, match="--id a is a column that the model sees"):
        ids_of(FRAME, SPACE, "a")
