"""Several thresholds in one run: each result is that of a run alone, and all together take fewer queries."""

import asyncio
from random import Random
from typing import Any

import pytest

from flipset import ByThreshold, Explainer, Explanation, Explanations, Feature, InputError, Space
from flipset.explain import thresholds as several_thresholds
from flipset.models.remote.endpoint import Endpoint
from tests.endpoints import serving
from tests.ordered import OrderedCase, draw_ordered
from tests.spaces import draw_case


def grades_of(case: OrderedCase) -> list[float]:
    """Thresholds around the scores of the rows, the case's own among them."""
    scores = [case.model.raw(row) for row in case.rows]
    return sorted({round(min(scores) / 2, 6), case.threshold, round((1 + max(scores)) / 2, 6)})


def whole(e: Any) -> Any:
    """Everything, as it is written to a file; how it was counted included."""
    assert isinstance(e, Explanation), e
    return e.to_json()


def answer(e: Any) -> Any:
    return e.flipsets, e.counterfactuals, e.reasons, e.proof.ones


def cases() -> list[OrderedCase]:
    drawn = [draw_ordered(seed, rows=3) for seed in range(40)]
    return [case for case in drawn if not case.model.labels][:12]


def test_a_row_for_several_thresholds_is_explained_as_for_each_alone() -> None:
    together = alone = 0
    for case in cases():
        given = grades_of(case)
        explainer = Explainer(case.model, case.space)
        for row in case.rows:
            found = explainer.explain(row, thresholds=given)
            expected = [Explainer(case.model, case.space, threshold=t).explain(row) for t in given]
            assert list(map(whole, found)) == list(map(whole, expected))
            assert found.thresholds == tuple(given)
            assert found.queries <= sum(e.queries for e in expected)
            together, alone = together + found.queries, alone + sum(e.queries for e in expected)
            awaited = asyncio.run(explainer.aexplain(row, thresholds=given))
            assert list(map(whole, awaited)) == list(map(whole, expected))
    assert together < 0.9 * alone


def test_spaces_with_options_groups_and_codes() -> None:
    for seed in range(12):
        case = draw_case(seed, margins=True)
        given = [0.3, 0.5, 0.7]
        found = Explainer(case.predict, case.space, cost=case.cost).explain(case.row, thresholds=given, more=2)
        for threshold, e in zip(given, found, strict=True):
            alone = Explainer(case.predict, case.space, cost=case.cost, threshold=threshold)
            assert whole(e) == whole(alone.explain(case.row, more=2)), seed


@pytest.mark.parametrize("how", [{}, {"width": 2}, {"in_flight": 3}, {"max_seconds": 3600}, {"batch": 1}], ids=str)
def test_a_table_for_several_thresholds(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several_thresholds, "ROWS_AT_ONCE", 2)
    for case in cases()[:4]:
        given = grades_of(case)
        rows = [*case.rows, case.rows[0]]
        found = Explainer(case.model, case.space).explain_table(rows, thresholds=given, **how)
        assert isinstance(found, ByThreshold)
        for threshold, table in zip(given, found, strict=True):
            expected = Explainer(case.model, case.space, threshold=threshold).explain_table(rows, **how)
            assert isinstance(table, Explanations)
            assert list(map(whole, table)) == list(map(whole, expected))
        assert found.queries < sum(table.queries for table in found)


def test_two_processes() -> None:
    case = draw_ordered(22, rows=12)
    given = [0.3, 0.5]
    explainer = Explainer(case.model, case.space)
    found = explainer.explain_table(case.rows, thresholds=given, workers=2)
    expected = explainer.explain_table(case.rows, thresholds=given)
    for one, other in zip(found, expected, strict=True):
        assert list(map(whole, one)) == list(map(whole, other))
    # Rows in different processes share nothing, even where they meet the same row.
    assert expected.queries <= found.queries < sum(table.queries for table in found)


def test_an_endpoint_is_sent_no_row_twice() -> None:
    case = cases()[0]
    given = grades_of(case)
    with serving(case.model) as server, Endpoint(server.invocations) as endpoint:
        found = Explainer(endpoint, case.space).explain_table(case.rows, thresholds=given)
        sent = endpoint.bill.rows
    expected = Explainer(case.model, case.space).explain_table(case.rows, thresholds=given)
    for one, other in zip(found, expected, strict=True):
        assert list(map(answer, one)) == list(map(answer, other))
    assert sent <= found.queries


def test_a_row_that_cannot_be_explained_has_its_error_at_every_threshold() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9)])
    heard: list[tuple[int, Any]] = []
    found = Explainer(lambda rows: rows[:, 0] / 10, space).explain_table(
        [[3], ["x"]], thresholds=[0.5, 0.8], each=lambda i, results: heard.append((i, results))
    )
    assert [type(table[1]) for table in found] == [InputError, InputError]
    assert [str(table[0].counterfactuals[0]) for table in found] == ["a: 3 → at least 5", "a: 3 → at least 8"]
    assert sorted(i for i, _ in heard) == [0, 1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["a"], "finite numbers"),
        ([0.5, 0.5], "0.5 is there twice"),
        ([float("inf")], "finite numbers"),
        (0.5, "must be a list of numbers"),
        ("0.5", "must be a list of numbers"),
    ],
)
def test_thresholds_that_cannot_be_meant(given: Any, words: str) -> None:
    space = Space([Feature("a", "binary", direction=+1)])
    explainer = Explainer(lambda rows: rows[:, 0], space)
    with pytest.raises(InputError, match=words):
        explainer.explain([0], thresholds=given)
    with pytest.raises(InputError, match=words):
        explainer.explain_table([[0]], thresholds=given)


def test_one_score_of_the_row_itself() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
    asked: list[Any] = []

    def model(rows: Any) -> Any:
        asked.extend(map(tuple, rows))
        return rows.sum(axis=1) / 27

    rng = Random(1)
    row = [rng.randint(0, 4) for _ in range(3)]
    explainer = Explainer(model, space)
    asked.clear()
    explainer.explain(row, thresholds=[0.5, 0.6, 0.7, 0.8])
    assert len(asked) == len(set(asked))
    assert asked.count(tuple(map(float, row))) == 1
