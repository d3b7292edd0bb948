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


SEEDS = [range(30), *(pytest.param(range(k, k + 30), marks=pytest.mark.campaign) for k in range(30, 330, 30))]


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_ordered_spaces(seeds: range) -> None:
    sizes = Counter[float | None]()
    for seed in seeds:
        case = draw_ordered(seed, rows=3)
        sizes.update(e.size for e in compare_all(explainer_of(case), case.rows, seed))
    assert min(sizes[size] for size in (1, 2, 3, 4, None)) > 0, sizes
    assert sizes[5] > 0 or seeds.start > 0, sizes


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
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
