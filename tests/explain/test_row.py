"""The explanation of one row as a flow: layers and drivers run it, and whatever ends it, what was paid for counts."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Explanation
from flipset.drivers import replay, run, stream
from flipset.errors import BudgetExhausted
from flipset.explain.answer_columns import AnswerRow
from flipset.explain.request import Request
from flipset.explain.row import explain_row
from flipset.explain.row_sets import RowSets
from flipset.explain.table_answers import answer_rows
from flipset.layers import Transcript, trace
from flipset.protocol import Done, Flow, advance, interrupt, is_checkpoint
from flipset.space.cells import Cells
from flipset.space.rows import Row
from flipset.values.space_costs import SpaceCosts
from tests.explain.test_table_answers import terms_of
from tests.ordered import OrderedCase, draw_ordered
from tests.same import answer_of

SEEDS = range(12)


def row_of(case: OrderedCase) -> Row:
    return Row.of(case.rows[0])


def flow_for(case: OrderedCase, *, in_arrays: bool = False, begun: RowSets | None = None, **request: Any) -> Any:
    costs = SpaceCosts(case.space, None)
    given = case.space, row_of(case), case.threshold, costs, Request(**{"batch": 32, **request})
    return explain_row(*given, in_arrays=in_arrays, begun=begun)


def oracle_for(case: OrderedCase, asked: list[Cells] | None = None) -> Callable[[Sequence[Cells]], list[float]]:
    """Answer rows that are given by the cells in which they differ."""

    def oracle(batch: Sequence[Cells]) -> list[float]:
        rows = []
        for cells in batch:
            row = list(case.rows[0])
            for column, value in cells:
                row[column] = value
            rows.append(row)
        if asked is not None:
            asked.extend(batch)
        return [float(score) for score in case.model(rows)]

    return oracle


def told(e: Explanation) -> Any:
    return e.status, e.size, e.flipsets, e.counterfactuals, e.reasons


@pytest.mark.parametrize("in_arrays", [False, True])
def test_rows_are_asked_once_counted_and_the_transcript_replays(in_arrays: bool) -> None:
    for seed in SEEDS:
        case = draw_ordered(seed, rows=1)
        asked: list[Cells] = []
        transcript: Transcript[Cells] = []
        e = run(trace(flow_for(case, in_arrays=in_arrays), transcript), oracle_for(case, asked))
        assert asked[0] == ()  # the row itself comes first
        assert len(set(asked)) == len(asked) == e.queries
        assert e.rounds == len(transcript)
        assert replay(flow_for(case, in_arrays=in_arrays), transcript) == e


def test_what_was_found_among_others_is_gone_on_from() -> None:
    gone_on = 0
    for seed in range(30):
        case = draw_ordered(seed, rows=1)
        explainer = Explainer(case.model, case.space, threshold=case.threshold)
        found: deque[tuple[int, AnswerRow | RowSets | None]] = deque()
        flow = answer_rows(terms_of(explainer, case.space, [case.rows[0]]), found.append, alone=True)
        table: list[Any] = []

        def scores(queries: Any, case: OrderedCase = case, table: list[Any] = table) -> Any:
            rows = queries.rows_for(np.arange(len(queries)))
            table.extend(map(tuple, rows.tolist()))
            return np.array(case.model(rows), dtype=float)

        ((_, begun),) = stream(flow, scores, found)
        if isinstance(begun, AnswerRow):
            continue  # there is nothing to go on with
        assert begun is not None
        gone_on += 1
        alone = run(flow_for(case, in_arrays=True), oracle_for(case))
        asked: list[Cells] = []
        e = run(flow_for(case, begun=begun), oracle_for(case, asked))
        assert answer_of(e) == answer_of(alone)
        assert e.queries == len(table) + len(asked)
        again = set(table) & {tuple(float(v) for v in _row(case, cells)) for cells in asked}
        assert not again  # nothing is asked twice
    assert gone_on > 10


def _row(case: OrderedCase, cells: Cells) -> list[Any]:
    row = list(case.rows[0])
    for column, value in cells:
        row[column] = value
    return row


@pytest.mark.parametrize("in_arrays", [False, True])
def test_a_budget_ends_in_what_the_answers_prove(in_arrays: bool) -> None:
    stopped = 0
    for seed in SEEDS:
        case = draw_ordered(seed, rows=1)
        whole = run(flow_for(case, in_arrays=in_arrays), oracle_for(case))
        for most in range(1, whole.queries, max(1, whole.queries // 6)):
            asked: list[Cells] = []
            e = run(flow_for(case, in_arrays=in_arrays, max_queries=most), oracle_for(case, asked))
            assert len(asked) <= most
            assert e.queries == len(asked)
            if e.status == "stopped":
                stopped += 1
                assert e.size is None
                assert whole.size is None or (e.lower is not None and e.lower <= whole.size)
                assert e.upper is None or whole.size is None or e.upper >= whole.size
            else:
                assert (e.status, e.size, e.flipsets) == (whole.status, whole.size, whole.flipsets)
            for one in e.counterfactuals:
                assert (float(case.model([list(one.row.values())])[0]) >= case.threshold) != e.decision
    assert stopped > 20


@pytest.mark.parametrize("in_arrays", [False, True])
def test_a_flip_set_that_was_seen_counts_also_in_a_batch_that_was_cut_short(in_arrays: bool) -> None:
    stopped = 0
    for seed in SEEDS:
        case = draw_ordered(seed, rows=1)
        whole = run(flow_for(case, in_arrays=in_arrays), oracle_for(case))
        ends = dict(whole.moves.ends or ())
        for most in range(1, whole.queries):
            asked: list[Cells] = []
            e = run(flow_for(case, in_arrays=in_arrays, max_queries=most), oracle_for(case, asked))
            if e.status == "stopped":
                sets = [cells for cells in asked if all(ends[column] == value for column, value in cells)]
                scores = oracle_for(case)(sets)
                turned = [
                    len(cells)
                    for cells, score in zip(sets, scores, strict=True)
                    if (score >= case.threshold) != e.decision
                ]
                assert e.upper == min(turned, default=None), (seed, most)
                stopped += 1
    assert stopped > 80


def started(flow: Flow[Cells, Explanation], rounds: int, oracle: Any) -> Any:
    step: Any = advance(flow)
    while rounds and not isinstance(step, Done):
        rounds -= not is_checkpoint(step)
        step = advance(flow, oracle(step))
    return step


def test_an_interrupt_ends_in_what_is_known_but_not_before_anything_is() -> None:
    case = draw_ordered(22, rows=1)
    flow = flow_for(case)
    started(flow, 2, oracle_for(case))
    end = interrupt(flow, KeyboardInterrupt())
    assert isinstance(end, Done)
    assert end.result.status == "stopped"
    flow = flow_for(case)
    started(flow, 0, oracle_for(case))
    with pytest.raises(KeyboardInterrupt):
        interrupt(flow, KeyboardInterrupt())


def test_a_budget_that_ends_before_the_row_itself_is_answered_is_an_error() -> None:
    case = draw_ordered(22, rows=1)
    flow = flow_for(case)
    started(flow, 0, oracle_for(case))
    with pytest.raises(BudgetExhausted):
        interrupt(flow, BudgetExhausted("no rows"))


def test_what_is_not_wanted_is_not_asked() -> None:
    case = draw_ordered(4, rows=1)
    whole = run(flow_for(case, batch=1), oracle_for(case))
    bare = run(flow_for(case, batch=1, reasons=False, values=False), oracle_for(case))
    assert bare.queries < whole.queries
    assert bare.flipsets == whole.flipsets
    few = run(flow_for(case, batch=1, max_changes=1), oracle_for(case))
    assert (few.status, few.lower) == ("none", 2)  # this row needs more than one change
