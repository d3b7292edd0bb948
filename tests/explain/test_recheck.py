"""Explanations on file, rechecked against another model: what is said of them is so, and a repair is a fresh answer."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from flipset import (
    Explainer,
    Explanation,
    Feature,
    FlipsetError,
    InputError,
    Recheck,
    Rechecks,
    Space,
    Unavailable,
    read_explanations,
)
from tests.ordered import OrderedCase, draw_ordered
from tests.spaces import Case, _draw_model, draw_case

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])


def total(rows: Any) -> Any:
    return np.asarray(rows, dtype=float).sum(axis=1)


def sum_explainer(least: float, **how: Any) -> Explainer:
    return Explainer(total, how.pop("space", SPACE), threshold=least, **how)


def retrained(case: OrderedCase, seed: int) -> OrderedCase:
    """The same space and rows, with a model whose weights and threshold are a little different."""
    rng = Random(f"retrained/{seed}")
    weights = tuple(weight * rng.choice((0.5, 1, 1, 1.5)) for weight in case.model.weights)
    threshold = case.model.threshold * rng.choice((0.9, 1, 1, 1.1))
    return replace(case, model=replace(case.model, weights=weights, threshold=threshold))


def explainer_of(case: OrderedCase) -> Explainer:
    return Explainer(case.model, case.space, threshold=case.threshold)


def explanations(results: Any) -> list[Explanation]:
    assert all(isinstance(e, Explanation) for e in results)
    return list(results)


def answer(e: Any) -> Any:
    """What must be the same as in a fresh explanation; how many queries it took need not be."""
    assert isinstance(e, Explanation), e
    return e.status, e.size, e.lower, e.flipsets, e.counterfactuals, e.reasons, e.proof.ones, e.max_changes


def cost_on_file(e: Explanation) -> int:
    """The queries that a recheck may take: the row, the counterfactuals, and every row of the proof."""
    proof = sum(len(e.moves.rows(flips)) for flips in (*e.proof.zeros, *e.proof.ones)) if e.moves.units else 0
    return 1 + len(e.counterfactuals) + proof


def check_facts(one: Recheck, e: Explanation, explainer: Explainer) -> None:
    """Compare everything a recheck says with the model itself."""
    assert one.error is None
    assert one.decision == (explainer.scores([list(e.row.values())])[0] >= explainer.threshold)
    assert one.queries <= cost_on_file(e) or one.repaired is not None
    if one.decision != e.decision:
        assert not one.holds
        assert one.needs_new_letter
        assert one.proof_holds is None
        assert all(c.score is None and c.holds is None for c in one.counterfactuals)
        return
    scores = explainer.scores([list(c.row.values()) for c in e.counterfactuals])
    good = [(score >= explainer.threshold) != e.decision for score in scores]
    assert [c.holds for c in one.counterfactuals] == good
    assert [c.score for c in one.counterfactuals] == scores
    distances = [c.margin for c in one.counterfactuals]
    assert distances == [(score - explainer.threshold) * (-1 if e.decision else 1) for score in scores]
    assert one.holds == all(good)
    assert one.needs_new_letter == (not one.holds and not e.decision)
    assert one.is_out_of_date == (not one.holds and e.decision)
    sets = [(flips, False) for flips in e.proof.zeros] + [(flips, True) for flips in e.proof.ones]
    now = {}
    for flips, expected in sets if e.moves.units else ():
        rows = [[*e.row.values()] for _ in e.moves.rows(flips)]
        for row, cells in zip(rows, e.moves.rows(flips), strict=True):
            for column, value in cells:
                row[column] = value
        flipping = any((score >= explainer.threshold) != e.decision for score in explainer.scores(rows))
        if flipping != expected:
            now[e.moves.names(flips)] = expected
    assert one.changed_zeros == tuple(names for names, expected in now.items() if not expected)
    assert one.changed_ones == tuple(names for names, expected in now.items() if expected)
    assert one.proof_holds == (not one.changed_zeros and not one.changed_ones)


# --- against the model, and against a fresh search --------------------------------------------------------------------

SEEDS = [range(40), *(pytest.param(range(k, k + 100), marks=pytest.mark.campaign) for k in range(100, 1100, 100))]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_ordered_spaces(seeds: range) -> None:
    kinds = Counter[str]()
    for seed in seeds:
        case = draw_ordered(seed, rows=4)
        new = explainer_of(retrained(case, seed))
        on_file = explanations(explainer_of(case).explain_table(case.rows))
        for one, e in zip(new.recheck(on_file), on_file, strict=True):
            check_facts(one, e, new)
        for one, e in zip(new.recheck(on_file, repair=True), on_file, strict=True):
            check_facts(one, e, new)
            good = one.holds and one.proof_holds
            assert (one.repaired is None) == bool(good)
            kinds[
                "good" if good else "outdated" if one.holds else "changed" if one.proof_holds is None else "broken"
            ] += 1
            if one.repaired is not None:
                fresh = new.explain(list(e.row.values()))
                assert answer(one.repaired) == answer(fresh), f"seed {seed}"
                assert one.queries == one.repaired.queries
    assert min(kinds[kind] for kind in ("good", "outdated", "changed", "broken")) > 0, kinds


def fewest(case: Case) -> set[frozenset[str]]:
    """The smallest flip sets, by looking at every row."""
    flipping = {case.changed(row) for row in case.every_row() if (case.score(row) >= 0.5) != case.decision}
    least = min(map(len, flipping), default=0)
    return {names for names in flipping if len(names) == least}


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_spaces_with_options_groups_and_codes(seeds: range) -> None:
    kinds = Counter[Any]()
    for seed in seeds:
        old = draw_case(seed, margins=seed % 2 == 0)
        new = replace(old, score=_draw_model(Random(f"retrained/{seed}"), old.space, margins=seed % 2 == 0))
        before, now = (Explainer(case.predict, case.space, cost=case.cost) for case in (old, new))
        e = before.explain(old.row)
        (plain,), (repaired,) = now.recheck([e]), now.recheck([e], repair=True)
        check_facts(plain, e, now)
        kinds[plain.holds, plain.proof_holds] += 1
        if repaired.repaired is not None:
            assert answer(repaired.repaired) == answer(now.explain(new.row)), f"seed {seed}"
            assert {frozenset(names) for names in repaired.repaired.flipsets} == fewest(new)
    assert min(kinds[True, True], kinds[True, False], kinds[False, False], kinds[False, None]) > 0, kinds


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_where_nothing_changed_it_costs_the_row_the_counterfactuals_and_the_proof() -> None:
    asked: list[int] = []

    def counting(rows: Any) -> Any:
        asked.append(len(rows))
        return total(rows)

    for row in ([0, 0, 0], [3, 4, 5], [9, 9, 9]):
        e = sum_explainer(20).explain(row)
        asked.clear()
        (one,) = Explainer(counting, SPACE, threshold=20).recheck([e], repair=True)
        assert one.holds
        assert one.proof_holds
        assert one.size_holds
        assert one.repaired is None
        assert sum(asked) == one.queries <= 1 + len(e.counterfactuals) + len(e.proof.zeros) + len(e.proof.ones)


def test_a_changed_decision_costs_one_query() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    rechecks = sum_explainer(12).recheck([e])
    assert (rechecks[0].decision_before, rechecks[0].decision, rechecks.queries) == (False, True, 1)
    (repaired,) = sum_explainer(12).recheck([e], repair=True)
    assert repaired.repaired is not None
    assert repaired.queries <= sum_explainer(12).explain([5, 5, 5], batch=32, max_queries=10**6).queries


def test_a_repair_takes_about_as_few_queries_as_a_frugal_search_and_rows_share_calls() -> None:
    rng = np.random.default_rng(3)
    space = Space([Feature(f"x{i}", "integer", direction=+1, lower=0, upper=9) for i in range(10)])
    weights = rng.uniform(0.5, 2.0, 10)
    rows = rng.integers(0, 6, (30, 10)).tolist()
    old, new = (Explainer(lambda table, w=w: np.asarray(table, dtype=float) @ w, space, threshold=45.0)
                for w in (weights, weights * rng.uniform(0.95, 1.05, 10)))  # fmt: skip
    on_file = old.explain_table(rows)
    repaired = new.recheck(on_file, repair=True)
    needed = [one.row for one in repaired if one.repaired is not None]
    usual, frugal = (explanations(new.explain_table([rows[i] for i in needed], batch=batch)) for batch in (None, 8))
    assert len(needed) > 10
    spent = sum(repaired[i].queries for i in needed)
    assert spent <= 1.1 * min(sum(e.queries for e in some) for some in (usual, frugal))
    assert repaired.rounds < sum(e.rounds for e in usual)


# --- what is said -----------------------------------------------------------------------------------------------------


def test_a_broken_option_is_named_with_its_score_and_margin() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    (one,) = sum_explainer(20.5).recheck([e])
    assert [(c.flipset, c.score, c.margin, c.holds) for c in one.broken] == [
        ((name, other), 20.0, -0.5, False) for name, other in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    assert one.proof_holds
    assert one.size_holds
    assert not one.holds
    assert (one.score_before, one.threshold_before, one.threshold, one.least_margin) == (15.0, 20.0, 20.5, -0.5)


def test_a_smaller_option_is_told_from_a_broken_promise() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    (one,) = sum_explainer(19).recheck([e], repair=True)
    assert one.holds
    assert one.proof_holds is False
    assert one.size_holds is False
    assert {*one.changed_zeros} == {("a",), ("b",), ("c",)}
    assert one.repaired is not None
    assert one.repaired.size == 1


def test_the_size_may_hold_where_not_all_sets_do() -> None:
    def without_a(rows: Any) -> Any:
        return np.where(np.asarray(rows)[:, 0] > 5, 0, total(rows) - np.asarray(rows)[:, 0] + 5)

    e = sum_explainer(20).explain([5, 5, 5])
    (one,) = Explainer(without_a, SPACE, threshold=20).recheck([e])
    assert one.proof_holds is False
    assert one.size_holds is True
    assert one.changed_ones == (("a", "b"), ("a", "c"))
    assert not one.changed_zeros


def test_no_option_on_file_and_one_now() -> None:
    e = sum_explainer(30).explain([5, 5, 5])
    assert e.status == "none"
    assert sum_explainer(31).recheck([e])[0].proof_holds
    (one,) = sum_explainer(27).recheck([e], repair=True)
    assert one.holds
    assert one.proof_holds is False
    assert one.repaired is not None
    assert one.repaired.size == 3


def test_nothing_can_move() -> None:
    space = Space([Feature("a", fixed=True)])
    e = sum_explainer(5, space=space).explain([3])
    (one,) = sum_explainer(4, space=space).recheck([e], repair=True)
    assert one.holds
    assert one.proof_holds
    assert one.queries == 1
    (changed,) = sum_explainer(2, space=space).recheck([e], repair=True)
    assert changed.repaired is not None
    assert changed.repaired.status == "none"
    assert changed.repaired.decision


def test_a_stopped_and_an_unproved_explanation() -> None:
    stopped = sum_explainer(20).explain([5, 5, 5], max_queries=3)
    assert stopped.status == "stopped"
    assert sum_explainer(20).recheck([stopped])[0].proof_holds
    unproved = replace(sum_explainer(20).explain([5, 5, 5]), status="unproved", size=None, lower=None)
    (one,) = sum_explainer(20).recheck([unproved])
    assert one.proof_holds is None
    assert one.holds


# --- the file and the space -------------------------------------------------------------------------------------------


def test_bad_explanations_cost_their_own_row() -> None:
    e = sum_explainer(20).explain([5, 5, 5], reasons="all")
    left = e.reasons.index(e.moves.names(7 & ~e.proof.zeros[0]))
    forged = replace(
        e, proof=replace(e.proof, zeros=e.proof.zeros[1:]), reasons=e.reasons[:left] + e.reasons[left + 1 :]
    )
    other = Explainer(total, Space([Feature("z", direction=+1, lower=0, upper=9)]), threshold=5).explain([1.0])
    given: list[Any] = [forged, e, InputError("was never explained"), other, {"decision": False}]
    rechecks = sum_explainer(20).recheck(given)
    assert [one.row for one in rechecks] == [0, 1, 2, 3, 4]
    assert [one.is_checked for one in rechecks] == [False, True, False, False, False]
    assert "not consistent: proof: its zeros and ones leave another answer open" in rechecks[0].error
    assert rechecks[2].error == "was never explained"
    assert "its columns are not those of the space: only the explanation has 'z'" in rechecks[3].error
    assert rechecks[4].error == "recheck takes explanations, got dict"
    assert rechecks.summary().errors == 4


def test_a_model_that_fails_on_a_row_costs_that_row() -> None:
    def picky(rows: Any) -> Any:
        if (np.asarray(rows)[:, 0] == 0).any():
            raise ValueError("no zeros")
        return total(rows)

    on_file = sum_explainer(25).explain_table([[0, 9, 5], [6, 6, 6]])
    rechecks = Explainer(picky, SPACE, threshold=25).recheck(on_file)
    assert "no zeros" in rechecks[0].error
    assert rechecks[1].holds


def test_a_fault_ends_the_run() -> None:
    def away(rows: Any) -> Any:
        raise Unavailable("the endpoint is away")

    with pytest.raises(Unavailable):
        Explainer(away, SPACE, threshold=20).recheck([sum_explainer(20).explain([5, 5, 5])])


def test_columns_in_another_order() -> None:
    weights = {"a": 1.0, "b": 2.0, "c": 4.0}
    turned = Space(SPACE.features[::-1])
    old, new = (
        Explainer(lambda rows, s=s: np.asarray(rows, dtype=float) @ [weights[n] for n in s.names], s, threshold=40)
        for s in (SPACE, turned)
    )
    on_file = old.explain_table([[1, 2, 3], [8, 8, 8]])
    assert [one.holds and one.proof_holds for one in new.recheck(on_file)] == [True, True]


def test_a_space_that_has_changed_is_used_for_the_repair() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    narrow = sum_explainer(21, space=SPACE.with_changes((), {"a": (0, 6)}))
    (one,) = narrow.recheck([e], repair=True)
    assert not one.holds
    assert one.proof_holds
    assert answer(one.repaired) == answer(narrow.explain([5, 5, 5]))
    (fixed,) = sum_explainer(21).recheck([e], repair=True, fixed=["b"])
    assert answer(fixed.repaired) == answer(sum_explainer(21).explain([5, 5, 5], fixed=["b"]))


def test_objective_and_limit_on_changes_are_those_on_file() -> None:
    old, new = sum_explainer(20), sum_explainer(24)
    few = old.explain([5, 5, 5], max_changes=2)
    (one,) = new.recheck([few], repair=True)
    assert one.repaired is not None
    assert one.repaired.status == "none"
    assert one.repaired.max_changes == 2
    (more,) = new.recheck([few], repair=True, max_changes=3)
    assert answer(more.repaired) == answer(new.explain([5, 5, 5], max_changes=3))
    cheap = old.explain([5, 5, 5], objective="cost")
    (one,) = new.recheck([cheap], repair=True)
    assert answer(one.repaired) == answer(new.explain([5, 5, 5], objective="cost"))


def test_weights() -> None:
    space = Space(
        [
            Feature(n, "integer", direction=+1, lower=0, upper=9, weight=w)
            for n, w in zip("abc", (1, 2, 1.5), strict=True)
        ]
    )
    e = sum_explainer(20, space=space).explain([5, 5, 5])
    (one,) = sum_explainer(22, space=space).recheck([e], repair=True)
    assert answer(one.repaired) == answer(sum_explainer(22, space=space).explain([5, 5, 5]))


def test_a_model_that_contradicts_the_directions() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    falling = Explainer(lambda rows: np.where(total(rows) > 22, 0, total(rows)), SPACE, threshold=20)
    (one,) = falling.recheck([e], repair=True)
    assert one.is_checked
    assert one.repaired is None
    assert one.error is not None
    assert one.error.startswith("not repaired: ")
    (lenient,) = falling.recheck([e], repair=True, strict=False)
    assert lenient.repaired is not None
    assert lenient.repaired.status == "unproved"
    assert lenient.repaired.contradictions


# --- limits and reports -----------------------------------------------------------------------------------------------


def test_limits_for_all_rows() -> None:
    on_file = sum_explainer(20).explain_table([[5, 5, k] for k in range(6)])
    limits: list[dict[str, Any]] = [{"max_table_queries": 12}, {"max_table_seconds": 0}]
    for limit in limits:
        rechecks = sum_explainer(20).recheck(on_file, **limit)
        assert len(rechecks) == 6
        assert rechecks.queries <= 12
        assert any(one.error for one in rechecks)
        assert all(one.holds for one in rechecks if one.is_checked)


def test_a_limit_for_each_row_counts_the_recheck() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    free, limited = (sum_explainer(22).recheck([e], repair=True, max_queries=most)[0] for most in (None, 11))
    assert limited.repaired is not None
    assert limited.queries == limited.repaired.queries <= 11 < free.queries


def test_progress_and_each() -> None:
    on_file = sum_explainer(20).explain_table([[5, 5, 5], [6, 6, 6]])
    reported: list[tuple[int, int, int]] = []
    seen: list[Recheck] = []
    given: list[Explanation | FlipsetError] = [*on_file, InputError("no row")]
    rechecks = sum_explainer(20).recheck(
        (one for one in given), progress=lambda *done: reported.append(done), each=seen.append, width=1
    )
    assert isinstance(rechecks, Rechecks)
    assert [done[:2] for done in reported] == [(1, 3), (2, 3), (3, 3)]
    assert reported[-1][2] == rechecks.queries
    assert sorted(one.row for one in seen) == [0, 1, 2]


def test_explanations_are_read_as_they_are_needed() -> None:
    e = sum_explainer(20).explain([5, 5, 5])
    taken = finished = 0
    ahead: list[int] = []

    def many() -> Any:
        nonlocal taken
        for _ in range(200):
            taken += 1
            ahead.append(taken - finished)
            yield e

    def done(one: Recheck) -> None:
        nonlocal finished
        finished += 1

    assert len(sum_explainer(20).recheck(many(), width=4, each=done)) == 200
    assert max(ahead) <= 34 + 4 + 1  # the rows that a batch might be chosen by, and those under way


def test_several_calls_at_a_time() -> None:
    on_file = sum_explainer(20).explain_table([[5, 5, k] for k in range(8)])
    alone, pooled = (sum_explainer(22).recheck(on_file, repair=True, in_flight=calls) for calls in (None, 3))
    assert alone.results == pooled.results


# --- the space of today -----------------------------------------------------------------------------------------------


def by_hand(value: float, before: float, space: Space, name: str, *, approved: bool) -> bool:
    """Say whether a space allows a value, without looking at moves: what a reader of the space would say."""
    feature = next(one for one in space.features if one.name == name)
    if feature.fixed:
        return False
    better = value > before if not approved else value < before
    return better and bool(feature.lower <= value <= feature.upper)


def test_a_narrower_space_is_said_of_each_counterfactual() -> None:
    rng = Random(0)
    seen = Counter[str]()
    for _ in range(60):
        rows = [[rng.randrange(10) for _ in "abc"] for _ in range(4)]
        on_file = explanations(sum_explainer(14).explain_table(rows))
        upper, fixed = rng.randrange(4, 10), rng.choice(["a", "b", None])
        narrow = SPACE.with_changes([fixed] if fixed else [], {"c": (0, upper)})
        for one, e in zip(sum_explainer(14, space=narrow).recheck(on_file), on_file, strict=True):
            inside = e.row["c"] <= upper
            for shown, c in zip(one.counterfactuals, e.counterfactuals, strict=True):
                allowed = all(
                    by_hand(c.row[name], e.row[name], narrow, name, approved=e.decision)
                    for name in "abc"
                    if c.row[name] != e.row[name]
                )
                if inside:  # from outside the range, a value may also move towards it
                    assert bool(shown.not_allowed) != allowed, (shown, narrow)
                seen["allowed" if not shown.not_allowed else shown.not_allowed.split()[1]] += 1
            assert one.holds  # the model is the same
    assert min(seen["allowed"], seen["is"], seen["may"]) > 0, seen


def test_a_repair_follows_the_space_of_today() -> None:
    on_file = explanations(sum_explainer(14).explain_table([[2, 3, 4], [5, 5, 5]]))
    new = sum_explainer(14, space=SPACE.with_changes(["a"], None))
    for one, e in zip(new.recheck(on_file, repair=True), on_file, strict=True):
        assert one.same_moves is False
        assert answer(one.repaired) == answer(new.explain(list(e.row.values())))
    same = sum_explainer(14).recheck(on_file, repair=True)
    assert [(one.same_moves, one.repaired) for one in same] == [(True, None)] * 2


def test_a_value_that_the_space_no_longer_knows_is_held_fixed() -> None:
    (e,) = explanations(sum_explainer(14).explain_table([[2, 3, 4]]))
    strict = Space([*SPACE.features[:2], Feature("c", "ordinal", direction=+1, options=(0, 1, 2))])
    (one,) = sum_explainer(14, space=strict).recheck([e])
    assert one.holds
    assert {c.flipset: c.not_allowed for c in one.counterfactuals} == {
        ("a",): "",
        ("b",): "",
        ("c",): "c is held fixed",
    }


def test_what_a_proof_that_holds_rests_on() -> None:
    (e,) = explanations(sum_explainer(14).explain_table([[2, 3, 4]]))
    (plain,) = sum_explainer(14).recheck([e])
    assert plain.basis == "assumed"
    weights = LinearRegression().fit(np.eye(3), np.ones(3))
    (linear,) = Explainer(weights, SPACE, threshold=weights.predict([[9, 3, 4]])[0] - 1e-6).recheck([e])
    assert linear.proof_holds is None or linear.basis in ("proved", None)
    (other,) = sum_explainer(20).recheck([e])
    assert other.basis is None


def test_new_explanations_go_to_a_file_that_verify_and_recheck_take(tmp_path: Path) -> None:
    on_file = explanations(sum_explainer(14).explain_table([[2, 3, 4], [1, 1, 1], [9, 9, 9]]))
    new = sum_explainer(16)
    rechecks = new.recheck(on_file, repair=True)
    rechecks.write_explanations(tmp_path / "new.jsonl")
    again = explanations(read_explanations(tmp_path / "new.jsonl"))
    assert len(again) == len(rechecks.new_explanations()) == sum(one.repaired is not None for one in rechecks) > 0
    assert all(new.verify(e) for e in again)
    assert all(one.holds and one.proof_holds and one.same_moves for one in new.recheck(again))
    with pytest.raises(InputError, match=r"new.csv: new explanations are written to a file ending in .jsonl"):
        rechecks.write_explanations(tmp_path / "new.csv")
