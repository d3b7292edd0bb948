"""The table search is a flow like any other: the same drivers and layers run it, and no row is lost on the way."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, OracleError, Space
from flipset.drivers import replay, run, stream
from flipset.errors import BudgetExhausted
from flipset.explain.table_sets import Query, RowSets, search_rows
from flipset.layers import Allowance, Tally, Transcript, count, limit_queries, trace
from flipset.models.remote.endpoint import Endpoint
from flipset.protocol import Flow, everything, flips_of
from flipset.space.rows import Row
from tests.endpoints import serving
from tests.ordered import OrderedCase, draw_ordered

Found = dict[int, RowSets | None]


def rows_of(case: OrderedCase) -> list[Row]:
    return [Row.of(row) for row in case.rows]


def searching_in(case: OrderedCase, found: Callable[[Any], None], places: int = 5) -> Flow[Query, None]:
    return search_rows(case.space, rows_of(case), case.threshold, found, places=places, batch=32, reasons=True)


def asking(model: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The oracle of a model in this process."""
    return lambda queries: model(queries.rows_for(np.arange(len(queries))))


def once_each(handed: Any, count: int) -> Found:
    """Check that every number was handed over exactly once."""
    handed = list(handed)
    assert Counter(i for i, _ in handed) == Counter(range(count))
    return dict(handed)


def told(sets: RowSets | None) -> Any:
    assert sets is not None
    found = None if sets.result is None else (sets.result.status, sets.result.flipsets, sets.result.certificates)
    return found, sorted(sets.asked()), sets.queries, sets.rounds, sets.contradiction


@pytest.fixture(scope="module", params=[4, 12, 22, 25])
def case(request: pytest.FixtureRequest) -> OrderedCase:
    return draw_ordered(request.param, rows=17)


@pytest.fixture(scope="module")
def alone(case: OrderedCase) -> Found:
    found: deque[tuple[int, RowSets | None]] = deque()
    return once_each(stream(searching_in(case, found.append), asking(case.model), found), 17)


def test_streamed_with_a_local_model_it_finds_what_row_by_row_is_found(case: OrderedCase, alone: Found) -> None:
    explainer = Explainer(case.model, case.space, threshold=case.threshold)
    settled = 0
    for i, sets in alone.items():
        assert sets is not None
        e = explainer.explain(case.rows[i], batch=1)
        if sets.result is None:
            assert e.size is not None
            assert e.size > 2  # larger sets are for the guided search, which goes on with what was asked
            for flips, score, margin in sets.asked():
                (cells,) = sets.moves.rows(flips)
                row = list(case.rows[i])
                for column, value in cells:
                    row[column] = value
                assert score == float(case.model([row])[0])
                assert (margin >= 0) == ((score >= case.threshold) != e.decision)
        else:
            settled += 1
            assert sets.result.status == e.status
            assert tuple(sets.moves.names(flips_of(one)) for one in sets.result.flipsets) == e.flipsets
            assert sets.result.proof.check(len(sets.moves.units))
        assert len(list(sets.asked())) == sets.queries - 1
    assert settled > 0


@pytest.mark.parametrize("places", [1, 3, 100])
def test_company_changes_nothing(case: OrderedCase, alone: Found, places: int) -> None:
    handed: list[tuple[int, RowSets | None]] = []
    run(searching_in(case, handed.append, places), asking(case.model))
    for i, sets in once_each(handed, 17).items():
        assert told(sets) == told(alone[i])


def test_an_endpoint_answers_it(case: OrderedCase, alone: Found) -> None:
    with serving(case.model) as server, Endpoint(server.invocations) as endpoint:

        def oracle(queries: Any) -> Any:
            return endpoint(queries.rows_for(np.arange(len(queries))), case.space.names)

        found: deque[tuple[int, RowSets | None]] = deque()
        handed = once_each(stream(searching_in(case, found.append), oracle, found), 17)
        assert server.received == sum(sets.queries for sets in handed.values() if sets is not None)
    for i, sets in handed.items():
        assert told(sets) == told(alone[i])


def test_a_recording_answers_it(case: OrderedCase, alone: Found) -> None:
    handed: list[tuple[int, RowSets | None]] = []
    transcript: Transcript[Query] = []
    run(trace(searching_in(case, handed.append), transcript), asking(case.model))
    replayed: list[tuple[int, RowSets | None]] = []
    replay(searching_in(case, replayed.append), transcript)
    assert [(i, told(sets)) for i, sets in replayed] == [(i, told(sets)) for i, sets in handed]
    for i, sets in once_each(replayed, 17).items():
        assert told(sets) == told(alone[i])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 0.8, 0.99])
