"""Rows as text: what is written alike, and what the earlier version wrote."""

import json

import numpy as np
import pandas as pd

from flipset.journal.texts import untyped_texts, value_texts


def test_equal_numbers_are_written_alike_whatever_their_types() -> None:
    ints, floats, flags = np.array([[1, 0]]), np.array([[1.0, 0.0]]), np.array([[True, False]])
    assert value_texts(ints) == value_texts(floats) == value_texts(flags) == ["[1, 0]"]


def test_missing_values_are_written_alike_and_text_stays_text() -> None:
    frame = pd.DataFrame({"a": [None, float("nan"), 1.5], "b": ["x", "x", "1.5"]})
    assert value_texts(frame) == ['[null, "x"]', '[null, "x"]', '[1.5, "1.5"]']


def test_numbers_that_a_float_cannot_hold_stay_apart() -> None:
    rows = np.array([[2**53 + 1], [2**53]], dtype=object)
    assert len(set(value_texts(rows))) == 2


def test_the_earlier_version_is_trusted_only_where_nothing_else_was_written_alike() -> None:
    rows = np.array([[0.1, 0.2], [1.0, 0.2], [0.5, 0.2], [float("nan"), 0.2]])
    assert untyped_texts(rows) == [json.dumps([0.1, 0.2]), None, None, None]
    assert untyped_texts(rows.astype(np.float32)) == [None] * 4
    assert untyped_texts([[0.1]]) == [None]
