"""Explanations of spaces with rules, compared with every row that the rules allow."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from flipset import Explainer, Explanation, Feature, Space
from flipset.models.remote.endpoint import Endpoint
from tests.endpoints import serving
from tests.rule_spaces import RuleCase, draw_rule_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEEDS = [
    range(300),
    *(pytest.param(range(k, k + 1_000), marks=pytest.mark.campaign) for k in range(300, 10_300, 1_000)),
]


class Truth:
    """What is true of a row, from every row that the rules allow."""

    def __init__(self, case: RuleCase) -> None:
        self.rows = list(case.every_row())
        self.decision = case.decision
        self.cheapest: dict[frozenset[str], Fraction] = {}
        for names, cost, values in self.rows:
            if (case.score(values) >= 0.5) != self.decision:
                self.cheapest[names] = min(cost, self.cheapest.get(names, cost))
        weight = case.weight
        self.weigh = {names: sum((weight[name] for name in names), Fraction()) for names in self.cheapest}
        self.minimal = {one for one in self.cheapest if not any(other < one for other in self.cheapest)}
        self.size = min(self.weigh.values(), default=None)
        self.smallest = {one for one in self.minimal if self.weigh[one] == self.size}

    def cheapest_within(self, max_changes: int) -> Fraction:
        """The least cost of a row that flips with at most so many changes."""
        return min(cost for names, cost in self.cheapest.items() if len(names) <= max_changes)


def explainer_of(case: RuleCase, **how: Any) -> Explainer:
    return Explainer(case.predict, case.space, threshold=0.5, cost=case.plain.cost, **how)


def check_rows(case: RuleCase, truth: Truth, e: Explanation, about: Any) -> None:
    """Check that every counterfactual is an allowed row that flips, as it is described."""
    for _, one in e.all_counterfactuals:
        values = {name: one.row[name] for name in case.names}
        assert any(values == row for _, _, row in truth.rows), (about, values)
        assert (case.score(values) >= 0.5) != e.decision, about
        moved = case.plain.changed(tuple(values[name] for name in case.plain.space.names))
        assert frozenset(one.flipset) == moved, about
        cost = case.plain.cost_of(tuple(values[name] for name in case.plain.space.names))
        assert one.cost == pytest.approx(float(cost), abs=1e-12), about
        told = [(each.feature, each.before, each.after) for each in one.consequences]
        computed = {each.name for each in case.computed}
        true = [(n, case.before[n], values[n]) for n in case.names if n in computed and values[n] != case.before[n]]
        assert told == true, about


def check_answer(case: RuleCase, truth: Truth, e: Explanation, about: Any) -> None:
    """Check all that an explanation without limits says."""
    assert e.decision == truth.decision, about
    assert e.status == ("none" if truth.size is None else "optimal"), (about, e.status)
    assert {frozenset(one) for one in e.flipsets} == truth.smallest, about
    assert len(e.flipsets) == len(truth.smallest), about
    assert e.size == truth.size, about
    for reason in e.reasons:
        assert all(not names.isdisjoint(reason) for names in truth.cheapest), about
    check_rows(case, truth, e, about)
    if e.objective == "size" and e.max_options is None:
        assert {frozenset(one.flipset) for one in e.counterfactuals} == truth.smallest, about
        for one in e.counterfactuals:
            assert one.cost == pytest.approx(float(truth.cheapest[frozenset(one.flipset)]), abs=1e-12), about
            assert one.cost_at_least <= one.cost, about
    told = {} if e.rules is None else {one.text: one.broken for one in e.rules.constraints}
    if case.rules and e.rules is not None and e.rules.constraints:
        assert told == {rule.text: case.breaks(rule) for rule in case.rules}, about


def check_again(case: RuleCase, explainer: Explainer, e: Explanation, about: Any) -> None:
    """Verify an explanation, also from its file, with the space and without."""
    back = Explanation.from_json(e.to_json())
    assert (back, back.rules) == (e, e.rules), about
    for one in (e, back):
        found = explainer.verify(one)
        assert found, (about, found.problems)
    found = back.verify(case.predict)
    if any(one.is_function for one in case.computed):
        assert not found.decided, about  # functions are not in the file, so rows of the proof cannot be made
        assert not found.problems, (about, found.problems)
    else:
        assert found, (about, found.problems)


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_every_answer_is_that_of_all_allowed_rows(seeds: range) -> None:
    sizes = Counter[Any]()
    for seed in seeds:
        case = draw_rule_case(seed)
        truth = Truth(case)
        explainer = explainer_of(case)
        e = explainer.explain(case.named_row)
        check_answer(case, truth, e, seed)
        check_again(case, explainer, e, seed)
        check_wishes(case, truth, explainer, seed)
        sizes[None if truth.size is None else len(next(iter(truth.smallest)))] += 1
    assert min(sizes[size] for size in (None, 1, 2, 3)) > 0, sizes


def check_wishes(case: RuleCase, truth: Truth, explainer: Explainer, seed: int) -> None:
    """Check one of the ways to ask for more, or for something else, than the smallest flip sets."""
    row, how = case.named_row, seed % 8
    if {*case.weight.values()} != {1} and how in (2, 4, 5):
        how = 3  # a limit counts changes, and cannot be had with weights
    if how == 0 or truth.size is None:
        listed = list(explainer.iter_flipsets(row))
        assert {frozenset(one) for one in listed} == truth.minimal, seed
        assert len(listed) == len(truth.minimal), seed
        weights = [truth.weigh[frozenset(one)] for one in listed]
        assert weights == sorted(weights), seed
        return
    if how in (1, 2):
        e = explainer.explain(row, objective="cost", **({"max_changes": 2} if how == 2 else {}))
        if e.status == "optimal":
            assert e.max_changes is not None
            (one,) = e.counterfactuals
            assert one.cost == pytest.approx(float(truth.cheapest_within(e.max_changes)), abs=1e-12), seed
            assert one.cost_at_least == pytest.approx(one.cost, abs=1e-12), seed
    elif how == 3:
        e = explainer.explain(row, more=4)
        check_answer(case, truth, e, seed)
        wider = sorted((truth.weigh[one], float(truth.cheapest[one])) for one in truth.minimal - truth.smallest)
        assert {frozenset(one.flipset) for one in e.larger} <= truth.minimal, seed
        assert [truth.weigh[frozenset(one.flipset)] for one in e.larger] == [size for size, _ in wider[:4]], seed
        assert [one.cost for one in e.larger] == pytest.approx([cost for _, cost in wider[:4]], abs=1e-12), seed
    elif how == 4:
        e = explainer.explain(row, curve=True)
        check_answer(case, truth, e, seed)
        for point in e.curve:
            cost = truth.cheapest_within(point.changes)
            assert point.counterfactual.cost == pytest.approx(float(cost), abs=1e-12), seed
    elif how == 5:
        e = explainer.explain(row, max_changes=1)
        fits = {one for one in truth.cheapest if len(one) == 1}
        assert (e.status == "optimal") == (bool(fits) and truth.smallest <= fits) or e.status != "optimal", seed
        assert {frozenset(one) for one in e.flipsets} <= truth.cheapest.keys(), seed
        assert bool(e.flipsets) == bool(fits), seed
    elif how == 6:
        e = explainer.explain(row, values=False)
        assert {frozenset(one) for one in e.flipsets} == truth.smallest, seed
    else:
        e = explainer.explain(row, exact=True)
        check_answer(case, truth, e, seed)
    check_rows(case, truth, e, seed)
    check_again(case, explainer, e, seed)


# --- limits -----------------------------------------------------------------------------------------------------------

LIMITED: tuple[dict[str, Any], ...] = ({}, {"objective": "cost"}, {"batch": 1})


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 1_500), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_a_budget_leaves_bounds_that_are_right(seeds: range) -> None:
    stopped = 0
    for seed in seeds:
        case = draw_rule_case(seed)
        truth = Truth(case)
        explainer = explainer_of(case)
        for max_queries in (1, 2, 3, 5, 8, 13):
            for how in LIMITED:
                e = explainer.explain(case.named_row, max_queries=max_queries, **how)
                about = seed, max_queries, how
                assert e.queries <= max_queries, about
                stopped += e.status == "stopped"
                check_rows(case, truth, e, about)
                check_bounds(truth, e, about)
                found = explainer.verify(e)
                assert found, (about, found.problems)
    assert stopped > 20


def check_bounds(truth: Truth, e: Explanation, about: Any) -> None:
    """Check what is said about sizes and costs where a budget may have ended."""
    if e.status == "none":
        assert truth.size is None, about
    if e.lower is not None:
        assert truth.size is None or e.lower <= truth.size, about
    if e.upper is not None:
        assert truth.size is not None, about
        assert truth.size <= e.upper, about
    for names in e.flipsets:
        assert any(one <= frozenset(names) for one in truth.cheapest), about
    for one in e.counterfactuals:
        least = least_cost(truth, e, frozenset(one.flipset))
        assert one.cost_at_least <= float(least) + 1e-12 <= one.cost + 2e-12, about


def least_cost(truth: Truth, e: Explanation, moves: frozenset[str]) -> Fraction:
    """The least cost of those that a counterfactual's bound is about."""
    if e.objective == "cost" and e.max_changes is not None:
        return truth.cheapest_within(e.max_changes)
    if e.status == "optimal":
        return truth.cheapest[moves]
    # The bound is for some flip set that was found, of which not all features may be needed.
    wholes = [frozenset(names) for names in e.flipsets if moves <= frozenset(names)]
    return max(min(cost for names, cost in truth.cheapest.items() if names <= whole) for whole in wholes)


