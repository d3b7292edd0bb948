"""Rules that say something are told from those that would hold anyway."""

from typing import Any

import numpy as np
import pytest

from flipset.space.suggestions.evidence import is_rare, says_something

R = np.random.default_rng(0)
N = 3_000
LATE = R.poisson(0.05, N).astype(float)
MANY = R.poisson(8, N).astype(float)
MONEY = R.lognormal(10, 1, N)

TELLING: dict[str, tuple[Any, Any]] = {
    "a part of a whole": (LATE, LATE + R.poisson(0.1, N)),
    "a part of a larger whole": (R.binomial(MANY.astype(int), 0.3).astype(float), MANY),
    "mostly 0": (np.where(R.random(N) < 0.97, 0, MANY), MANY + 0.0),
    "continuous": (MONEY * R.random(N), MONEY),
    "equal": (MONEY, MONEY),
    "below 0": (MANY - 20, MANY - 20 + R.poisson(1, N)),
}

SILENT: dict[str, tuple[Any, Any]] = {
    "ranges apart": (MANY, MANY[::-1] + 1_000),
    "ranges apart, one row": (np.r_[MANY, 900.0], np.r_[MANY[::-1] + 1_000, 1_000.0]),
    "nearly apart": (np.minimum(MANY, 12), MANY[::-1] + 12),
    "constant": (np.zeros(N), MANY),
    "another scale": (np.where(MONEY > 9_000, MANY, 0), np.where(MONEY > 9_000, MONEY, 0)),
}


@pytest.mark.parametrize("name", TELLING)
def test_rules_that_say_something(name: str) -> None:
    a, b = TELLING[name]
    assert (a <= b).all()
    assert says_something(a, b, 0, 0.001)


@pytest.mark.parametrize("name", SILENT)
def test_rules_that_hold_anyway(name: str) -> None:
    a, b = SILENT[name]
    assert (a <= b).all()
    assert not says_something(a, b, 0, 0.001)


def test_a_rule_that_is_broken_as_often_as_by_chance_says_nothing() -> None:
    a, b = TELLING["a part of a whole"]
    expected = float((a[:, None] > b[None, :]).mean()) * N
    assert says_something(a, b, int(expected * 0.009), 0.001)
    assert not says_something(a, b, int(expected * 0.02), 0.001)
    assert says_something(a, b, int(expected * 0.02), 0.005)


def test_few_rows_are_chance() -> None:
    assert not says_something(np.arange(10.0), np.arange(10.0), 0, 0.001)


def test_nothing_may_be_broken_where_nothing_may_be() -> None:
    assert is_rare(0, 1e6, 0)
    assert not is_rare(1, 1e6, 0)
    assert not is_rare(300_000, 1e6, 0.5)
