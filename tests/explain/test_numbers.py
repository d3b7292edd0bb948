"""Numbers at the limits of floats: whole ones beyond them, bounds near the largest, and values that are none."""

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, isfinite
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import Explainer, Feature, InputError, Space, range_share
from flipset.show.report import report
from flipset.space.path import find_path
from flipset.space.reference import Reference

LARGE = 1.7e308
STARTS = [2**53 - 4, 2**62, -(2**63), 2**64 - 8, -(2**53) - 4]


def column(kind: str, values: list[int]) -> Any:
    unsigned = max(values) >= 2**63
    if kind == "pandas":
        return pd.DataFrame({"x": np.array(values, dtype="uint64" if unsigned else "int64")})
    if kind == "nullable":
        return pd.DataFrame({"x": pd.array(values, dtype="UInt64" if unsigned else "Int64")})
    if kind == "polars":
        return pl.DataFrame({"x": pl.Series(values, dtype=pl.UInt64 if unsigned else pl.Int64)})
    return pa.table({"x": pa.array(values, type=pa.uint64() if unsigned else pa.int64())})


KINDS = ["pandas", "nullable", "polars", "arrow"]


def counted_from(start: int) -> Callable[[Any], Any]:
    """A model that is exact where floats are not: how far each number lies above a start."""

    def score(rows: Any) -> Any:
        cells = rows["x"].to_pylist() if hasattr(rows["x"], "to_pylist") else rows["x"].to_list()
        return np.array([float(int(cell) - start) for cell in cells])

    return score


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("way", [+1, -1])
def test_a5_whole_numbers_that_no_float_holds_are_exact(kind: str, start: int, way: int) -> None:
    frame = column(kind, [start + i for i in range(8)])
    rising = way == 1
    space = Space.from_frame(frame, increasing=["x"]) if rising else Space.from_frame(frame, decreasing=["x"])
    assert (space["x"].kind, space["x"].lower, space["x"].upper) == ("integer", start, start + 7)
    far = counted_from(start)
    for own in range(8):
        for wanted in range(8):
            explainer = Explainer(lambda rows: way * far(rows), space, threshold=way * wanted)
            e = explainer.explain({"x": start + own})
            assert e.decision == (own >= wanted if rising else own <= wanted)
            # Brute force over the eight values: the nearest whose decision is the other one.
            others = [i for i in range(8) if (i >= wanted if rising else i <= wanted) != e.decision]
            if not others:
                assert e.status == "none"
                continue
            nearest = min(others, key=lambda i: abs(i - own))
            (one,) = e.counterfactuals
            assert (e.status, one.row["x"] - start, one.cost) == ("optimal", nearest, abs(nearest - own) / 8)
            assert explainer.verify(e)
            by_range = Explainer(explainer.predict, space, threshold=way * wanted, cost=range_share)
            cost = by_range.explain({"x": start + own}).counterfactuals[0].cost
            assert cost == pytest.approx(abs(nearest - own) / 7, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a5_a_numeric_feature_over_whole_numbers_is_exact_too(kind: str) -> None:
    start = 2**62
    reference = Reference.of(column(kind, [start + i for i in (0, 1, 1, 3, 6, 7)]))
    feature = Feature("x", special=(start + 3, 0.5))
    assert reference.scale(feature) == [start, start + 1, start + 1, start + 6, start + 7]
    assert reference.points(feature, 9) == ([start, start + 1, start + 6, start + 7], True)
    values = [start - 1, start, start + 1, start + 5, start + 7, start + 8]
    assert reference.counts(feature, values, included=True) == [0, 1, 3, 3, 5, 5]
    assert reference.counts(feature, values, included=False) == [0, 0, 1, 3, 4, 5]


whole = st.integers(-(2**63), 2**63 - 1) | st.integers(2**62 - 5, 2**62 + 5) | st.integers(-3, 3)


@given(values=st.lists(whole, min_size=1, max_size=9), cents=st.tuples(st.integers(0, 100), st.integers(0, 100)))
def test_a5_quantiles_are_exact(values: list[int], cents: tuple[int, int]) -> None:
    low, high = sorted(cents)
    ascending = sorted(values)

    def quantile(cent: int) -> Fraction:
        place = Fraction(cent * (len(values) - 1), 100)
        share = place - floor(place)
        return (1 - share) * ascending[floor(place)] + share * ascending[ceil(place)]

    frame = pd.DataFrame({"x": np.array([*values, *values], dtype=np.int64)[: len(values)], "y": 0})
    lower, upper = ceil(quantile(low)), floor(quantile(high))
    if set(values) == {0, 1}:
        return  # a flag, which has no bounds
    if lower > upper:
        with pytest.raises(InputError, match="lower is above upper"):
            Space.from_frame(frame, increasing=["x"], quantiles=(low / 100, high / 100))
        return
    feature = Space.from_frame(frame, increasing=["x"], quantiles=(low / 100, high / 100))["x"]
    assert (feature.lower, feature.upper) == (lower, upper)


@given(st.lists(st.integers(-(2**54), 2**54) | st.integers(2**53 - 2, 2**53 + 2), min_size=1), st.data())
def test_a5_counts_are_those_of_python(values: list[int], data: Any) -> None:
    sought = data.draw(st.lists(st.integers(-(2**54), 2**54) | st.sampled_from(values) | st.floats(-1e17, 1e17)))
    reference = Reference.of(pd.DataFrame({"x": np.array(values, dtype=np.int64)}))
    feature = Feature("x")
    assert reference.counts(feature, sought, included=True) == [sum(v <= s for v in values) for s in sought]
    assert reference.counts(feature, sought, included=False) == [sum(v < s for v in values) for s in sought]


def test_a5_float_bounds_of_whole_numbers_are_what_they_are() -> None:
    feature = Feature("x", "integer", direction=+1, lower=2.0**62, upper=2.0**62 + 8192)
    path = find_path(feature, 2**62 + 8186, raise_score=True, reference=None)
    assert path is not None
    assert list(path.values) == [2**62 + i for i in range(8187, 8193)]


def test_a12_what_a_reference_keeps_depends_on_special_codes_and_levels() -> None:
    frame = pd.DataFrame({"x": [-7, -7, 1, 2, 3]})
    reference = Reference.of(frame)
    plain = Feature("x")
    coded = Feature("x", special=(-7,))
    level = Feature("x", "ordinal", options=(3, 2, 1), direction=+1)
    for _ in range(2):
        assert reference.scale(plain) == [-7, -7, 1, 2, 3]
        assert reference.scale(coded) == [1, 2, 3]
        assert reference.scale(level) == [0, 1, 2]
        assert reference.counts(plain, [1.0], included=True) == [3]
        assert reference.counts(coded, [1.0], included=True) == [1]
        assert reference.points(plain, 9) == ([-7, 1, 2, 3], True)
        assert reference.points(coded, 9) == ([1, 2, 3], True)
        assert reference.points(coded, 2) == ([1, 3], False)

    def cost(special: tuple[int, ...]) -> float:
        feature = Feature("x", "integer", direction=+1, lower=0, upper=3, special=special)
        found = Explainer(lambda rows: rows["x"], Space([feature], reference=reference), threshold=3)
        return found.explain({"x": 1}).counterfactuals[0].cost

    assert (cost(()), cost((-7,)), cost(())) == (2 / 5, 2 / 3, 2 / 5)


NOTHING = [float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
FIELDS = ["direction", "lower", "upper", "step", "weight", "may_rise", "may_fall", "fixed", "missing", "group"]


@pytest.mark.parametrize("nothing", NOTHING, ids=repr)
@pytest.mark.parametrize("field", [*FIELDS, "kind", "options", "special", "may_become"])
def test_a14_nan_is_no_way_to_leave_a_field_out(field: str, nothing: Any) -> None:
    given: dict[str, Any] = {"direction": 1, "lower": 0, "upper": 9} | {field: nothing}
    if field in ("options", "special", "may_become"):
        given[field] = (nothing,)
    with pytest.raises(InputError, match=rf"feature 'x': .*{field}"):
        Feature("x", **given)


def test_a14_nan_is_refused_in_frames_changes_and_files() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(InputError, match="step is nan"):
        Space.from_frame(frame, increasing=["x"], steps={"x": np.nan})
    with pytest.raises(InputError, match="weight is nan"):
        Space.from_frame(frame, increasing=["x"], weights={"x": np.nan})
    with pytest.raises(InputError, match="lower is nan"):
        Space.from_frame(frame, increasing=["x"], bounds={"x": (np.nan, 2)})
    with pytest.raises(InputError, match="upper is <NA>"):
        Space.from_frame(frame, increasing=["x"]).with_changes(bounds={"x": (None, pd.NA)})
    with pytest.raises(InputError, match="step must be a finite number, got nan"):
        Space.from_toml('format = "flipset-space/1"\n[[feature]]\nname = "x"\nstep = nan\n')


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": True}, "step must be a positive number, got True"),
        ({"step": np.True_}, "step must be a positive number, got True"),
        ({"upper": 10**400}, "upper must be a finite number"),
        ({"lower": 2**53 + 1, "upper": 2**60}, "lower of a feature of kind 'numeric' must be a number that a float"),
        ({"kind": "ordinal", "upper": 2**53 + 1}, "upper of a feature of kind 'ordinal' must be a number that a float"),
        ({"step": 10**400}, "step must be a positive number"),
    ],
)
def test_a14_numbers_that_cannot_be_used_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Feature("x", **({"direction": 1, "lower": 0, "upper": 9} | given))


