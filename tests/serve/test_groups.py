"""Rows are grouped by the text of a value; a column with very many values is not offered."""

import numpy as np
import pandas as pd
import pytest

from flipset import InputError
from flipset.serve.groups import MOST_OFFERED, group_columns, groups_of

FRAME = pd.DataFrame(
    {
        "region": ["north", "south", None, "north"] * 5,
        "late": [0.0, np.nan, 1.0, 1.0] * 5,
        "same": [1] * 20,
        "few": list(range(MOST_OFFERED)) + [0] * (20 - MOST_OFFERED),
        "many": list(range(MOST_OFFERED + 1)) + [0] * (19 - MOST_OFFERED),
    }
)


def test_columns_with_one_value_or_very_many_are_not_offered() -> None:
    assert group_columns(FRAME) == ["region", "late", "few"]


def test_a_missing_value_is_a_group() -> None:
    assert groups_of(FRAME, "region")[:4] == ["north", "south", "missing", "north"]
    assert groups_of(FRAME, "late")[:4] == ["0.0", "missing", "1.0", "1.0"]


def test_only_columns_of_the_table_have_groups() -> None:
    with pytest.raises(InputError, match="no column 'city' to compare by"):
        groups_of(FRAME, "city")
