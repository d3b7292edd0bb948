"""Model functions of several kinds keep the contract of a scorer, and the contract finds those that do not."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import XGBRegressor

from flipset import Explainer, Feature, Space
from flipset.models.remote.endpoint import Endpoint
from flipset.testing import ScorerContract
from tests.endpoints import serving

SPACE = Space(
    [
        Feature("income", direction=+1, lower=0, upper=100),
        Feature("debt", direction=-1, lower=0, upper=50),
        Feature("late", "integer", direction=-1, lower=0, upper=9, special=(-7,)),
        Feature("age", fixed=True),
    ]
)
_RNG = np.random.default_rng(5)
ROWS = np.column_stack(
    [_RNG.integers(0, 100, 60), _RNG.integers(0, 50, 60), _RNG.choice([-7, 0, 1, 2, 5], 60), _RNG.integers(18, 90, 60)]
).astype(float)

Table = Mapping[str, Callable[[Sequence[Sequence[Any]]], Any]]


def frame(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(rows, dtype=float), columns=list(SPACE.names))


def array(rows: Any) -> Any:
    return np.asarray(rows, dtype=float)


def linear(rows: Any) -> Any:
    """A sum in which "never late" (-7) is as good as it gets."""
    income, debt, late, age = np.asarray(rows, dtype=float).T
    return (income - debt - 3 * np.maximum(late, 0) + np.where(age > 60, 5, 0)) / 100


@cache
def boosted() -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(monotonic_cst=[1, -1, -1, 0], max_iter=10, min_samples_leaf=5)
    return model.fit(ROWS, linear(ROWS) > 0.2)


@cache
def regressor() -> XGBRegressor:
    model = XGBRegressor(n_estimators=10, monotone_constraints=(1, -1, -1, 0), n_jobs=1)
    return model.fit(ROWS, linear(ROWS))


class Loans(ScorerContract):
    space = SPACE
    rows = ROWS.tolist()

    def tables(self) -> Table:
        return {"list": array, "array": array, "frame": frame}


class TestFunctionOfMargins(Loans):
    def score(self, table: Any) -> Any:
        return linear(table)


class TestFunctionOfLabels(Loans):
    def score(self, table: Any) -> Any:
        return linear(table) >= 0.3


class TestScikitLearn(Loans):
    def score(self, table: Any) -> Any:
        return boosted().predict_proba(np.asarray(table))[:, 1]


class TestScikitLearnAsReadByTheExplainer(Loans):
    def score(self, table: Any) -> Any:
        return Explainer(boosted(), SPACE).scores(table)


class TestXGBoost(Loans):
    def score(self, table: Any) -> Any:
        return regressor().predict(np.asarray(table))


class TestEndpoint(Loans):
    seeds = range(50)

    @pytest.fixture(autouse=True)
    def served(self) -> Any:
        with serving(lambda rows: linear(rows).tolist()) as server, Endpoint(server.infer) as self.endpoint:
            yield

    def score(self, table: Any) -> Any:
        return self.endpoint(table)


class TestLevelsAndOptions(ScorerContract):
    """Columns of text: levels with an order, and categories without one."""

    space = Space(
        [
            Feature("grade", "ordinal", direction=-1, options=("A", "B", "C", "D")),
            Feature("purpose", "categorical", options=("car", "house")),
        ]
    )
    rows = [[grade, purpose] for grade in "ABCD" for purpose in ("car", "house")]  # noqa: RUF012

    def score(self, table: Any) -> Any:
        return [0.8 - 0.2 * "ABCD".index(grade) + 0.1 * (purpose == "house") for grade, purpose in table]


# --- scorers that break it --------------------------------------------------------------------------------------------


def centred(table: Any) -> Any:
    """Scores a row by how it compares with its batch."""
    scores = linear(table)
    return scores - scores.mean()


def gapped(table: Any) -> Any:
    return np.where(array(table)[:, 0] > 50, np.nan, linear(table))


def upside_down(table: Any) -> Any:
    return -linear(table)


def rewards_debt(table: Any) -> Any:
    """Takes a debt of more than 40 for good."""
    return linear(table) + np.where(array(table)[:, 1] > 40, 2, 0)


def arrays_only(table: Any) -> Any:
    """Reads a frame by the wrong column."""
    return linear(table) if isinstance(table, np.ndarray) else table["income"] / 100


@pytest.mark.parametrize(
    ("model", "test", "problem"),
    [
        (gapped, "test_each_row_has_one_finite_number", "is nan"),
        (lambda table: linear(table)[:1], "test_each_row_has_one_finite_number", "1 scores for 60 rows"),
        (centred, "test_a_row_has_the_same_score_in_any_batch", "alone and together"),
        (upside_down, "test_a_better_row_never_scores_less", "the score goes from .* down to"),
        (rewards_debt, "test_a_better_row_never_scores_less", "debt: 4.* → .*: the score goes"),
        (arrays_only, "test_every_kind_of_table_has_the_same_scores", "as frame"),
    ],
)
def test_the_contract_finds_what_breaks_it(model: Callable[[Any], Any], test: str, problem: str) -> None:
    class Broken(Loans):
        def score(self, table: Any) -> Any:
            return model(table)

    with pytest.raises(AssertionError, match=problem):
        getattr(Broken(), test)()


def test_rows_that_say_nothing_are_refused() -> None:
    class Alike(Loans):
        rows = [[1.0, 2.0, -7.0, 4.0], [1.0, 2.0, 3.0, 9.0]]  # noqa: RUF012

        def score(self, table: Any) -> Any:
            return linear(table)

    with pytest.raises(AssertionError, match="no pair to compare"):
        Alike().test_a_better_row_never_scores_less()


def test_pairs_differ_only_where_there_is_an_order_and_for_the_better() -> None:
    several = 0
    for worse, better in TestFunctionOfMargins().pairs():
        changed = [i for i in range(4) if worse[i] != better[i]]
        several += len(changed) > 1
        assert 3 not in changed  # no direction
        assert all(-7 not in (worse[i], better[i]) for i in changed)  # a special code has no place in the order
        assert all((better[i] > worse[i]) == (SPACE.features[i].direction == 1) for i in changed)
    assert several > 30
