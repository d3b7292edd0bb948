"""Rows searched together: each has the answer that it has by itself, against brute force, with its proof."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, NotMonotone, OracleError, Space, find_flipsets
from flipset.errors import BudgetExhausted
from flipset.proof import Proof
from flipset.protocol import Done, advance, everything, features_of, flips_of, interrupt
from flipset.search.table import search as table
from flipset.search.table.memory import as_words
from flipset.search.table.search import NONE, OPEN, SetLists, SetQueries, TableSearch
from flipset.testing import DRAWS, Predicate, smallest
from tests.same import answer_of

Margin = Callable[[int], float]


@dataclass(slots=True)
class Searched:
    """A search that has ended, and the sets that were asked about each row, round by round."""

    search: TableSearch
    asked: list[list[list[int]]] = field(default_factory=list)

    def sets(self, lists: SetLists, k: int) -> tuple[int, ...]:
        start, words = lists.joined(len(self.search.base))
        return tuple(words[start[k] : start[k + 1]].tolist())

    def found(self, k: int) -> Any:
        """Return everything that is known about a row."""
        lists = self.search.ones, self.search.reasons, self.search.further_zeros()
        return int(self.search.size[k]), *(self.sets(one, k) for one in lists), self.asked[k]


def search(
    rows: Sequence[Margin],
    d: int,
    *,
    movable: Sequence[int] | None = None,
    reasons: int = 5,
    most: int | None = None,
    alone: bool = False,
    allowed: int | None = None,
) -> Searched:
    """Search functions on the sets of d features together; a budget ends after `allowed` queries."""
    masks = [everything(d)] * len(rows) if movable is None else movable
    flags = np.array([[bool(mask >> i & 1) for i in range(d)] for mask in masks])
    base = np.array([margin(0) for margin in rows])
    done = Searched(TableSearch(flags, base, reasons=reasons, most=most, alone=alone), [[] for _ in rows])
    flow: Any = done.search.run()
    step: Any = advance(flow)
    while not isinstance(step, Done):
        assert isinstance(step, SetQueries)
        asked = list(zip(step.rows.tolist(), as_words(step.flips).tolist(), strict=True))
        for k in {k for k, _ in asked}:
            done.asked[k].append([word for row, word in asked if row == k])
        if allowed is not None and (allowed := allowed - len(asked)) < 0:
            with pytest.raises(BudgetExhausted):
                interrupt(flow, BudgetExhausted("a test"))
            break
        step = advance(flow, np.array([rows[k](word) for k, word in asked]))  # type: ignore[arg-type]
    return done


def label(g: Predicate) -> Margin:
    return lambda query: 1.0 if g(query) else -1.0


def additive(rng: Random, d: int) -> tuple[Predicate, Margin]:
    weights = [rng.choice((0.0, 0.1, 0.5, 1.0, 2.0)) for _ in range(d)]
    threshold = rng.uniform(0.3, sum(weights) + 0.5)

    def margin(query: int) -> float:
        return sum(weights[i] for i in features_of(query)) - threshold

    return (lambda query: margin(query) >= 0), margin


def misleading(rng: Random, g: Predicate, d: int) -> Margin:
    """Return margins whose signs are right and whose sizes say nothing."""
    sizes = [rng.choice((0.1, 1.0, 7.0)) for _ in range(1 << d)]
    return lambda query: sizes[query] if g(query) else -sizes[query]


def draw(rng: Random, d: int) -> tuple[Predicate, Margin]:
    if rng.random() < 0.3:
        return additive(rng, d)
    while True:
        g = rng.choice(DRAWS)(rng, d)
        if not g(0):
            return g, misleading(rng, g, d) if rng.random() < 0.3 else label(g)


def reasons_by_the_rule(g: Predicate, order: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the zeros of at most so many reasons: features in the fewest of the zeros before come first."""
    zeros: list[int] = []
    while len(zeros) < most:
        held = Counter(i for zero in zeros for i in features_of(zero))
        zero = 0
        for i in sorted(order, key=lambda i: held[i]):
            if not g(zero | 1 << i):
                zero |= 1 << i
        if zero in zeros:
            break
        zeros.append(zero)
    return tuple(zeros)


def order_of(margin: Margin, mask: int) -> list[int]:
    """Return the features by their margin alone; as they are where the model gives labels."""
    features = list(features_of(mask))
    return features if margin(mask) == 1.0 else sorted(features, key=lambda i: margin(1 << i))


