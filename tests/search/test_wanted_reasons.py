from typing import Any

import numpy as np
import pytest

from flipset import InputError
from flipset.search.solve import Limits
from flipset.search.wanted_reasons import REASONS, read_reasons


@pytest.mark.parametrize(
    ("wanted", "read"),
    [(True, REASONS), (False, False), (1, 1), (7, 7), (np.int64(3), 3), ("all", "all"), (np.True_, REASONS)],
)
def test_what_may_be_wanted(wanted: Any, read: int | str) -> None:
    assert read_reasons(wanted) == read
    assert read_reasons(read_reasons(wanted)) == read
    assert Limits(reasons=wanted).reasons == read


@pytest.mark.parametrize("wanted", [0, -1, 2.5, "ALL", "5", "none", None, [3], float("nan")])
def test_anything_else_is_refused_with_what_is_expected(wanted: Any) -> None:
    with pytest.raises(InputError, match=r'reasons must be a whole number of at least 1, "all", True .*; got') as error:
        read_reasons(wanted)
    assert repr(wanted) in str(error.value)


def test_the_default_is_a_few() -> None:
    assert Limits().reasons == REASONS == 5