def test_a_budget_that_ends_in_the_middle_loses_no_row_and_no_answer(
    case: OrderedCase, alone: Found, share: float
) -> None:
    total = sum(sets.queries for sets in alone.values() if sets is not None)
    tally = Tally()
    handed: list[tuple[int, RowSets | None]] = []
    flow = limit_queries(count(searching_in(case, handed.append), tally), Allowance(int(share * total)))
    asked = 0

    def oracle(queries: Any) -> Any:
        nonlocal asked
        asked += len(queries)
        return asking(case.model)(queries)

    run(flow, oracle)
    found = once_each(handed, 17)
    assert asked == int(share * total)  # all that was allowed was used
    known = [sets for sets in found.values() if sets is not None]
    assert sum(sets.queries for sets in known) == asked  # and what was paid for is known
    for i, sets in found.items():
        whole = alone[i]
        assert whole is not None
        if sets is not None:
            assert set(sets.asked()) <= set(whole.asked())
            if sets.result is not None:
                assert told(sets) == told(whole)


def test_an_oracle_whose_own_budget_ends_loses_no_row(case: OrderedCase) -> None:
    left = 60

    def oracle(queries: Any) -> Any:
        nonlocal left
        if len(queries) > left:
            raise BudgetExhausted("60 rows sent")
        left -= len(queries)
        return asking(case.model)(queries)

    found: deque[tuple[int, RowSets | None]] = deque()
    handed = once_each(stream(searching_in(case, found.append), oracle, found), 17)
    assert any(sets is not None for sets in handed.values())


def test_rows_on_which_the_model_fails_are_handed_over_with_nothing(case: OrderedCase, alone: Found) -> None:
    def oracle(queries: Any) -> Any:
        scores = np.asarray(asking(case.model)(queries), dtype=float)
        scores[np.isin(queries.rows, [3, 8])] = np.nan  # what a driver says of rows that the model fails on
        return scores

    handed: list[tuple[int, RowSets | None]] = []
    run(searching_in(case, handed.append), oracle)
    found = once_each(handed, 17)
    assert found[3] is found[8] is None
    for i in set(range(17)) - {3, 8}:
        assert told(found[i]) == told(alone[i])


def test_rows_that_do_not_fit_are_passed_over() -> None:
    features = [Feature("a", "integer", direction=+1, lower=0, upper=9), Feature("kind", fixed=True)]
    rows = [Row.of(row) for row in ([1, 5], ["odd", 5], [2, "text"], [9, 1])]
    handed: list[tuple[int, RowSets | None]] = []
    flow = search_rows(Space(features), rows, 5.0, handed.append, places=4, batch=32, reasons=True)
    run(flow, asking(lambda table: np.asarray(table)[:, 0]))
    found = once_each(handed, 4)
    assert [sets is None for sets in found.values()].count(True) == 2
    assert found[1] is None  # not a number where one must be
    assert found[2] is None  # no array of numbers holds text
    assert found[0] is not None
    assert found[0].result is not None
    assert found[0].result.flipsets == (frozenset({0}),)


def test_a_space_without_order_asks_nothing() -> None:
    handed: list[tuple[int, RowSets | None]] = []
    space = Space([Feature("kind", "categorical", options=("a", "b"))])
    rows = [Row.of(["a"])] * 3
    flow = search_rows(space, rows, 0.5, handed.append, places=4, batch=32, reasons=True)
    run(flow, lambda queries: 1 / 0)  # type: ignore[arg-type,return-value]
    assert once_each(handed, 3) == dict.fromkeys(range(3))


def test_a_model_against_its_directions_is_noticed() -> None:
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])
    handed: list[tuple[int, RowSets | None]] = []
    flow = search_rows(space, [Row.of([0, 0])], 0.5, handed.append, places=1, batch=32, reasons=True)
    run(flow, asking(lambda table: (table[:, 0] == 9) & (table[:, 1] == 0)))
    ((_, sets),) = handed
    assert sets is not None
    assert sets.contradiction == (0b01, 0b11)
    assert sets.result is None


def test_a_model_that_raises_is_blamed() -> None:
    case = draw_ordered(4, rows=3)
    with pytest.raises(OracleError, match="ZeroDivisionError"):
        run(searching_in(case, lambda _: None), lambda queries: 1 / 0)  # type: ignore[arg-type,return-value]


def test_queries_are_rows_and_columns() -> None:
    case = draw_ordered(4, rows=2)
    flow = searching_in(case, lambda _: None)
    queries: Any = next(flow)
    assert list(queries) == [(0, 0), (1, 0)]  # the rows as they stand
    assert list(queries[1:]) == [(1, 0)]
    assert queries[1:].rows_for(np.array([0])).tolist() == [list(map(float, case.rows[1]))]
    queries = flow.send(queries.read_answers([0.0, 0.0]))
    assert {flips for _, flips in queries} <= set(range(everything(12) + 1)) - {0}
    flow.close()