# --- the same answer in every way -------------------------------------------------------------------------------------


def answer(e: Any) -> Any:
    assert isinstance(e, Explanation), e
    return e.status, e.size, e.flipsets, e.counterfactuals, e.reasons, e.rules, e.grids


WAYS: dict[str, Callable[[Explainer, Any], Any]] = {
    "batch 1": lambda explainer, row: explainer.explain(row, batch=1),
    "batch 8": lambda explainer, row: explainer.explain(row, batch=8),
    "max_queries": lambda explainer, row: explainer.explain(row, max_queries=10**9),
    "max_seconds": lambda explainer, row: explainer.explain(row, max_seconds=3600),
    "aexplain": lambda explainer, row: asyncio.run(explainer.aexplain(row)),
    "table": lambda explainer, row: explainer.explain_table([row])[0],
    "wide table": lambda explainer, row: explainer.explain_table([row, row, row])[2],
    "narrow table": lambda explainer, row: explainer.explain_table([row, row], width=1)[1],
    "max_table_queries": lambda explainer, row: explainer.explain_table([row], max_table_queries=10**9)[0],
    "in_flight": lambda explainer, row: explainer.explain_table([row], in_flight=2)[0],
}


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 2_000), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_the_same_answer_in_every_way(seeds: range) -> None:
    for seed in seeds:
        case = draw_rule_case(seed)
        explainer = explainer_of(case)
        expected = answer(explainer.explain(case.named_row))
        for way, explain in WAYS.items():
            assert answer(explain(explainer, case.named_row)) == expected, (seed, way)