def check(
    done: Searched,
    k: int,
    g: Predicate,
    margin: Margin,
    d: int,
    mask: int,
    *,
    reasons: int = 5,
    most: int | None = None,
) -> str:
    """Compare a row with brute force; return its kind."""
    asked = [word for round_ in done.asked[k] for word in round_]
    assert len(set(asked)) == len(asked), "no set is asked twice"
    assert 0 not in asked, "the margin of the row itself is known"
    assert all(word & ~mask == 0 for word in asked), "only what can move is asked"
    # A feature that cannot move flips nothing: each set stands for its movable part.
    truth = smallest(lambda query: g(query & mask), d)
    truth = tuple(one for one in truth if not one & ~mask)
    size, ones, told, further, _ = done.found(k)
    assert not done.search.failed[k]
    if size == OPEN:
        assert most is not None
        assert truth[0].bit_count() > most
        assert done.search.gone_through[k] == (most if most > 1 else 0)
        return "open"
    assert sorted(ones) == sorted(truth)
    assert size == (truth[0].bit_count() if truth else NONE)
    zeros = tuple(dict.fromkeys((*told, *further)))
    assert not any(map(g, zeros))
    assert Proof(d, tuple(zero | everything(d) & ~mask for zero in zeros), ones).check(d)
    assert told == (
        (mask,)[:reasons] if size == NONE else reasons_by_the_rule(g, order_of(margin, mask), min(reasons, size))
    )
    return str(size)


# How many candidates are asked, and how many zeros are grown for it, changes the queries and nothing else.
FEW_ZEROS: dict[str, int] = {}
MANY_ZEROS = {"ENOUGH": 1, "ENOUGH_ALONE": 2, "WORTH": 1, "CELLS": 40}


