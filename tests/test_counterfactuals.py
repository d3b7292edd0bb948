from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import product
from random import Random
from threading import Event
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from flipset import InputError, NotMonotone, OracleError, find_counterfactuals
from flipset.errors import NotReturned
from flipset.models.scores import margins
from flipset.paper import ball_search, find_optimal
from flipset.paper.measures import sensitivity_at
from flipset.search.guided import guided_search
from flipset.search.solve import FindAll
from flipset.space.reduction import reduce_row, unpack
from flipset.testing import DRAWS
from tests.patience import PATIENCE

Rows = NDArray[np.float64]


class Case:
    """A random monotone model on a box of 2 to 5 values a feature, with mixed directions, and a row in it."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.d = rng.randint(1, 5)
        self.levels = [rng.randint(2, 5) for _ in range(self.d)]
        self.directions = [rng.choice((+1, +1, -1, -1, 0)) for _ in range(self.d)]
        # A monotone predicate over "feature i has risen to level l": one bit for each feature and level above 0.
        self.starts = [sum(n - 1 for n in self.levels[:i]) for i in range(self.d)]
        bits = sum(n - 1 for n in self.levels)
        self.g = DRAWS[seed % len(DRAWS)](rng, bits)
        # Often at an extreme, where a feature has nowhere to go.
        self.x = [rng.choice((0, n - 1, rng.randrange(n))) for n in self.levels]
        self.threshold = rng.choice((0.5, 1.0, 0.25))

    def model(self, rows: Rows) -> Rows:
        return np.array([float(self.decide(row)) for row in rows.tolist()])

    def decide(self, row: Sequence[float]) -> bool:
        bits = 0
        for start, level, n, direction in zip(self.starts, row, self.levels, self.directions, strict=True):
            risen = int(level) if direction >= 0 else n - 1 - int(level)
            bits |= ((1 << risen) - 1) << start
        return self.g(bits)

    def truth(self) -> set[frozenset[int]]:
        """All rows of the box that keep what is held fixed, the sets in which the nearest differ."""
        decision = self.decide(self.x)
        ranges = [
            range(n) if direction else [x] for n, direction, x in zip(self.levels, self.directions, self.x, strict=True)
        ]
        changed = {
            frozenset(i for i in range(self.d) if row[i] != self.x[i])
            for row in product(*ranges)
            if self.decide(row) != decision
        }
        size = min(map(len, changed), default=0)
        return {features for features in changed if len(features) == size}

    def find(self, search: FindAll) -> Any:
        return find_counterfactuals(
            self.model,
            self.x,
            [0] * self.d,
            [n - 1 for n in self.levels],
            directions=self.directions,
            threshold=self.threshold,
            search=search,
            batch=4,
        )


@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.parametrize("search", [guided_search, find_optimal, ball_search])
def test_two_thousand_mixed_domains_agree_with_every_row_of_the_space(search: FindAll, chunk: int) -> None:
    for seed in range(chunk * 125, (chunk + 1) * 125):
        case = Case(seed)
        found = case.find(search)
        assert set(found.flipsets) == case.truth()
        assert found.decision == case.decide(case.x)
        assert all(case.decide(row) != found.decision for row in found.rows.tolist())
        assert found.verify(case.model)
        assert found.held_fixed == tuple(i for i in range(case.d) if case.directions[i] == 0)


def test_the_model_is_asked_as_often_as_is_said() -> None:
    asked: list[int] = []

    def model(rows: Rows) -> Any:
        asked.append(len(rows))
        return rows.sum(axis=1)

    found = find_counterfactuals(
        model, [0] * 6, [0] * 6, [1, 2, 3, 4, 5, 6], directions=[1] * 6, threshold=10, search=ball_search, batch=4
    )
    assert (sum(asked), len(asked)) == (found.queries, found.rounds)
    assert [sorted(s) for s in found.flipsets] == [[3, 5], [4, 5]]
    limited = find_counterfactuals(
        model, [0] * 6, [0] * 6, [1, 2, 3, 4, 5, 6], directions=[1] * 6, threshold=10, max_queries=5
    )
    assert (limited.status, limited.queries) == ("stopped", 5)
    assert limited.lower is not None
    assert limited.lower >= 1  # the row itself was asked


def test_a_row_that_cannot_move_has_no_way_out() -> None:
    found = find_counterfactuals(lambda rows: rows[:, 0], [0.0, 1.0], [0, 0], [0, 1], directions=[1, 1])
    assert (found.status, found.queries, found.flipsets, found.rows.shape) == ("none", 1, (), (0, 2))
    assert found.verify(lambda rows: rows[:, 0])


def test_ties_are_on_the_upper_side() -> None:
    def model(rows: Rows) -> Rows:
        return rows[:, 0]

    # At the threshold the decision is positive: reaching it flips a row that is below it, ...
    rising = find_counterfactuals(model, [0.0], [0.0], [0.5], directions=[1])
    assert (rising.decision, rising.flipsets) == (False, (frozenset({0}),))
    # ... and a row above it that can only fall to it keeps its decision.
    falling = find_counterfactuals(model, [0.9], [0.5], [1.0], directions=[1])
    assert (falling.decision, falling.status) == (True, "none")
    assert margins(np.array([0.5, 0.4]), 0.5, rise=False)[0] < 0 <= margins(np.array([0.4]), 0.5, rise=False)[0]


def test_a_model_that_writes_into_its_rows_does_no_harm() -> None:
    def model(rows: Rows) -> Any:
        rows /= [100, 10]
        return rows[:, 0] + rows[:, 1]

    found = find_counterfactuals(model, [50, 2], [0, 0], [80, 9], directions=[1, 1], threshold=1)
    assert [sorted(s) for s in found.flipsets] == [[0], [1]]


def test_verify_notices_another_model() -> None:
    found = find_counterfactuals(lambda rows: rows[:, 0], [0.0, 0.0], [0, 0], [1, 1], directions=[1, 1])
    assert found.verify(lambda rows: rows[:, 0])
    assert not found.verify(lambda rows: rows[:, 1])


def test_correction_3_features_at_their_extreme_are_left_out() -> None:
    """The lemma's Δ(x↓y, x) = Δ(y, 1^d) counts features that do not change when x stands at the extreme already."""
    x = [0.0, 1.0]
    reduction = reduce_row(x, [0, 0], [1, 1], [1, 1], rise=False)
    flipped = 0b11  # y = 0^d in the printed reduction: both features "snapped"
    snapped = reduction.rows_of_features([flipped])[0]
    differs = int(np.count_nonzero(snapped != x))
    assert differs != flipped.bit_count()  # the printed equality
    assert reduction.movable == (1,)
    assert reduction.spread(0b1).bit_count() == differs  # with the feature left out it holds


