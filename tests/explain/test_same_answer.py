"""The answer does not depend on how it was found: which search, which limits, which driver, which process.

Flip sets, counterfactuals and reasons follow from the model, the space, the row and the request. So every way to ask
for them is compared with the plainest.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from flipset import Explainer, Explanation
from flipset.models.remote.endpoint import Endpoint
from tests.endpoints import serving
from tests.ordered import OrderedCase, draw_ordered
from tests.spaces import draw_case

ONE_BY_ONE: dict[str, Callable[[Explainer, Any], Any]] = {
    "max_seconds": lambda explainer, row: explainer.explain(row, max_seconds=3600),
    "max_queries": lambda explainer, row: explainer.explain(row, max_queries=10**9),
    "batch 1": lambda explainer, row: explainer.explain(row, batch=1),
    "batch 8": lambda explainer, row: explainer.explain(row, batch=8),
    "batch 64": lambda explainer, row: explainer.explain(row, batch=64),
    "aexplain": lambda explainer, row: asyncio.run(explainer.aexplain(row)),
}

AS_A_TABLE: dict[str, Callable[[Explainer, Any], Any]] = {
    "explain_table": lambda explainer, rows: explainer.explain_table(rows),
    "narrow table": lambda explainer, rows: explainer.explain_table(rows, width=2),
    "max_table_queries": lambda explainer, rows: explainer.explain_table(rows, max_table_queries=10**9),
    "in_flight": lambda explainer, rows: explainer.explain_table(rows, in_flight=3),
}


def answer(e: Any) -> Any:
    """What must be the same; how many queries it took need not be."""
    assert isinstance(e, Explanation), e
    return e.status, e.size, e.flipsets, e.counterfactuals, e.reasons


def compare(expected: Sequence[Explanation], found: Sequence[Any], way: str, seed: int) -> None:
    assert len(found) == len(expected)
    for i, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert answer(other) == answer(one), f"{way}, seed {seed}, row {i}"


def compare_all(explainer: Explainer, rows: Sequence[Any], seed: int) -> list[Explanation]:
    """Ask in every way that needs no other process; return the answers."""
    expected = [explainer.explain(row) for row in rows]
    for way, explain in ONE_BY_ONE.items():
        compare(expected, [explain(explainer, row) for row in rows], way, seed)
    for way, explain in AS_A_TABLE.items():
        compare(expected, list(explain(explainer, rows)), way, seed)
    return expected


def explainer_of(case: OrderedCase) -> Explainer:
    return Explainer(case.model, case.space, threshold=case.threshold)


WISHES: dict[str, dict[str, Any]] = {
    "options": {"options": 2},
    "diverse": {"options": 2, "diverse": True},
    "more": {"more": 3},
    "curve": {"curve": True},
    "one reason": {"reasons": 1},
    "no reasons": {"reasons": False},
    "all reasons": {"reasons": "all"},
}


def everything(e: Any) -> Any:
    """All that must be the same; where only some reasons are minimal, the rest of the proof is the search's own."""
    proof = e.proof if len(e.reasons) == len(e.proof.zeros) > 5 else None
    return *answer(e), e.larger, e.larger_end, e.curve, e.curve_end, e.grids, proof


@pytest.mark.parametrize("wish", WISHES)
def test_what_is_wanted_beyond_one_counterfactual_for_each_flip_set(wish: str) -> None:
    wanted = WISHES[wish]
    found = 0
    for seed in (1, 8, 22, 39):
        case = draw_ordered(seed, rows=2)
        explainer = explainer_of(case)
        expected = [everything(explainer.explain(row, **wanted)) for row in case.rows]
        how: dict[str, Any]
        for how in ({"max_queries": 10**9}, {"batch": 1}, {"batch": 8}):
            assert [everything(explainer.explain(row, **wanted, **how)) for row in case.rows] == expected, (seed, how)
        awaited = [everything(asyncio.run(explainer.aexplain(row, **wanted))) for row in case.rows]
        assert awaited == expected, seed
        for how in ({}, {"width": 1}, {"in_flight": 3}):
            assert [everything(e) for e in explainer.explain_table(case.rows, **wanted, **how)] == expected, (seed, how)
        plain = [everything(explainer.explain(row)) for row in case.rows]
        found += plain != expected
    assert found > 0


def test_wishes_in_two_processes_and_behind_an_endpoint() -> None:
    case = draw_ordered(8, rows=4)
    wanted: dict[str, Any] = {"options": 2, "diverse": True, "more": 2, "curve": True}
    explainer = explainer_of(case)
    expected = [everything(explainer.explain(row, **wanted)) for row in case.rows]
    assert [everything(e) for e in explainer.explain_table(case.rows, workers=2, **wanted)] == expected
    with serving(case.model) as server, Endpoint(server.invocations) as endpoint:
        remote = Explainer(endpoint, case.space, threshold=case.threshold)
        assert [everything(e) for e in remote.explain_table(case.rows, **wanted)] == expected


SEEDS = [range(30), *(pytest.param(range(k, k + 30), marks=pytest.mark.campaign) for k in range(30, 330, 30))]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_ordered_spaces(seeds: range) -> None:
    sizes = Counter[float | None]()
    for seed in seeds:
        case = draw_ordered(seed, rows=3)
        sizes.update(e.size for e in compare_all(explainer_of(case), case.rows, seed))
    assert min(sizes[size] for size in (1, 2, 3, 4, None)) > 0, sizes
    assert sizes[5] > 0 or seeds.start > 0, sizes


# Mixed spaces need a few more seeds than ordered ones until each size occurs.
MIXED_SEEDS = [range(45), *(pytest.param(range(k, k + 45), marks=pytest.mark.campaign) for k in range(45, 360, 45))]


@pytest.mark.parametrize("seeds", MIXED_SEEDS, ids=str)
def test_spaces_with_options_groups_and_codes(seeds: range) -> None:
    sizes = Counter[float | None]()
    for seed in seeds:
        case = draw_case(seed, margins=seed % 2 == 0)
        explainer = Explainer(case.predict, case.space, cost=case.cost)
        sizes.update(e.size for e in compare_all(explainer, [case.row], seed))
    assert min(sizes[size] for size in (1, 2, None)) > 0, sizes


@pytest.mark.parametrize("rows", [20, pytest.param(1_000, marks=pytest.mark.campaign)])
def test_two_processes(rows: int) -> None:
    case = draw_ordered(22, rows=rows)
    explainer = explainer_of(case)
    expected = [explainer.explain(row) for row in case.rows]
    compare(expected, list(explainer.explain_table(case.rows, workers=2)), "workers", 22)
    assert len({e.size for e in expected}) >= 3


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 100), marks=pytest.mark.campaign)], ids=str)
def test_an_endpoint(seeds: range) -> None:
    for seed in seeds:
        case = draw_ordered(seed, rows=3)
        explainer = explainer_of(case)
        expected = [explainer.explain(row) for row in case.rows]
        with serving(case.model) as server, Endpoint(server.invocations) as endpoint:
            remote = Explainer(endpoint, case.space, threshold=case.threshold)
            compare(expected, [remote.explain(row) for row in case.rows], "endpoint, row by row", seed)
            compare(expected, list(remote.explain_table(case.rows)), "endpoint, as a table", seed)
            awaited = [asyncio.run(remote.aexplain(row)) for row in case.rows]
            compare(expected, awaited, "endpoint, awaited", seed)
