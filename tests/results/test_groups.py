"""Groups compared: every figure against a computation by hand from the explanations, whoever made the summaries."""

from collections.abc import Sequence
from functools import cache
from math import exp, isnan, nan, sqrt
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Explanations, Feature, FlipsetError, InputError, Space
from flipset.clusters.batches import COUNTED, count_batch
from flipset.clusters.frames import _summaries
from flipset.results.groups import FIGURES, SMALL, Figure, GroupSummaries
from flipset.results.statistics import REPLICATES, SEED, Z
from flipset.results.summary import SIDES, Counts, Side
from flipset.results.table import summarize_by
from flipset.space.words import Decision

NAMES = tuple("abc")


def score(rows: Any) -> Any:
    """Rise in every feature; rows whose features are all 7 cannot be scored."""
    values = np.asarray(rows, dtype=float)
    if ((values == 7).all(axis=1)).any():
        raise ValueError("seven")
    return values @ np.array([1.0, 2.0, 3.0])


def made(seed: int, favorable: str, n: int = 90, **request: Any) -> tuple[Explanations, list[Any]]:
    """Explain a random table: some rows have no option, some reach a limit, and some fail."""
    rng = Random(seed)
    space = Space(
        [Feature(name, "integer", direction=+1, lower=1, upper=8) for name in NAMES],
        decision=Decision(threshold=38, favorable=favorable),  # type: ignore[arg-type]
    )
    table = [[rng.randint(0, 9) for _ in NAMES] for _ in range(n - 2)] + [[7, 7, 7]] * 2
    groups = [rng.choice(["x", "x", "x", "y", None]) for _ in table]
    return Explainer(score, space).explain_table(table, **request), groups


REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"max_changes": 1},  # rows that need more have no option
    {"max_queries": 5},  # rows that need more are stopped, and some costs are not proved
    {"values": False},  # no cost is known
)


# --- by hand ----------------------------------------------------------------------------------------------------------


def wilson(part: int, n: int) -> tuple[float, float]:
    """Solve the quadratic equation whose roots are the ends of the interval."""
    a, b, c = 1 + Z * Z / n, -(2 * part / n + Z * Z / n), (part / n) ** 2
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def check_share(figure: Figure, own: tuple[int, int], other: tuple[int, int] | None) -> None:
    part, whole = own
    assert (figure.count, figure.rows) == (part, whole)
    if not whole:
        assert isnan(figure.value)
        return
    assert figure.value == part / whole
    low, high = wilson(part, whole)
    assert figure.interval == pytest.approx((low, high), abs=1e-9)
    if other is None or not other[1]:
        assert isnan(figure.difference)
        return
    part_, whole_ = other
    low_, high_ = wilson(part_, whole_)
    p, q = part / whole, part_ / whole_
    assert figure.difference == p - q
    ends = p - q - sqrt((p - low) ** 2 + (high_ - q) ** 2), p - q + sqrt((high - p) ** 2 + (q - low_) ** 2)
    assert figure.difference_interval == pytest.approx(ends, abs=1e-9)
    assert figure.ratio == pytest.approx(p / q if q else nan, nan_ok=True)
    if 0 < p < 1 and 0 < q < 1:
        half = Z * sqrt((1 - p) / part + (1 - q) / part_)
        assert figure.ratio_interval == pytest.approx((p / q * exp(-half), p / q * exp(half)))
    else:
        assert all(map(isnan, figure.ratio_interval))


@cache
def replicates(values: tuple[float, ...], stream: int) -> list[float]:
    """Resample one value at a time, by the upper half of each 64 bits."""
    bits = np.random.PCG64(np.random.SeedSequence([SEED, stream]))
    n = len(values)
    return [sum(values[((raw >> 32) * n) >> 32] for raw in bits.random_raw(n).tolist()) / n for _ in range(REPLICATES)]


def resampled(values: Sequence[float], stream: int) -> list[float]:
    """Costs are resampled to 4 digits, around their exact mean."""
    rounded = tuple(sorted(float(f"{value:.4g}") for value in values))
    shift = sum(values) / len(values) - sum(rounded) / len(rounded)
    return [one + shift for one in replicates(rounded, stream)]


def check_mean(figure: Figure, values: Sequence[float], other: Sequence[float] | None) -> None:
    assert (figure.count, figure.rows) == (None, len(values))
    if not values:
        assert isnan(figure.value)
        return
    middle = sum(values) / len(values)
    assert figure.value == pytest.approx(middle)
    if len(set(values)) < 2:
        assert all(map(isnan, figure.interval))
        return
    mine = resampled(values, 0)
    assert figure.interval == pytest.approx(tuple(np.quantile(mine, [0.025, 0.975])))
    if not other:
        assert isnan(figure.difference)
        return
    assert figure.difference == pytest.approx(middle - sum(other) / len(other), abs=1e-12)
    if len(set(other)) > 1:
        gaps = np.array(mine) - np.array(resampled(other, 1))
        assert figure.difference_interval == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])), abs=1e-12)


def raw(found: Sequence[Explanation | FlipsetError], groups: list[Any], group: Any, side: Side) -> dict[str, Any]:
    """Compute from the explanations, one by one, what figures are made of."""
    explained = [e for e, g in zip(found, groups, strict=True) if g == group and isinstance(e, Explanation)]
    own = [e for e in explained if e.is_favorable == (side == "approved")]
    sized = [e for e in own if e.size is not None]
    costs = [
        min(one.cost for one in e.counterfactuals)
        for e in sized
        if e.counterfactuals
        and min(one.cost for one in e.counterfactuals) <= min(one.cost_at_least for one in e.counterfactuals)
    ]
    return {
        "share": (len(own), len(explained)),
        "one_change": (sum(e.size == 1 for e in own), len(own)),
        "no_option": (sum(e.status == "none" for e in own), len(own)),
        "limit_reached": (sum(e.status == "stopped" for e in own), len(own)),
        "not_proved": (sum(e.status == "unproved" for e in own), len(own)),
        "mean_changes": [e.size for e in sized],
        "mean_cost": costs,
    }