@pytest.mark.parametrize("constants", [FEW_ZEROS, MANY_ZEROS], ids=["few zeros", "many zeros"])
@pytest.mark.parametrize(
    "seeds",
    [range(400), *(pytest.param(range(k, k + 2_000), marks=pytest.mark.campaign) for k in range(400, 20_400, 2_000))],
    ids=lambda seeds: f"{seeds.start}-{seeds.stop}",
)
def test_random_functions_against_brute_force(
    seeds: range, constants: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in constants.items():
        monkeypatch.setattr(table, name, value)
    kinds = Counter[str]()
    for seed in seeds:
        rng = Random(seed)
        d = rng.randint(1, 8)
        drawn = [draw(rng, d) for _ in range(rng.randint(1, 9))]
        masks = [everything(d) if rng.random() < 0.7 else rng.randint(1, everything(d)) for _ in drawn]
        how = {"reasons": rng.choice((0, 1, 2, 5)), "most": rng.choice((None, None, rng.randint(1, d)))}
        done = search([margin for _, margin in drawn], d, movable=masks, alone=rng.random() < 0.5, **how)  # type: ignore[arg-type]
        for k, ((g, margin), mask) in enumerate(zip(drawn, masks, strict=True)):
            kinds[check(done, k, g, margin, d, mask, **how)] += 1  # type: ignore[arg-type]
    assert min(kinds[kind] for kind in ("0", "1", "2", "3", "4", "open")) > 20, kinds


@pytest.mark.parametrize("alone", [False, True])
def test_company_changes_nothing(alone: bool) -> None:
    for seed in range(80):
        rng = Random(seed)
        d = rng.randint(2, 8)
        rows = [draw(rng, d)[1] for _ in range(7)]
        masks = [rng.randint(1, everything(d)) for _ in rows]
        together = search(rows, d, movable=masks, alone=alone)
        for k, (row, mask) in enumerate(zip(rows, masks, strict=True)):
            assert together.found(k) == search([row], d, movable=[mask], alone=alone).found(0), (seed, k)


@pytest.mark.parametrize("seed", range(6))
def test_larger_functions_agree_with_the_guided_search(seed: int) -> None:
    rng = Random(f"larger/{seed}")
    d = rng.randint(12, 16)
    weights = [rng.choice((0.0, 0.3, 1.0, 1.5)) + rng.random() / 50 for _ in range(d)]
    enough = sum(sorted(weights)[-4:]) * rng.uniform(0.5, 1.0)

    def margin(query: int) -> float:
        # A cap on one half of the features: gains do not add up.
        left = sum(weights[i] for i in features_of(query) if i % 2)
        return min(left, enough / 2) + sum(weights[i] for i in features_of(query) if not i % 2) - enough

    expected = find_flipsets(lambda sets: [margin(flips_of(s)) >= 0 for s in sets], d, reasons=False, max_flipsets=None)
    for one in (margin, label(lambda query: margin(query) >= 0)):
        for alone in (False, True):
            done = search([one], d, alone=alone)
            size, ones, told, further, _ = done.found(0)
            assert size == expected.size
            assert {frozenset(features_of(word)) for word in ones} == set(expected.flipsets)
            assert Proof(d, tuple(dict.fromkeys((*told, *further))), ones).check(d)
            assert told == reasons_by_the_rule(lambda q: margin(q) >= 0, order_of(one, everything(d)), min(5, size))


def test_a_size_with_too_many_candidates_is_left_to_the_guided_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_OPEN", 3)
    monkeypatch.setattr(table, "ENOUGH", 100)
    majority = label(lambda query: query.bit_count() >= 3)
    easy = label(lambda query: query & 0b11 == 0b11)
    done = search([majority, easy], 6)
    assert done.search.size.tolist() == [OPEN, 2]
    assert done.search.gone_through.tolist()[0] < 3  # none of the sets up to this size flips
    assert done.sets(done.search.ones, 1) == (0b11,)
    monkeypatch.setattr(table, "candidates_of", lambda d, size: None)
    done = search([majority, label(lambda query: bool(query & 4))], 6)
    assert done.search.size.tolist() == [OPEN, 1]  # single features need no candidates
    assert done.search.gone_through.tolist()[0] == 0


def test_without_reasons_the_answers_are_the_proof() -> None:
    for seed in range(100):
        rng = Random(seed)
        d = rng.randint(1, 8)
        _, margin = draw(rng, d)
        bare = search([margin], d, reasons=0)
        _, ones, told, further, _ = bare.found(0)
        assert told == ()
        assert Proof(d, (*told, *further), ones).check(d), seed
        assert ones == search([margin], d).found(0)[1], seed


def test_more_reasons_keep_those_there_are() -> None:
    more = 0
    for seed in range(100):
        rng = Random(seed)
        d = rng.randint(3, 8)
        _, margin = draw(rng, d)
        told = [search([margin], d, reasons=k).found(0)[2] for k in range(1, 6)]
        for fewer, some in pairwise(told):
            assert some[: len(fewer)] == fewer, seed
        more += len(told[-1]) > 2
    assert more > 15


def test_sixty_three_features() -> None:
    d = 63
    done = search([label(lambda query: bool(query >> 62 & 1 and query & 0b11))], d)
    _, ones, told, _, asked = done.found(0)
    assert set(ones) == {1 << 62 | 1, 1 << 62 | 2}
    assert sorted(everything(d) & ~zero for zero in told) == [0b11, 1 << 62]
    assert sum(map(len, asked)) < 300


def test_a_turning_point_far_from_the_first_guess_is_found() -> None:
    """Forty features, of which any 38 are enough for the margins, and 35 for the labels: no guess is near."""
    weights = [0.01 * (i + 1) for i in range(40)]

    def margin(query: int) -> float:
        return sum(weights[i] for i in features_of(query)) - 7.0

    for reasons in (1, 5):
        done = search([margin, label(lambda query: margin(query) >= 0)], 40, reasons=reasons, most=2)
        assert done.search.size.tolist() == [OPEN, OPEN]  # no pair is enough
        for told in (done.sets(done.search.reasons, k) for k in (0, 1)):
            assert all(margin(zero) < 0 for zero in told)
            assert all(margin(zero | 1 << i) >= 0 for zero in told for i in range(40) if not zero >> i & 1)


def test_rows_that_fail_are_asked_no_more_and_change_no_other() -> None:
    for seed in range(60):
        rng = Random(seed)
        d = rng.randint(2, 7)
        drawn = [draw(rng, d) for _ in range(5)]
        rows = [margin for _, margin in drawn]
        whole = search(rows, d)
        bad = rng.randrange(5)
        failing = rng.choice([word for round_ in whole.asked[bad] for word in round_])

        def touchy(word: int, margin: Margin = rows[bad], failing: int = failing) -> float:
            return float("nan") if word == failing else margin(word)

        done = search([touchy if k == bad else row for k, row in enumerate(rows)], d)
        assert done.search.failed.tolist() == [k == bad for k in range(5)], seed
        assert [failing in round_ for round_ in done.asked[bad]] == [False] * (len(done.asked[bad]) - 1) + [True], seed
        for k in set(range(5)) - {bad}:
            assert done.found(k) == whole.found(k), (seed, k)


def test_a_budget_that_ends_in_the_middle_leaves_what_is_right() -> None:
    stages = Counter[int]()
    for seed in range(60):
        rng = Random(seed)
        d = rng.randint(2, 7)
        drawn = [draw(rng, d) for _ in range(4)]
        rows = [margin for _, margin in drawn]
        whole = search(rows, d)
        total = sum(len(round_) for asked in whole.asked for round_ in asked)
        done = search(rows, d, allowed=rng.randrange(total))
        for k, (g, margin) in enumerate(drawn):
            size = int(done.search.size[k])
            stages[size] += 1
            if size != OPEN:
                assert check(done, k, g, margin, d, everything(d)) == str(size)
            truth = smallest(g, d)
            gone_through = done.search.gone_through[k]
            assert gone_through == 0 or not truth or size != OPEN or truth[0].bit_count() > gone_through
            assert done.asked[k] == whole.asked[k][: len(done.asked[k])], seed
    assert min(stages[size] for size in (OPEN, NONE, 1)) > 10, stages


def test_lists_of_sets_keep_the_order_in_which_they_grew() -> None:
    lists = SetLists()
    start, words = lists.joined(3)
    assert (start.tolist(), words.tolist()) == ([0, 0, 0, 0], [])
    lists.add(np.array([2, 0]), np.array([5, 6], dtype=np.uint64))
    lists.add(np.array([0, 0]), np.array([7, 1 << 63], dtype=np.uint64))
    start, words = lists.joined(3)
    assert (start.tolist(), words.tolist()) == ([0, 3, 3, 4], [6, 7, 1 << 63, 5])


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
            assert answer_of(result) == answer_of(explainer.explain(row))
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
        assert answer_of(results[i]) == answer_of(explainer.explain(rows[i]))
