"""Of several cheapest points the first by a rule is reported, against all rows of random spaces."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from flipset import Explainer
from flipset.values.ties import Ties
from tests.spaces import MISSING, Case, draw_case, place, scale_of


def along(case: Case, i: int, value: Any) -> int | None:
    """How far along its path a column is: 0 where it stays; None where it became something outside the order."""
    feature, before = case.space.features[i], case.row[i]
    if value == before:
        return 0
    if feature.direction is None or feature.group == "hot" or value is MISSING or value in feature.special:
        return None
    scale = scale_of(feature)
    steps = sorted(
        (option for option in case.allowed(i)[1:] if option is not MISSING and option not in feature.special),
        key=lambda option: place(scale, option) * (feature.direction or 0) * (-1 if case.decision else 1),
    )
    return 1 + steps.index(value)


def key(case: Case, row: tuple[Any, ...]) -> tuple[Fraction, int, tuple[int, ...]]:
    """The rule: cost, then columns off their order, then how far along, column by column."""
    places = [along(case, i, value) for i, value in enumerate(row)]
    return case.cost_of(row), places.count(None), tuple(0 if one is None else one for one in places)


@pytest.mark.parametrize("seeds", [range(250), pytest.param(range(250, 8_000), marks=pytest.mark.campaign)], ids=str)
def test_the_first_of_the_cheapest_is_reported(seeds: range) -> None:
    ties = 0
    for seed in seeds:
        case = draw_case(seed, margins=seed % 3 == 0)
        e = Explainer(case.predict, case.space, cost=case.cost).explain(case.row, batch=(1, 4, 16, 64)[seed % 4])
        turned = [row for row in case.every_row() if (case.score(row) >= 0.5) != case.decision]
        for one in e.counterfactuals:
            rivals = sorted(key(case, row) for row in turned if case.changed(row) == frozenset(one.flipset))
            assert key(case, tuple(one.row.values())) == rivals[0], seed
            ties += len(rivals) > 1 and rivals[0][0] == rivals[1][0]
    assert ties > 20


@pytest.mark.parametrize("whole", [True, False])
def test_ranks_order_points_by_cost_and_then_by_the_rule(whole: bool) -> None:
    rng = Random(4)
    for _ in range(50):
        lengths = {column: rng.randint(1, 4) for column in rng.sample(range(6), 3)}
        costs = {}
        for column, length in lengths.items():
            steps = [rng.randint(0, 2) for _ in range(length)]
            costs[column] = [Fraction(sum(steps[:j])) if not whole else sum(steps[:j]) for j in range(length + 1)]
        ties = Ties(lengths, columns=6, whole=whole)
        listed = {column: ties.rank(column, along, listed=True) for column, along in costs.items()}
        lazy = {column: ties.rank(column, along, listed=False) for column, along in costs.items()}
        assert {column: list(ranks) for column, ranks in lazy.items()} == listed

        def draw(lengths: dict[int, int] = lengths) -> tuple[int, dict[int, int]]:
            return rng.randint(0, 2), {column: rng.randint(0, length) for column, length in lengths.items()}

        for _ in range(40):
            (off, here), (other_off, there) = draw(), draw()
            ranks, keys = [], []
            for away, point in ((off, here), (other_off, there)):
                cost = sum(costs[column][j] for column, j in point.items())
                ranks.append(ties.least_rank(0, away) + sum(listed[column][j] for column, j in point.items()))
                keys.append((cost, away, tuple(point[column] for column in sorted(point))))
                assert ties.least_cost(ranks[-1]) <= cost  # a bound read off a rank holds
                assert cost - ties.least_cost(ranks[-1]) < Fraction(1, 2**60) or whole
                if whole:
                    assert ties.least_cost(ranks[-1]) == cost
            assert (ranks[0] < ranks[1]) == (keys[0] < keys[1])