def grids() -> Iterator[tuple[Feature, Reference | None]]:
    reference = Reference.of(pd.DataFrame({"x": [-LARGE, -1.0, 0.0, 1.0, LARGE]}))
    for direction in (1, -1):
        for step in (None, 1e300, 1e305):
            for known in (None, reference):
                yield Feature("x", direction=direction, lower=-LARGE, upper=LARGE, step=step), known


@pytest.mark.parametrize(("feature", "reference"), list(grids()))
def test_a14_bounds_near_the_largest_float_overflow_nowhere(feature: Feature, reference: Reference | None) -> None:
    way = feature.direction or 0
    for before in (-way * LARGE, 0.0, None, np.nextafter(way * LARGE, 0)):
        path = find_path(feature, before, raise_score=True, reference=reference)
        assert path is not None
        some = [
            path.values[j] for j in sorted({0, 1, len(path.values) // 2, len(path.values) - 1}) if j < len(path.values)
        ]
        assert all(isfinite(value) and abs(value) <= LARGE for value in some)
        assert all(way * a < way * b for a, b in pairwise(some))
    space = Space([feature], reference=None if reference is None else reference.frame.to_native())

    def share(rows: Any) -> Any:
        cells = rows["x"].to_numpy() if hasattr(rows, "columns") else rows[:, 0]
        assert np.isfinite(cells.astype(float)).all()
        return way * cells.astype(float) / 1e308

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cost in (None, range_share):
            explainer = Explainer(share, space, threshold=1.0, cost=cost)
            e = explainer.explain([-way * LARGE])
            assert e.status == "optimal"
            assert 0 < e.counterfactuals[0].cost <= 1
            assert explainer.verify(e)
            assert explainer.audit([[-way * LARGE], [0.0]]).passed
        assert "svg" in report(e, asked="", model="", identity="", space=space)


def test_a14_bounds_read_off_a_frame_of_large_floats_are_finite() -> None:
    frame = pd.DataFrame({"x": [-LARGE, 0.0, LARGE]})
    feature = Space.from_frame(frame, increasing=["x"], quantiles=(0.25, 0.75))["x"]
    assert (feature.lower, feature.upper) == (-LARGE / 2, LARGE / 2)
