"""Paths in columns of narrow floats: every value is one that the type holds, and enough."""

from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Feature
from flipset.space.path import find_path, held_by
from flipset.space.rounded import nearest

TYPES = [np.dtype("float16"), np.dtype("float32")]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@given(st.floats(-1e5, 1e5))
def test_the_nearest_number_is_at_or_beyond_and_none_lies_between(dtype: np.dtype[np.floating], value: float) -> None:
    most = float(np.finfo(dtype).max)
    for up in (True, False):
        found = nearest(value, dtype, up=up)
        assert float(dtype.type(found)) == found
        if abs(value) > most:
            assert abs(found) == most or (found >= value if up else found <= value)
            continue
        assert found >= value if up else found <= value
        between = float(np.nextafter(dtype.type(found), dtype.type(-np.inf if up else np.inf)))
        assert between < value if up else between > value


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("direction", [1, -1])
def test_a_path_keeps_its_order_its_length_and_its_bounds(dtype: np.dtype[np.floating], direction: int) -> None:
    feature = Feature("x", direction=direction, lower=0.1, upper=0.9)  # type: ignore[arg-type]
    path = find_path(feature, 0.3, raise_score=True, reference=None)
    assert path is not None
    held = held_by(path, dtype)
    assert held is not None
    assert len(held.values) == len(path.values)
    for exact, rounded in zip(path.values, held.values, strict=True):
        assert float(dtype.type(rounded)) == rounded
        assert 0.1 <= rounded <= 0.9
        further = rounded >= exact if path.rising else rounded <= exact
        assert further or rounded == held.values[-1]  # no further than the last number within the bound
    assert list(held.values) == sorted(held.values, reverse=not path.rising)


def test_a_step_that_the_type_cannot_take_is_no_path() -> None:
    before = 1.0
    feature = Feature("x", direction=+1, lower=0.0, upper=nextafter(1.0, inf))
    path = find_path(feature, before, raise_score=True, reference=None)
    assert path is not None
    assert held_by(path, np.dtype("float32")) is None  # no float32 lies between 1 and the bound
