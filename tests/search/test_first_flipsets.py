"""If there are too many flip sets: the size is proved, and those listed follow from the function alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipset import InputError, find_flipsets
from flipset.paper import find_optimal
from flipset.protocol import flips_of
from flipset.search.first_flipsets import in_listing_order, listing_order
from flipset.search.guided import guided_search

SetFunction = Callable[[Sequence[frozenset[int]]], Sequence[Any]]


def additive(weights: Sequence[float], threshold: float) -> SetFunction:
    return lambda sets: [sum(weights[i] for i in sorted(one)) - threshold for one in sets]


def labelled(function: SetFunction) -> SetFunction:
    return lambda sets: [margin >= 0 for margin in function(sets)]


def smallest(function: SetFunction, d: int, weights: list[int] | None = None) -> tuple[int | None, list[Any]]:
    """Return all lightest flip sets by brute force, and their weight."""
    each = weights or [1] * d
    flipping: dict[int, list[tuple[int, ...]]] = {}
    for k in range(d + 1):
        for one in combinations(range(d), k):
            if function([frozenset(one)])[0] >= 0:
                flipping.setdefault(sum(each[i] for i in one), []).append(one)
    return (min(flipping), flipping[min(flipping)]) if flipping else (None, [])


def first_by_rule(function: SetFunction, sets: Iterable[Sequence[int]], d: int, most: int) -> set[frozenset[int]]:
    """Return the first sets by the rule, computed from its words."""
    gives_labels = float(function([frozenset(range(d))])[0]) == 1.0
    alone = None if gives_labels else [function([frozenset([i])])[0] for i in range(d)]
    order = listing_order(alone, d)
    return {frozenset(one) for one in sorted(sets, key=lambda one: in_listing_order(flips_of(one), order))[:most]}


@st.composite
def functions(draw: st.DrawFn) -> tuple[int, SetFunction]:
    d = draw(st.integers(1, 7))
    if draw(st.booleans()):
        terms = draw(st.lists(st.frozensets(st.integers(0, d - 1), min_size=1), min_size=1, max_size=8))
        return d, lambda sets: [any(term <= one for term in terms) for one in sets]
    weights = draw(st.lists(st.integers(0, 4), min_size=d, max_size=d))
    function = additive(weights, draw(st.integers(1, max(1, sum(weights)))) - 0.5)
    return d, function if draw(st.booleans()) else labelled(function)


def as_margin(function: SetFunction) -> SetFunction:
    return lambda sets: [(1.0 if a else -1.0) if isinstance(a, bool) else a for a in function(sets)]


@given(functions(), st.sampled_from([1, 2, 3, 7]), st.sampled_from([guided_search, find_optimal]))
@settings(max_examples=150)
def test_size_listing_and_completeness_agree_with_brute_force(
    case: tuple[int, SetFunction], most: int, search: Any
) -> None:
    d, function = case
    size, sets = smallest(as_margin(function), d)
    results = [find_flipsets(function, d, batch=batch, max_flipsets=most, search=search) for batch in (1, 8, 64)]
    for result in results:
        assert (result.size, result.upper) == (size, size)
        if len(sets) <= most:  # exactly so many is complete
            assert result.status == ("optimal" if sets else "none")
            assert result.listed_all
            assert {*result.flipsets} == {*map(frozenset, sets)}
            assert result.proof.check(d)
        else:
            assert result.status == "incomplete"
            assert not result.listed_all
            assert {*result.flipsets} == first_by_rule(as_margin(function), sets, d, most)
            assert result.proof.check_size(d)
            assert result.proof.check(d) is False
        assert result.proof.confirm(function)
    assert len({(one.status, one.flipsets, one.certificates) for one in results}) == 1


@given(functions(), st.sampled_from([1, 2, 3]), st.data())
@settings(max_examples=60)
def test_the_same_with_weights(case: tuple[int, SetFunction], most: int, data: st.DataObject) -> None:
    d, function = case
    weights = data.draw(st.lists(st.integers(1, 3), min_size=d, max_size=d))
    weight, sets = smallest(as_margin(function), d, weights)
    for batch in (1, 64):
        result = find_flipsets(function, d, batch=batch, max_flipsets=most, weights=weights)
        assert result.size == weight
        if len(sets) > most:
            assert result.status == "incomplete"
            assert result.proof.check_size(d)
            assert {*result.flipsets} == first_by_rule(as_margin(function), sets, d, most)
        else:
            assert {*result.flipsets} == {*map(frozenset, sets)}
            assert result.listed_all


def test_features_with_the_greatest_effect_come_first() -> None:
    result = find_flipsets(additive([1, 2, 3, 2, 1], 2.5), 5, max_flipsets=2)
    assert result.flipsets == (frozenset({2}),)
    assert result.status == "optimal"
    result = find_flipsets(additive([1, 2, 3, 3, 1], 4.5), 5, max_flipsets=2)
    assert [sorted(one) for one in result.flipsets] == [[1, 2], [2, 3]]  # {2, 3} is first by the rule, then {2, 1}


@pytest.mark.parametrize(
    ("d", "size", "gives_labels"), [(12, 6, True), (14, 7, True), (14, 7, False), (20, 4, True), (20, 4, False)]
)
def test_a_symmetric_function_ends_by_itself(d: int, size: int, gives_labels: bool) -> None:
    function = additive([1] * d, size - 0.5)
    function = labelled(function) if gives_labels else function
    result = find_flipsets(function, d, batch=64, reasons="all")
    assert (result.status, result.size, len(result.flipsets)) == ("incomplete", size, 500)
    # Every set below the size is a maximal zero, so the proof needs all of them.
    assert len(result.proof.zeros) >= len(list(combinations(range(d), size - 1)))
    assert len(result.certificates) == 100
    assert result.proof.check_size(d)


def test_queries_of_a_known_case() -> None:
    # Four features, two of them needed: everything; the search stops at the third flip set. The same every time.
    counts = {find_flipsets(additive([1] * 4, 1.5), 4, max_flipsets=1, reasons=False).queries for _ in range(2)}
    assert len(counts) == 1
    assert counts.pop() <= find_flipsets(additive([1] * 4, 1.5), 4, max_flipsets=None, reasons=False).queries + 4


def test_none_lists_all_and_other_numbers_are_refused() -> None:
    function = additive([1] * 8, 3.5)
    assert len(find_flipsets(function, 8, max_flipsets=None).flipsets) == 70
    assert find_flipsets(function, 8, max_flipsets=70).status == "optimal"
    assert find_flipsets(function, 8, max_flipsets=69).status == "incomplete"
    wrongs: tuple[Any, ...] = (0, -1, 2.5, True)
    for wrong in wrongs:
        with pytest.raises(InputError, match="max_flipsets must be a whole number"):
            find_flipsets(function, 8, max_flipsets=wrong)


def test_a_budget_that_ends_the_listing_leaves_the_size() -> None:
    function = additive([1] * 10, 4.5)
    full = find_flipsets(function, 10, max_flipsets=3, reasons=False)
    stopped = find_flipsets(function, 10, max_flipsets=3, reasons=False, max_queries=full.queries // 2)
    assert stopped.status == "stopped"
    assert (stopped.lower or 0) <= 5