@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 200), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_an_endpoint_with_a_journal(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        case = draw_rule_case(seed)
        expected = answer(explainer_of(case).explain(case.named_row))

        def model(rows: Any, case: RuleCase = case) -> Any:
            return case.predict(rows).tolist()

        with serving(model) as server, Endpoint(server.invocations) as endpoint:
            for sent in (True, False):
                journal = tmp_path / f"{seed}.db"
                explainer = explainer_of_endpoint(endpoint, case, journal)
                before = server.received
                (e,) = explainer.explain_table([case.named_row])
                assert answer(e) == expected, seed
                assert (server.received > before) == sent, seed


def explainer_of_endpoint(endpoint: Endpoint, case: RuleCase, journal: Path) -> Explainer:
    return Explainer(endpoint, case.space, threshold=0.5, cost=case.plain.cost, journal=journal)


# --- single cases -----------------------------------------------------------------------------------------------------


def number(name: str, direction: int = 1, **how: Any) -> Feature:
    return Feature(name, "integer", direction=direction, **{"lower": 0, "upper": 9} | how)  # type: ignore[arg-type]


def total(rows: Any) -> list[float]:
    return [float(row[0]) + float(row[1]) for row in rows]


CHAIN = Space([number("a"), number("b")], constraints=["a <= b"])


def test_two_processes() -> None:
    space = Space([*CHAIN.features, Feature("s")], constraints=["a <= b"], derived={"s": "a + b"})
    explainer = Explainer(total, space, threshold=15)
    rows = [{"a": a, "b": b, "s": a + b} for a in range(8) for b in range(a, 9)]
    assert list(explainer.explain_table(rows, workers=2)) == list(explainer.explain_table(rows))


def test_a_frontier_keeps_the_rules() -> None:
    found = Explainer(total, CHAIN, threshold=9).frontier({"a": 1, "b": 2}, ["a", "b"])
    assert found.points == ((1, 8), (2, 7), (3, 6), (4, 5))


def test_a_recheck_keeps_the_rules() -> None:
    explainer = Explainer(total, CHAIN, threshold=15)
    e = explainer.explain({"a": 1, "b": 2})
    assert e.counterfactuals[0].row["a"] <= e.counterfactuals[0].row["b"]
    (same,) = explainer.recheck([e])
    assert same.holds
    (other,) = Explainer(total, CHAIN, threshold=17).recheck([e], repair=True)
    assert not other.holds
    assert other.repaired is not None
    assert all(one.row["a"] <= one.row["b"] for one in other.repaired.counterfactuals)


def test_a_recheck_says_that_the_rules_are_others() -> None:
    e = Explainer(total, Space(CHAIN.features), threshold=11).explain({"a": 1, "b": 2})
    (found,) = Explainer(total, CHAIN, threshold=11).recheck([e])
    assert found.same_moves is False
    assert [one.not_allowed for one in found.counterfactuals] == ["it does not keep a <= b"]


@pytest.mark.parametrize(
    "seeds", [range(80), pytest.param(range(80, 2_000), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_rechecks_and_repairs_of_random_rows(seeds: range) -> None:
    repaired = 0
    for seed in seeds:
        case = draw_rule_case(seed)
        e = explainer_of(case).explain(case.named_row)
        other = replace(case, shift=case.shift + (0.3 if seed % 2 else -0.4))
        for one in (e, Explanation.from_json(e.to_json())):
            (same,) = explainer_of(case).recheck([one])
            assert same.holds, (seed, str(same))
            if other.decision == case.decision:
                (found,) = explainer_of(other).recheck([one], repair=True)
                assert found.error is None, (seed, found.error)
                if isinstance(found.repaired, Explanation):
                    repaired += 1
                    assert answer(found.repaired) == answer(explainer_of(other).explain(case.named_row)), seed
    assert repaired > 10


@pytest.mark.parametrize(("threshold", "least"), [(3.95, 3.95), (3.999, 3.999), (4.0, 4.000000000000001), (4.5, 4.5)])
def test_exact_values_pass_over_a_gap_that_a_rule_leaves(threshold: float, least: float) -> None:
    space = Space(
        [Feature("a", direction=1, lower=0, upper=10), number("b", fixed=True)], constraints=["a == 4 implies b == 1"]
    )
    e = Explainer(lambda rows: [float(row[0]) for row in rows], space, threshold=threshold).explain(
        {"a": 0.0, "b": 0}, exact=True
    )
    assert e.counterfactuals[0].row["a"] == least


def test_narrow_columns_hold_computed_values_in_their_own_type() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"debt": [10.1, 20.3, 33.3], "income": [30.7, 50.2, 60.9]}, dtype="float32")
    table["dti"] = table["debt"] / table["income"]

    def score(rows: Any) -> Any:
        assert rows["dti"].dtype == "float32"
        return 1 - rows["dti"].to_numpy(float)

    space = Space.from_frame(table, increasing=["income"], decreasing=["debt"], derived={"dti": "debt / income"})
    explainer = Explainer(score, space, threshold=0.8)
    e = explainer.explain(table.iloc[1])
    assert e.counterfactuals
    assert explainer.verify(e)
    back = Explanation.from_json(e.to_json())
    assert back.verify(score, reference=table)
    assert back.verify(lambda rows: [1 - float(row[2]) for row in rows])


def test_true_and_false_are_numbers_for_rules() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"mortgage": [True, False, True], "balance": [3, 0, 5]})
    space = Space.from_frame(
        table, decreasing=["mortgage", "balance"], constraints=["mortgage == 0 implies balance == 0"]
    )
    explainer = Explainer(lambda rows: 10 - rows["balance"] - 2.0 * rows["mortgage"], space, threshold=9)
    e = explainer.explain(table.iloc[2])
    assert [dict(one.row) for one in e.counterfactuals] == [{"mortgage": False, "balance": 0}]
    assert explainer.verify(e)


def test_a_derived_column_that_is_a_function_needs_the_space_to_be_verified() -> None:
    space = Space([*CHAIN.features, Feature("s")], derived={"s": lambda row: row["a"] + row["b"]})
    explainer = Explainer(total, space, threshold=15)
    e = explainer.explain({"a": 1, "b": 2, "s": 3})
    assert explainer.verify(e)
    found = Explanation.from_json(e.to_json()).verify(total)
    assert not found.decided
    assert "'s' is computed by a function, which is not in the file" in found.not_checked["proof"]
