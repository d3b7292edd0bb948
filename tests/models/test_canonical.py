"""Values as bytes: the same for equal values, and for no others."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.models.canonical import NotCanonical, digest

DIFFERENT: list[Any] = [
    None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, float("nan"), float("inf"), 1j, "", "1", b"", b"1", "None",
    [], [1], [1, 2], [2, 1], [[1], 2], [[1, 2]], (), (1,), {}, {1: 2}, {2: 1}, {"1": 2}, set(), {1}, {(1,)},
    [b"1", b""], [b"", b"1"], ["ab", "c"], ["a", "bc"], slice(1, 2), slice(1, 2, 1), range(2), range(3),
    np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([1, 2], dtype=np.int32), np.array([]),
    np.array(1), np.array(["a", "b"]), np.array(["ab", ""]), np.float32(1), np.array([True, False]),
    np.array([(1, 2.0)], dtype=[("a", "i8"), ("b", "f8")]), np.array([(1, 2.0)], dtype=[("b", "i8"), ("a", "f8")]),
    np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"),
]  # fmt: skip


def test_values_that_differ_in_kind_shape_or_order_differ() -> None:
    assert len({digest(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_what_does_not_matter_does_not_count() -> None:
    grid = np.arange(6.0).reshape(2, 3)
    same: list[tuple[Any, Any]] = [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1, "a", 2.0}, frozenset(["a", 2.0, 1])),
        (np.int32(7), 7),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (grid, np.asfortranarray(grid)),
        (grid, grid.astype(">f8")),
        (np.arange(6.0)[::2], np.array([0.0, 2.0, 4.0])),
        (np.array(["a", "bcd"]), np.array(["a", "bcd"], dtype=object)),
        (float("nan"), -float("nan")),
    ]
    for one, other in same:
        assert digest(one) == digest(other)


def test_bytes_between_the_fields_of_a_record_do_not_count() -> None:
    dtype = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    one, other = (bytearray([filler] * dtype.itemsize) for filler in (0, 255))
    first, second = (np.frombuffer(memory, dtype=dtype) for memory in (one, other))
    for records in (first, second):
        records["a"], records["b"] = 1, 2.0
    assert one != other
    assert digest(first) == digest(second)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(PLAIN, PLAIN)
def test_equal_digests_mean_equal_values(one: Any, other: Any) -> None:
    # `repr` tells types, signs of zeros and NaN apart; dictionaries are compared in order of their keys.
    assert (digest(one) == digest(other)) == (repr(in_order(one)) == repr(in_order(other)))


def in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return type(value)(map(in_order, value)) if isinstance(value, (list, tuple)) else value


def test_what_cannot_be_written_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    wide = np.array([1], dtype=np.longdouble)
    for value in (print, object(), [lambda: 1], {"a": object}, circle, deep, np.array([object()]), wide):
        with pytest.raises(NotCanonical):
            digest(value)


def test_objects_are_what_they_unfold_to() -> None:
    def unfold(value: Any) -> tuple[str, Any]:
        return type(value).__name__, vars(value)

    class Box:
        def __init__(self, content: Any) -> None:
            self.content = content

    assert digest(Box([1]), unfold) == digest(Box([1]), unfold) != digest(Box([2]), unfold)
    assert digest(Box(1), unfold) != digest(("Box", {"content": 1}))
    twice = Box(1)
    assert digest([twice, twice], unfold) == digest([Box(1), Box(1)], unfold)