def test_correction_4_the_sensitivity_of_the_reduction_is_at_most_that_of_the_model() -> None:
    """S_{f_x}(y) = S_f(x ↕ y) is printed; here the left side is 1 and the right side 2."""

    def f(row: Sequence[float]) -> bool:
        return row[0] >= 1 and row[1] >= 1

    x = [1.0, 0.0]
    reduction = reduce_row(x, [0, 0], [2, 2], [1, 1], rise=True)
    assert reduction.movable == (0, 1)
    y = 0b11

    def f_x(query: int) -> bool:
        return f(reduction.rows([query])[0].tolist())

    snapped = reduction.rows([y])[0].tolist()
    sensitivity_of_f = sum(
        any(f([*snapped[:i], a, *snapped[i + 1 :]]) != f(snapped) for a in (0, 1, 2)) for i in (0, 1)
    )
    assert sensitivity_at(f_x, y, 2) == 1 < sensitivity_of_f == 2


def test_unpack_is_the_bits() -> None:
    rng = Random(0)
    for d in (1, 7, 8, 9, 64, 65, 300):
        batch = [rng.getrandbits(d) for _ in range(5)]
        assert unpack(batch, d).tolist() == [[bool(q >> i & 1) for i in range(d)] for q in batch]
    assert unpack([], 3).shape == (0, 3)