def check(compared: GroupSummaries, found: Explanations, groups: list[Any]) -> None:
    for group in compared:
        for side in SIDES:
            figures = compared.figures(group, side)
            assert tuple(figures) == FIGURES
            mine = raw(found, groups, group, side)
            other = None if group == compared.reference else raw(found, groups, compared.reference, side)
            for name, figure in figures.items():
                if name.startswith("mean"):
                    check_mean(figure, mine[name], None if other is None else other[name])
                else:
                    check_share(figure, mine[name], None if other is None else other[name])
            assert compared.is_small(group, side) == (len(mine["one_change"]) > 0 and mine["one_change"][1] < SMALL)


@pytest.mark.parametrize("favorable", ["above", "below"])
@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_figures_are_those_of_the_raw_explanations(favorable: str, request_: dict[str, Any]) -> None:
    for seed in range(2):
        found, groups = made(seed, favorable, **request_)
        assert sum(isinstance(one, FlipsetError) for one in found) >= 2
        check(found.summary_by(groups), found, groups)
        check(found.summary_by(groups, reference="y"), found, groups)
    statuses = {e.status for e in found if isinstance(e, Explanation)}
    others = {"max_changes": "none", "max_queries": "stopped"}
    assert statuses == {"optimal"} | {others[name] for name in request_ if name in others}


@pytest.mark.parametrize("favorable", ["above", "below"])
def test_workers_and_batches_give_the_same_summaries(favorable: str) -> None:
    found, groups = made(7, favorable, n=120)
    expected = found.summary_by(groups)
    check(expected, found, groups)
    elsewhere, _ = made(7, favorable, n=120, workers=2)
    assert elsewhere.summary_by(groups) == expected
    # Another order of the rows, counted in batches as a cluster does, and put together in another order.
    order = list(range(120))
    Random(1).shuffle(order)
    frame = found.to_frame().assign(group=groups).iloc[order]
    decision = found[0].words.decision
    parts: list[tuple[Any, ...]] = []
    for start in range(0, 120, 17):
        counts = count_batch(frame.iloc[start : start + 17], "group")
        parts = [*zip(*(counts[name] for name in COUNTED), strict=True), *parts]
    merged = _summaries(parts, "group", None, decision)
    assert merged == expected
    assert isinstance(merged, GroupSummaries)
    # Intervals too, to the last bit.
    assert merged.to_dict() == expected.to_dict()
    alone = [(*part[1:],) for part in parts]
    assert Counts.from_parts(alone).summary(decision) == found.summary()


# --- the reference group, and tables ----------------------------------------------------------------------------------


def test_the_reference_is_the_largest_group_or_the_one_that_is_named() -> None:
    found, groups = made(3, "above")
    compared = found.summary_by(groups)
    assert compared.reference == "x"
    assert list(compared) == [None, "x", "y"]  # by text
    assert isnan(compared.figures("x")["share"].difference)
    assert found.summary_by(groups, "y").reference == "y"
    assert found.summary_by(groups, "missing").reference is None
    assert not isnan(found.summary_by(groups, "missing").figures("x")["share"].difference)
    with pytest.raises(InputError, match="the reference group 'z' is not among the groups: missing, x, y"):
        found.summary_by(groups, "z")


def test_groups_of_numbers_are_found_by_their_text() -> None:
    found, _ = made(3, "above")
    groups = [float(i % 2) for i in range(len(found))]
    assert found.summary_by(groups, "1").reference == 1.0
    assert found.summary_by([i % 20 for i in range(len(found))], 3).reference == 3
    with pytest.raises(InputError, match="and 8 more"):
        found.summary_by([i % 20 for i in range(len(found))], 20)


def test_figures_are_a_tidy_table() -> None:
    found, groups = made(3, "below")
    compared = found.summary_by(groups)
    frame = compared.to_frame()
    assert len(frame) == 3 * 2 * len(FIGURES)
    assert set(frame["outcome"]) == {"declined", "approved"}
    row = frame[(frame["group"] == "y") & (frame["decision"] == "declined") & (frame["figure"] == "one_change")]
    figure = compared.figures("y")["one_change"]
    assert row["value"].item() == figure.value
    assert row["difference"].item() == figure.difference
    assert (row["difference_low"].item(), row["difference_high"].item()) == figure.difference_interval
    assert row["count"].item() == figure.count
    reference = frame[frame["is_reference"]]
    assert set(reference["group"]) == {"x"}
    assert reference["difference"].isna().all()
    assert isinstance(frame, pd.DataFrame)


def test_no_rows_have_no_groups() -> None:
    assert len(summarize_by([], [])) == 0
    assert summarize_by([], []).to_dict() == {}


def test_rows_that_cannot_be_explained_are_counted_and_in_no_share() -> None:
    found, _ = made(3, "above")
    compared = found.summary_by(["a"] * (len(found) - 3) + ["b"] * 3)  # the last two rows fail
    assert (compared["b"].rows, compared["b"].errors) == (3, 2)
    assert compared.figures("b", "declined")["share"].rows == 1
    assert compared["a"].rows + compared["b"].rows == len(found)
