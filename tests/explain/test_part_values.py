"""Values of many rows in arrays: positions, costs and scores are those of the row's own paths and costs."""

from collections import Counter, deque
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, NotMonotone, Space
from flipset.drivers import stream
from flipset.explain.answer_columns import AnswerRow
from flipset.explain.part_values import LEAST_QUERIES, may_find_values
from flipset.explain.table_answers import answer_rows
from flipset.space.column_paths import column_paths
from tests.explain.test_table_answers import Case, outcomes_of, terms_of


def terms(cost: Any = None, reference: bool = True, **request: Any) -> Any:
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [5.0, 7.0, 7.0]})
    features = [Feature(name, direction=+1, lower=0, upper=9, step=1) for name in "ab"]
    space = Space(features, reference=frame if reference else None)
    return terms_of(Explainer(len, space, cost=cost), space, frame if reference else frame.to_numpy(), **request)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, True),
        ({"reference": False}, False),  # costs are then no counts
        ({"cost": lambda before, after: 1.0}, False),
        ({"value_queries": LEAST_QUERIES}, True),
        ({"value_queries": LEAST_QUERIES - 1}, False),
        ({"value_queries": None}, True),
    ],
    ids=("default", "no reference", "a cost of its own", "many queries", "few queries", "no limit"),
)
def test_values_are_found_in_arrays_where_costs_are_counts(how: dict[str, Any], expected: bool) -> None:
    found = terms(**how)
    paths = column_paths(found.space)
    assert paths is not None
    assert may_find_values(found, paths) == expected


def test_a_column_of_which_nothing_was_seen_has_no_counts() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [np.nan, np.nan]})
    features = [Feature(name, direction=+1, lower=0, upper=9, step=1) for name in "ab"]
    space = Space(features, reference=frame)
    found = terms_of(Explainer(len, space), space, frame)
    paths = column_paths(space)
    assert paths is None or not may_find_values(found, paths)


def test_costs_and_scores_are_those_of_the_rows_that_are_reported() -> None:
    sizes = Counter[int]()
    for seed in range(24):
        case = Case.draw(seed, rows=6, with_reference=True)
        seen = {name: sorted(case.table[name]) for name in case.space.names}
        for outcome in outcomes_of(case).values():
            if not isinstance(outcome, AnswerRow):
                continue
            e, answers, line = outcome.explanation(), outcome.answers, outcome.line
            own = slice(*answers.flipsets.start[line : line + 2].tolist())
            assert answers.costs is not None
            # Explanations list counterfactuals by their costs, arrays in the order of flip sets.
            assert sorted(answers.costs[own].tolist()) == sorted(one.cost for one in e.counterfactuals)
            for one in e.counterfactuals:
                cost = Fraction(0)
                for change in one.changes:
                    low, high = sorted((float(change.before), float(change.after)))
                    rising = float(change.after) > float(change.before)
                    values = seen[change.feature]
                    passed = sum(low < v <= high if rising else low <= v < high for v in values)
                    cost += Fraction(passed, len(values))
                assert one.cost == float(cost)
                assert one.score == float(case.model(pd.DataFrame([one.row]))[0])
                sizes[len(one.changes)] += 1
    assert min(sizes[size] for size in (1, 2)) > 10, sizes


def test_a_grid_that_takes_too_many_queries_is_left_to_the_rows_own_flow() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 500, 800).astype(float) for name in "ab"})
    features = [Feature(name, direction=+1, lower=0, upper=499, step=1) for name in "ab"]
    space = Space(features, reference=frame)

    def model(table: Any) -> Any:
        a, b = np.asarray(table["a"]), np.asarray(table["b"])
        return (a > 0) & (b > 0) & (a / 2 + b >= 400)

    explainer = Explainer(model, space)
    rows = pd.DataFrame({"a": [0.0, 490.0], "b": [0.0, 0.0]})
    kinds = []
    for most in (LEAST_QUERIES, None):
        found: deque[Any] = deque()
        flow = answer_rows(terms_of(explainer, space, rows, value_queries=most), found.append)
        oracle: Any = lambda queries: model(queries.rows_for(np.arange(len(queries))))  # noqa: E731
        kinds.append([type(outcome).__name__ for _, outcome in sorted(stream(flow, oracle, found))])
        result: Any = explainer.explain_table(rows, value_queries=most)[0]
        alone = explainer.explain(rows.iloc[0], value_queries=most)
        assert [one.row for one in result.counterfactuals] == [one.row for one in alone.counterfactuals]
    assert kinds == [["RowSets", "AnswerRow"], ["AnswerRow", "AnswerRow"]]


def test_values_that_contradict_each_other_are_passed_on_with_their_scores() -> None:
    """With `alone`, several positions of a path are asked together, and may contradict each other."""
    frame = pd.DataFrame({"a": np.arange(64.0), "b": np.zeros(64)})
    space = Space.from_frame(frame, increasing=["a"])

    def model(table: Any) -> Any:
        a = np.asarray(table["a"])
        return ((a >= 16) & (a < 40)) | (a >= 63)

    explainer = Explainer(model, space)
    found: deque[Any] = deque()
    flow = answer_rows(terms_of(explainer, space, frame.iloc[[0]]), found.append, alone=True)
    oracle: Any = lambda queries: model(queries.rows_for(np.arange(len(queries))))  # noqa: E731
    ((_, outcome),) = stream(flow, oracle, found)
    assert outcome.has_values
    values = {cells[0][1]: score for cells, score in outcome.scores.items() if cells}
    assert any(values[low] and not values[high] for low in values for high in values if low < high)
    with pytest.raises(NotMonotone):
        explainer.explain(frame.iloc[0])
