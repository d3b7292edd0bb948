"""Rows searched abreast: each has the answer that it has by itself, against brute force, with its proof."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, NotMonotone, OracleError, Space
from flipset.proof import Proof
from flipset.protocol import everything, features_of
from flipset.search.table.log import Outcome, as_words
from flipset.search.table.search import TableSearch
from flipset.testing import DRAWS, Predicate, smallest

Margin = Callable[[int], float]


def search(rows: Sequence[Margin], d: int, *, places: int, batch: int = 32, reasons: bool = True) -> list[Outcome]:
    """Search functions on the sets of d features, so many at a time."""
    abreast = TableSearch(places, d, batch=batch, reasons=reasons)
    waiting, at, found = list(enumerate(rows)), dict[int, int](), dict[int, Outcome]()
    while len(found) < len(rows):
        for place in abreast.free().tolist():
            if waiting:
                at[place], margin = waiting.pop(0)
                abreast.enter(np.array([place]), np.ones((1, d), dtype=bool), np.array([margin(0)]))
        sheet = abreast.queries()
        if not len(sheet.places):  # all that was left to ask was known
            found |= {at[place]: outcome for place, outcome in abreast.leave()}
            continue
        assert max(Counter(sheet.places.tolist()).values()) <= batch
        asked = zip(sheet.places.tolist(), as_words(sheet.flips).tolist(), strict=True)
        margins = np.array([rows[at[place]](word) for place, word in asked])
        abreast.learn(sheet, margins, margins)
        found |= {at[place]: outcome for place, outcome in abreast.leave()}
    return [found[i] for i in range(len(rows))]


def label(g: Predicate) -> Margin:
    return lambda query: 1.0 if g(query) else -1.0


def additive(rng: Random, d: int) -> tuple[Predicate, Margin]:
    weights = [rng.choice((0.0, 0.1, 0.5, 1.0, 2.0)) for _ in range(d)]
    threshold = rng.uniform(0.3, sum(weights) + 0.5)

    def margin(query: int) -> float:
        return sum(weights[i] for i in features_of(query)) - threshold

    return (lambda query: margin(query) >= 0), margin


def draw(rng: Random, d: int) -> tuple[Predicate, Margin]:
    if rng.random() < 0.3:
        return additive(rng, d)
    while True:
        g = rng.choice(DRAWS)(rng, d)
        if not g(0):
            return g, label(g)


def check(outcome: Outcome, g: Predicate, d: int, seed: int) -> None:
    truth = smallest(g, d)
    asked = set(outcome.flips.tolist())
    assert outcome.contradiction() is None
    if outcome.ones is None:
        assert truth[0].bit_count() > 2, seed
        return
    assert sorted(outcome.ones) == sorted(truth), seed
    assert Proof(d, outcome.zeros, outcome.ones).check(d), seed
    assert len(set(outcome.zeros)) == len(outcome.zeros), seed
    for zero in outcome.zeros:
        assert not g(zero), seed
        assert zero in asked | {0}, seed
        assert all(g(zero | 1 << i) for i in range(d) if not zero >> i & 1), seed


@pytest.mark.parametrize(
    "seeds",
    [range(400), *(pytest.param(range(k, k + 2_000), marks=pytest.mark.campaign) for k in range(400, 20_400, 2_000))],
)
def test_random_functions_against_brute_force(seeds: range) -> None:
    sorts = Counter[str]()
    for seed in seeds:
        rng = Random(seed)
        d = rng.randint(1, 8)
        drawn = [draw(rng, d) for _ in range(rng.randint(1, 9))]
        outcomes = search([margin for _, margin in drawn], d, places=rng.randint(1, 5), batch=rng.randint(3, 40))
        for (g, _), outcome in zip(drawn, outcomes, strict=True):
            check(outcome, g, d, seed)
            sorts["large" if outcome.ones is None else str(max(map(int.bit_count, outcome.ones), default=0))] += 1
    assert min(sorts[sort] for sort in ("0", "1", "2", "large")) > 50


def test_company_changes_nothing() -> None:
    for seed in range(60):
        rng = Random(seed)
        d = rng.randint(2, 8)
        rows = [draw(rng, d)[1] for _ in range(7)]
        for together, row in zip(search(rows, d, places=3), rows, strict=True):
            (alone,) = search([row], d, places=1)
            assert (together.ones, together.zeros, together.rounds) == (alone.ones, alone.zeros, alone.rounds), seed
            assert together.flips.tolist() == alone.flips.tolist(), seed


def test_without_reasons_the_answers_are_the_proof() -> None:
    for seed in range(100):
        rng = Random(seed)
        d = rng.randint(1, 8)
        g, margin = draw(rng, d)
        (bare,), (whole,) = search([margin], d, places=1, reasons=False), search([margin], d, places=1)
        assert bare.ones == whole.ones
        assert len(bare.flips) <= len(whole.flips)
        if bare.ones:
            zeros = [0, *(word for word in bare.flips.tolist() if not g(word))]
            assert Proof(d, tuple(zeros), bare.ones).check(d), seed


def test_sixty_three_features() -> None:
    d = 63
    margin = label(lambda query: bool(query >> 62 & 1 and query & 0b11))
    (outcome,) = search([margin], d, places=1)
    assert outcome.ones == (1 << 62 | 1, 1 << 62 | 2)
    assert sorted(everything(d) & ~zero for zero in outcome.zeros) == [0b11, 1 << 62]
    assert len(outcome.flips) < 200


def test_a_turning_point_further_than_a_batch_is_found() -> None:
    """Forty features, three questions a round: the place where a chain should turn lies beyond the next three."""
    weights = [0.01 * (i + 1) for i in range(40)]

    def margin(query: int) -> float:
        return sum(weights[i] for i in features_of(query)) - 7.0

    for batch in (3, 16):
        outcomes = search([margin, label(lambda query: margin(query) >= 0)], 40, places=2, batch=batch)
        assert all(outcome.ones is None for outcome in outcomes)  # no pair is enough


def test_a_row_that_contradicts_itself_is_noticed() -> None:
    (outcome,) = search([lambda query: 1.0 if query in (0b001, 0b010, 0b1110, 0b1111) else -1.0], 4, places=1)
    assert outcome.contradiction() is None  # what was asked is in order
    (outcome,) = search([lambda query: 1.0 if query == 0b001 else -1.0], 3, places=1)
    assert outcome.contradiction() == (0b001, 0b111)


# --- rows of a model --------------------------------------------------------------------------------------------------


def ordered_space(d: int) -> Space:
    return Space([Feature(f"x{i}", "integer", direction=+1 if i % 3 else -1, lower=0, upper=9) for i in range(d)])


def bumpy(seed: int, d: int) -> Callable[[Any], Any]:
    """A monotone model that is not additive: sums of steps, and of products of steps."""
    rng = np.random.default_rng(seed)
    signs = np.array([1 if i % 3 else -1 for i in range(d)])
    cuts, weights = rng.integers(0, 10, (12, d)), rng.exponential(size=12)
    uses = rng.random((12, d)) < 0.3

    def predict(rows: Any) -> Any:
        better = np.where(signs > 0, np.asarray(rows, dtype=float), 9 - np.asarray(rows, dtype=float))
        met = ((better[:, None, :] >= cuts) | ~uses).all(axis=2)
        raw: Any = np.where(met, weights, 0.0).sum(axis=1) - weights.sum() * 0.8
        return 1 / (1 + np.exp(-raw))

    return predict


def test_the_frugal_search_finds_the_same_sets_and_values() -> None:
    sizes = Counter[float | None]()
    for seed in range(40):
        d = 3 + seed % 5
        explainer = Explainer(bumpy(seed, d), ordered_space(d))
        rows = np.random.default_rng(seed).integers(0, 10, (8, d))
        for row, swift in zip(rows, explainer.explain_table(rows), strict=True):
            frugal = explainer.explain(row, batch=1)
            assert not isinstance(swift, Exception)
            assert (swift.status, swift.size, swift.flipsets) == (frugal.status, frugal.size, frugal.flipsets), seed
            costs = [[one.cost for one in e.counterfactuals] for e in (swift, frugal)]
            assert costs[0] == costs[1], seed
            assert explainer.verify(swift)
            sizes[swift.size] += 1
    assert min(sizes[size] for size in (1, 2, 3)) > 20, sizes


def test_what_is_counted_is_what_the_model_is_asked() -> None:
    asked: list[int] = []

    def predict(rows: Any) -> Any:
        asked.append(len(rows))
        return bumpy(3, 6)(rows)

    explainer = Explainer(predict, ordered_space(6))
    for seed in range(20):
        asked.clear()
        e = explainer.explain(np.random.default_rng(seed).integers(0, 10, 6))
        assert (e.queries, e.rounds) == (sum(asked), len(asked))
    asked.clear()
    t = explainer.explain_table(np.random.default_rng(0).integers(0, 10, (50, 6)))
    assert t.rounds == len(asked)
    assert t.queries > sum(asked)  # rows that several questions of one call are about are asked once


@pytest.mark.parametrize("kind", ["int64", "Int64", "boolean"])
def test_a_row_passed_over_is_counted_too(kind: str) -> None:
    asked = 0

    def predict(table: Any) -> Any:
        nonlocal asked
        asked += len(table)
        return table["a"].astype(float) + table["b"].astype(float) >= 4

    frame = pd.DataFrame({"a": [0, 5], "b": pd.array([0, 1], dtype=kind)})
    e = Explainer(predict, Space.from_frame(frame, increasing=["a", "b"])).explain(frame.iloc[[0]])
    assert e.queries == asked


def test_no_row_is_asked_twice() -> None:
    seen: Counter[bytes] = Counter()

    def predict(rows: Any) -> Any:
        seen.update(row.tobytes() for row in np.ascontiguousarray(rows))
        return np.minimum(rows[:, :5].sum(axis=1), rows[:, 3:].sum(axis=1)) >= 9

    space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=5) for i in range(9)])
    e = Explainer(predict, space).explain([0] * 9)
    assert max(seen.values()) == 1
    assert e.queries == len(seen)


def test_rows_on_which_the_model_fails_do_not_change_the_others() -> None:
    def touchy(rows: Any) -> Any:
        table = np.asarray(rows)
        if ((table[:, 0] == 4) & (table[:, 4] >= 7)).any() or (table[:, :2] == (7, 9)).all(axis=1).any():
            raise RuntimeError("no")
        return bumpy(5, 5)(table)

    explainer = Explainer(touchy, ordered_space(5))
    rows = np.random.default_rng(1).integers(0, 10, (60, 5))
    results = list(explainer.explain_table(rows, width=16))
    for row, result in zip(rows, results, strict=True):
        if isinstance(result, OracleError):
            with pytest.raises(OracleError, match="no"):
                explainer.explain(row)
        else:
            assert result == explainer.explain(row)
    failed = sum(isinstance(result, OracleError) for result in results)
    assert 5 < failed < 40


def test_an_interrupt_ends_in_what_is_known_by_then() -> None:
    asked = 0

    def slow(rows: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise KeyboardInterrupt
        return bumpy(2, 7)(rows)

    e = Explainer(slow, ordered_space(7)).explain([5] * 7)
    assert e.status == "stopped"
    assert e.queries > 7
    with pytest.raises(KeyboardInterrupt):
        Explainer(slow, ordered_space(7)).explain([5] * 7)  # nothing is known yet


def test_a_model_against_its_directions_is_blamed_with_two_rows() -> None:
    with pytest.raises(NotMonotone) as caught:
        Explainer(lambda rows: (rows[:, 1] == 9) & (rows[:, 2] < 9), ordered_space(3)).explain([5, 5, 5])
    assert caught.value.rows == ({"x0": 5, "x1": 9, "x2": 5}, {"x0": 0, "x1": 9, "x2": 9})


def test_rows_of_several_kinds_in_one_table() -> None:
    """Those that cannot be searched abreast are not held up, and do not hold up the others."""
    options = Feature("kind", "categorical", options=("a", "b"))
    space = Space([*ordered_space(3).features, Feature("note", fixed=True), options])

    def predict(rows: Any) -> Any:
        return [bumpy(7, 3)(np.array([row[:3]], dtype=float))[0] + (row[4] == "b") / 9 for row in rows]

    explainer = Explainer(predict, space)
    rows = [[1, 2, 3, "x", "a"], [1, 2, "odd", "x", "a"], [4, 4, 4, None, "b"], [9, 0, 0, 1.5, "a"]]
    results = explainer.explain_table(rows)
    assert isinstance(results[1], InputError)
    for i in (0, 2, 3):
        assert results[i] == explainer.explain(rows[i])


def test_a_row_that_has_ended_is_not_given_up_again() -> None:
    search = TableSearch(1, 2, batch=8)
    places = search.free()
    search.enter(places, np.ones((1, 2), dtype=bool), np.array([-1.0]))
    while len((queries := search.queries()).places):
        margins = np.where(queries.flips.any(axis=1), 1.0, -1.0)
        search.learn(queries, margins, margins)
    search.give_up(places)
    assert [place for place, _ in search.leave()] == [0]
