"""The table search is a flow like any other: the same drivers and layers run it, and no row is lost on the way."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, NotMonotone, OracleError, Space
from flipset.drivers import replay, run, stream
from flipset.errors import BudgetExhausted
from flipset.explain import table_answers
from flipset.explain.answer_columns import AnswerRow
from flipset.explain.request import request_for
from flipset.explain.row_queries import Query
from flipset.explain.row_sets import RowSets
from flipset.explain.table_answers import answer_rows
from flipset.layers import Allowance, Tally, Transcript, count, limit_queries, trace
from flipset.models.remote.endpoint import Endpoint
from flipset.protocol import Flow, flips_of
from flipset.space.table_rows import read_table
from tests.endpoints import serving
from tests.ordered import OrderedModel, draw_ordered
from tests.same import answer_of

ROWS = 17
Outcome = RowSets | AnswerRow | None


@dataclass(frozen=True)
class OfFrames:
    """A model that is given frames."""

    model: OrderedModel

    def __call__(self, table: Any) -> Any:
        return self.model(np.asarray(table))


@dataclass(frozen=True)
class Case:
    """Rows of a random space, whose columns are seen in a reference or not."""

    space: Space
    table: Any
    model: Callable[[Any], Any]
    threshold: float

    @classmethod
    def draw(cls, seed: int, *, rows: int = ROWS, with_reference: bool) -> "Case":
        case = draw_ordered(seed, rows=rows)
        if not with_reference:
            return cls(case.space, np.array(case.rows, dtype=float), case.model, case.threshold)
        frame = pd.DataFrame(np.array(case.rows, dtype=float), columns=list(case.space.names))
        space = Space(case.space.features, reference=frame)
        return cls(space, frame, OfFrames(case.model), case.threshold)

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(self.model, self.space, threshold=self.threshold)

    def part(self, numbers: list[int]) -> "Case":
        table = self.table.iloc[numbers] if isinstance(self.table, pd.DataFrame) else self.table[numbers]
        return Case(self.space, table, self.model, self.threshold)

    def row(self, i: int) -> Any:
        return self.table.iloc[i] if isinstance(self.table, pd.DataFrame) else self.table[i]

    def flow(self, report: Callable[[Any], None], *, alone: bool = False, **request: Any) -> Flow[Query, None]:
        return answer_rows(terms_of(self.explainer, self.space, self.table, **request), report, alone=alone)

    def asked(self, queries: Any) -> Any:
        """Answer queries as a model in this process does."""
        return self.model(queries.rows_for(np.arange(len(queries))))


def terms_of(explainer: Explainer, space: Space, table: Any, **request: Any) -> Any:
    rows = read_table(table, space.names, (), space.reference)
    return explainer._job(space, request_for(space, batch=32, **request), rows).terms(rows)  # type: ignore[arg-type]


def once_each(reported: Any, count: int) -> dict[int, Outcome]:
    """Check that every number was reported exactly once."""
    reported = list(reported)
    assert Counter(i for i, _ in reported) == Counter(range(count))
    return dict(reported)


def queries_of(outcome: Outcome) -> int:
    if isinstance(outcome, AnswerRow):
        return int(outcome.answers.queries[outcome.line])
    return 0 if outcome is None else outcome.queries


def told(outcome: Outcome) -> Any:
    """Everything that was reported about a row, queries and calls included."""
    if isinstance(outcome, AnswerRow):
        return outcome.explanation()
    assert outcome is not None
    found = None if outcome.result is None else (outcome.result.status, outcome.result.proof)
    return found, sorted(outcome.asked()), outcome.scores, outcome.queries, outcome.rounds, outcome.contradiction


def outcomes_of(case: Case, **how: Any) -> dict[int, Outcome]:
    found: deque[tuple[int, Outcome]] = deque()
    return once_each(stream(case.flow(found.append, **how), case.asked, found), len(case.table))


@pytest.fixture(
    scope="module", params=[(4, False), (12, True), (22, False), (22, True), (25, True), (31, True)], ids=str
)
def case(request: pytest.FixtureRequest) -> Case:
    seed, with_reference = request.param
    return Case.draw(seed, with_reference=with_reference)


@pytest.fixture(scope="module")
def whole(case: Case) -> dict[int, Outcome]:
    return outcomes_of(case)


@pytest.mark.parametrize("with_reference", [False, True])
@pytest.mark.parametrize("request_", [{}, {"values": False}, {"max_changes": 2}, {"max_flipsets": 2}], ids=str)
def test_an_answer_in_arrays_is_that_of_the_row_by_itself(with_reference: bool, request_: dict[str, Any]) -> None:
    kinds = Counter[Any]()
    for seed in range(24):
        case = Case.draw(seed, rows=6, with_reference=with_reference)
        for i, outcome in outcomes_of(case, **request_).items():
            if isinstance(outcome, AnswerRow):
                e = outcome.explanation()
                assert answer_of(e) == answer_of(case.explainer.explain(case.row(i), **request_)), (seed, i)
                assert e.proof.check(e.proof.d), (seed, i)
                kinds[e.status, e.size] += 1
            else:
                kinds[type(outcome)] += 1
    if with_reference or request_ == {"values": False}:
        assert min(kinds["optimal", size] for size in (1, 2)) > 10, kinds
    assert kinds["none", None] > 2, kinds
    assert kinds[type(None)] == 0


def test_sets_and_values_are_those_of_the_guided_search() -> None:
    sizes = Counter[Any]()
    for seed in range(25):
        case = Case.draw(seed, rows=6, with_reference=True)
        for i, outcome in outcomes_of(case).items():
            if isinstance(outcome, AnswerRow):
                e, frugal = outcome.explanation(), case.explainer.explain(case.row(i), batch=1)
                assert (e.status, e.size, e.flipsets) == (frugal.status, frugal.size, frugal.flipsets), (seed, i)
                assert e.counterfactuals == frugal.counterfactuals, (seed, i)  # values, costs and scores, ties included
                sizes[e.size] += 1
    assert min(sizes[1], sizes[2]) > 15, sizes


def test_what_is_learned_about_other_rows_is_right(case: Case, whole: dict[int, Outcome]) -> None:
    for i, outcome in whole.items():
        if not isinstance(outcome, RowSets):
            continue
        e = case.explainer.explain(case.row(i), batch=1)
        for flips, score, margin in outcome.asked():
            (cells,) = outcome.moves.rows(flips)
            row = [float(value) for value in case.row(i)]
            for column, value in cells:
                row[column] = value
            assert score == float(case.model([row])[0])
            assert (margin >= 0) == ((score >= case.threshold) != e.decision)
        if outcome.result is None:
            assert e.size is None or e.size > outcome.gone_through
        else:
            assert outcome.result.status == e.status
            assert tuple(outcome.moves.names(flips_of(one)) for one in outcome.result.flipsets) == e.flipsets
            assert outcome.result.proof.check(len(outcome.moves.units))


@pytest.mark.parametrize("at_a_time", [1, 3, 16])
def test_company_changes_nothing(
    case: Case, whole: dict[int, Outcome], at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_answers, "AT_A_TIME", at_a_time)
    for i, outcome in outcomes_of(case).items():
        assert told(outcome) == told(whole[i])
    some = [11, 2, 7]
    for k, outcome in outcomes_of(case.part(some)).items():
        assert told(outcome) == told(whole[some[k]])


def test_alone_it_makes_fewer_calls_and_gives_the_same_answer(case: Case, whole: dict[int, Outcome]) -> None:
    rounds = np.zeros(2)
    for i, outcome in whole.items():
        (alone,) = outcomes_of(case.part([i]), alone=True).values()
        if isinstance(outcome, AnswerRow):
            assert isinstance(alone, AnswerRow)
            assert answer_of(alone.explanation()) == answer_of(outcome.explanation())
            rounds += alone.explanation().rounds, outcome.explanation().rounds
    assert rounds[0] <= rounds[1]


def test_no_row_is_asked_twice(case: Case) -> None:
    asked = Counter[tuple[int, bytes]]()

    def oracle(queries: Any) -> Any:
        rows = np.ascontiguousarray(queries.rows_for(np.arange(len(queries))), dtype=float)
        asked.update((int(number), row.tobytes()) for number, row in zip(queries.rows, rows, strict=True))
        return case.model(rows)

    found: deque[tuple[int, Outcome]] = deque()
    outcomes = once_each(stream(case.flow(found.append), oracle, found), ROWS)
    for i, outcome in outcomes.items():
        of_row = [times for (number, _), times in asked.items() if number == i]
        assert sum(of_row) == queries_of(outcome)
        assert set(of_row) == {1}


def test_an_endpoint_answers_it(case: Case, whole: dict[int, Outcome]) -> None:
    with serving(case.model) as server, Endpoint(server.invocations) as endpoint:

        def oracle(queries: Any) -> Any:
            return endpoint(np.asarray(queries.rows_for(np.arange(len(queries)))), case.space.names)

        found: deque[tuple[int, Outcome]] = deque()
        reported = once_each(stream(case.flow(found.append), oracle, found), ROWS)
        assert server.received == sum(map(queries_of, reported.values()))
    for i, outcome in reported.items():
        assert told(outcome) == told(whole[i])


def test_a_recording_answers_it(case: Case, whole: dict[int, Outcome]) -> None:
    reported: list[tuple[int, Outcome]] = []
    transcript: Transcript[Query] = []
    run(trace(case.flow(reported.append), transcript), case.asked)
    replayed: list[tuple[int, Outcome]] = []
    replay(case.flow(replayed.append), transcript)
    assert [(i, told(one)) for i, one in replayed] == [(i, told(one)) for i, one in reported]
    for i, outcome in once_each(replayed, ROWS).items():
        assert told(outcome) == told(whole[i])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.8, 0.99])
def test_a_budget_that_ends_in_the_middle_loses_no_row_and_no_answer(
    case: Case, whole: dict[int, Outcome], share: float
) -> None:
    total = sum(map(queries_of, whole.values()))
    tally = Tally()
    reported: list[tuple[int, Outcome]] = []
    flow = limit_queries(count(case.flow(reported.append), tally), Allowance(int(share * total)))
    asked = 0

    def oracle(queries: Any) -> Any:
        nonlocal asked
        asked += len(queries)
        return case.asked(queries)

    run(flow, oracle)
    found = once_each(reported, ROWS)
    assert asked == int(share * total)  # all that was allowed was used
    assert sum(map(queries_of, found.values())) == asked  # and it is counted for the rows it was about
    for i, outcome in found.items():
        if isinstance(outcome, AnswerRow):
            assert answer_of(outcome.explanation()) == answer_of(case.explainer.explain(case.row(i)))
        elif outcome is not None:
            e = case.explainer.explain(case.row(i))
            if outcome.result is not None:
                assert outcome.result.status == e.status
                assert tuple(outcome.moves.names(flips_of(one)) for one in outcome.result.flipsets) == e.flipsets
            elif e.size is not None:
                assert outcome.gone_through < e.size
            before = whole[i]
            if isinstance(before, RowSets):
                assert set(outcome.asked()) <= set(before.asked())


def test_an_oracle_whose_own_budget_ends_loses_no_row(case: Case) -> None:
    left = 160

    def oracle(queries: Any) -> Any:
        nonlocal left
        if len(queries) > left:
            raise BudgetExhausted("160 rows sent")
        left -= len(queries)
        return case.asked(queries)

    found: deque[tuple[int, Outcome]] = deque()
    reported = once_each(stream(case.flow(found.append), oracle, found), ROWS)
    assert any(outcome is not None for outcome in reported.values())


def test_rows_on_which_the_model_fails_are_reported_with_nothing(case: Case, whole: dict[int, Outcome]) -> None:
    for late in (False, True):

        def oracle(queries: Any, late: bool = late) -> Any:
            scores = np.asarray(case.asked(queries), dtype=float)
            # What a driver says of rows that the model fails on: at once, or when something is changed.
            fails = np.isin(queries.rows, [3, 8]) & (queries.changed.any(axis=1) | (not late))
            scores[fails] = np.nan
            return scores

        reported: list[tuple[int, Outcome]] = []
        run(case.flow(reported.append), oracle)
        found = once_each(reported, ROWS)
        for i in range(ROWS):
            if i in (3, 8):
                assert found[i] is None or (late and queries_of(found[i]) == 1)  # nothing may move in it
            else:
                assert told(found[i]) == told(whole[i])


def test_a_table_on_which_the_model_fails_from_then_on_ends(case: Case) -> None:
    """Whenever the answers turn into NaN, the flow ends, and says nothing about the rows that were under way."""
    total = sum(map(queries_of, outcomes_of(case).values()))
    for share in (0.1, 0.4, 0.6, 0.8, 0.95):
        left = int(share * total)

        def oracle(queries: Any) -> Any:
            nonlocal left
            scores = np.asarray(case.asked(queries), dtype=float)
            if len(queries) > left:
                scores[left:] = np.nan
            left = max(0, left - len(queries))
            return scores

        reported: list[tuple[int, Outcome]] = []
        run(case.flow(reported.append), oracle)
        for i, outcome in once_each(reported, ROWS).items():
            if isinstance(outcome, AnswerRow):
                assert answer_of(outcome.explanation()) == answer_of(case.explainer.explain(case.row(i)))


def test_rows_that_do_not_fit_are_passed_over() -> None:
    space = Space([Feature("a", "integer", direction=+1, lower=0, upper=9), Feature("kind", fixed=True)])
    explainer = Explainer(lambda table: [row[0] for row in table], space, threshold=5.0)
    reported: list[tuple[int, Outcome]] = []
    rows = [[1, 5], ["odd", 5], [2, "text"], [9, 1]]
    flow = answer_rows(terms_of(explainer, space, rows, values=False), reported.append)
    oracle: Any = lambda queries: queries.rows_for(np.arange(len(queries)))[:, 0]  # noqa: E731
    run(flow, oracle)
    found = once_each(reported, 4)
    assert [outcome is None for outcome in found.values()] == [False, True, True, False]
    assert isinstance(found[0], AnswerRow)
    assert found[0].explanation().flipsets == (("a",),)


def test_a_space_without_order_asks_nothing() -> None:
    reported: list[tuple[int, Outcome]] = []
    space = Space([Feature("kind", "categorical", options=("a", "b"))])
    flow = answer_rows(terms_of(Explainer(len, space), space, [["a"]] * 3), reported.append)
    run(flow, lambda queries: 1 / 0)  # type: ignore[arg-type,return-value]
    assert once_each(reported, 3) == dict.fromkeys(range(3))


def test_rows_with_the_other_decision_are_scored_only(case: Case) -> None:
    outcomes = outcomes_of(case, only_decision=False)
    for i, outcome in outcomes.items():
        e = case.explainer.explain(case.row(i))
        if e.decision:
            assert isinstance(outcome, RowSets)
            assert (outcome.queries, list(outcome.asked())) == (1, [])
            assert outcome.scores[()] == e.score


@pytest.mark.parametrize("strict", [True, False])
def test_directions_that_look_reversed_are_no_proof_that_nothing_flips(strict: bool) -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
    explainer = Explainer(lambda table: 10 - np.asarray(table).sum(axis=1), space, threshold=8)
    rows = np.array([[3, 3, 3], [9, 9, 8], [9, 9, 9], [0, 0, 1]])
    results: list[Any] = list(explainer.explain_table(rows, strict=strict))
    for row, result in zip(rows, results, strict=True):
        if strict and row.sum() not in (1, 27):
            assert isinstance(result, NotMonotone)
            with pytest.raises(NotMonotone) as alone:
                explainer.explain(row)
            assert str(result) == str(alone.value)
        elif not strict:
            assert answer_of(result) == answer_of(explainer.explain(row, strict=False))
            assert row.sum() == 27 or result.contradictions


def test_a_row_whose_own_answers_contradict_each_other_is_an_error_with_two_rows() -> None:
    """Few answers of a disorderly model are compared. Where they contradict each other, the rows show it."""
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcd"])
    results = Counter[type]()
    for seed in range(60):

        def flips(row: Any, seed: int = seed) -> bool:
            return min(row) == 9 or (max(row) > 0 and Random(f"{seed}/{list(map(int, row))}").random() < 0.3)

        def model(table: Any, flips: Any = flips) -> Any:
            return np.array([flips(row) for row in np.asarray(table)])

        result: Any = Explainer(model, space).explain_table(np.zeros((1, 4)))[0]
        results[type(result)] += 1
        if isinstance(result, NotMonotone):
            assert result.rows is not None
            one, zero = (np.array(list(row.values())) for row in result.rows)
            assert (zero >= one).all()
            assert flips(one)
            assert not flips(zero)
        else:
            for counterfactual in result.counterfactuals:
                assert flips(list(counterfactual.row.values()))
    assert results.keys() <= {Explanation, NotMonotone}


def test_values_in_no_order_are_values_that_flip() -> None:
    """Sets are in order, and values inside of one are not: what is reported flips all the same."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 20, 200).astype(float) for name in "ab"})
    rows = pd.DataFrame({"a": [0.0], "b": [0.0]})
    for seed in range(40):
        order = np.random.default_rng(seed).random((20, 20)) < 0.5

        def model(table: Any, order: Any = order) -> Any:
            a, b = np.asarray(table["a"]), np.asarray(table["b"])
            return ((a > 0) & (b > 0) & order[a.astype(int), b.astype(int)]) | ((a == 19) & (b == 19))

        (result,) = Explainer(model, Space.from_frame(frame, increasing=["a", "b"])).explain_table(rows)
        if isinstance(result, Explanation):
            (one,) = result.counterfactuals
            assert model(pd.DataFrame([one.row])).all()
        else:
            assert isinstance(result, NotMonotone)


def test_a_model_that_raises_is_blamed() -> None:
    case = Case.draw(4, rows=3, with_reference=False)
    with pytest.raises(OracleError, match="ZeroDivisionError"):
        run(case.flow(lambda _: None), lambda queries: 1 / 0)  # type: ignore[arg-type,return-value]


def test_an_explanation_can_be_looked_at_again(case: Case, whole: dict[int, Outcome]) -> None:
    for outcome in whole.values():
        if isinstance(outcome, AnswerRow):
            first, second = outcome.explanation(), outcome.explanation()
            assert isinstance(first, Explanation)
            assert first == second
            assert str(first) == str(second)