BOX: dict[str, Any] = {"x": [0.5, 0.5], "lower": [0, 0], "upper": [1, 1], "directions": [1, -1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [0.5, 1.5]}, "x is above upper at feature 1: lower=0, x=1.5, upper=1"),
        ({"x": [-0.5, 0.5]}, "x is below lower at feature 0"),
        ({"x": [0.5, float("nan")]}, "x is NaN at feature 1"),
        ({"x": []}, "x must be one-dimensional with at least one feature"),
        ({"x": [[0.5, 0.5]]}, r"got shape \(1, 2\)"),
        ({"x": ["a", "b"]}, "x must be numbers"),
        ({"lower": [0]}, "lower must have one entry per feature of x: 2, got 1"),
        ({"lower": [0, 2]}, "lower is above upper at feature 1"),
        ({"upper": [1, float("nan")]}, "upper is NaN at feature 1"),
        ({"directions": [1]}, "directions must have one entry per feature"),
        ({"directions": [1, 2]}, r"directions\[1\] is 2; expected \+1"),
        ({"directions": [1, "up"]}, r"directions\[1\] is 'up'"),
        ({"directions": [1, None]}, r"directions\[1\] is None"),
        ({"max_queries": 0}, "max_queries must be at least 1"),
        ({"threshold": float("nan")}, "threshold must be a finite number, got nan"),
        ({"threshold": None}, "threshold must be a finite number, got None"),
        ({"directions": 1}, "directions must have one entry per feature"),
        ({"directions": [[1], [1]]}, r"directions\[0\] is \[1\]"),
    ],
)
def test_boxes_that_cannot_be_right(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_counterfactuals(lambda rows: rows[:, 0], **{**BOX, **change})


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda rows: rows, r"one score per row: shape \(1,\), got \(1, 2\)"),
        (lambda rows: np.full(len(rows), np.nan), "NaN for row 0"),
        (lambda rows: np.array(["yes"] * len(rows)), "numbers or booleans, got dtype <U3"),
        (lambda rows: rows[0, 9], "IndexError when asked 1 query"),
    ],
)
def test_models_that_cannot_be_read(model: Callable[[Rows], Any], message: str) -> None:
    with pytest.raises(OracleError, match=message):
        find_counterfactuals(model, **BOX)


def test_a_model_that_is_not_monotone_is_named_by_the_features_of_the_row() -> None:
    # Feature 0 cannot move, so the search numbers the others from 0; the error must not.
    def model(rows: Rows) -> Any:
        moved = rows[:, 1:].sum(axis=1)
        return (moved > 0) & (moved < 3)

    with pytest.raises(NotMonotone) as caught:
        find_counterfactuals(model, [1] + [0] * 3, [0] * 4, [1] * 4, directions=[1] * 4, search=sweep)
    assert caught.value.smaller <= caught.value.larger == {1, 2, 3}


def sweep(d: int, *, batch: int) -> Any:
    from flipset import ask

    for query in range(1 << d):
        yield from ask((query,))
    return ()


@pytest.mark.campaign
@pytest.mark.parametrize("chunk", range(40))
def test_long_campaign_on_mixed_domains(chunk: int) -> None:
    for seed in range(10**6 + chunk * 500, 10**6 + (chunk + 1) * 500):
        case = Case(seed)
        assert set(case.find(find_optimal).flipsets) == case.truth()


@pytest.mark.parametrize("at", [1, 2])
def test_c6_a_blocked_call_is_abandoned_also_if_it_is_the_first(at: int) -> None:
    release, calls = Event(), []

    def model(rows: Rows) -> Any:
        calls.append(len(rows))
        if len(calls) == at:
            release.wait(PATIENCE)
        return rows[:, 0] >= 3

    ends = pytest.raises(NotReturned) if at == 1 else nullcontext()
    try:
        with pytest.warns(RuntimeWarning, match="did not return"), ends:
            find_counterfactuals(model, [1, 1], [0, 0], [5, 5], directions=[1, 1], max_seconds=0.5)
    finally:
        release.set()
    assert len(calls) == at


def test_the_time_of_the_first_query_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def model(rows: Rows) -> Any:
        now[0] += 3
        return rows[:, 0] >= 3

    found = find_counterfactuals(model, [1, 1], [0, 0], [5, 5], directions=[1, 1], max_seconds=2)
    assert (found.status, found.queries) == ("stopped", 1)
