"""How far units get for an amount: the bounds that follow are below every counterfactual, and worth something."""

from fractions import Fraction

from flipset.answers.monotonicity import MonotonicityCheck
from flipset.answers.row_scores import RowScores
from flipset.drivers import run
from flipset.space.moves import find_moves
from flipset.values.counterfactuals import ValueSearch
from flipset.values.space_costs import SpaceCosts
from tests.flipping import flipping
from tests.spaces import Case, draw_case


def search_of(case: Case) -> ValueSearch:
    scores = RowScores(0.5)
    scores.take_over({(): case.score(case.row)}, 1)
    moves = find_moves(case.space, case.row, raise_score=not scores.decision)
    check = MonotonicityCheck(scores, moves, case.space, case.row, strict=True)
    return ValueSearch(scores, moves, case.space, case.row, SpaceCosts(case.space, case.cost), 8, check)


def test_bounds_are_below_the_cheapest_row_that_flips() -> None:
    proved = 0
    for seed in range(150):
        case = draw_case(seed, margins=True)
        best = flipping(case)
        if not best:
            continue
        search = search_of(case)

        def score(rows: object, case: Case = case) -> list[float]:
            made = []
            for cells in rows:  # type: ignore[attr-defined]
                row = list(case.row)
                for column, value in cells:
                    row[column] = value
                made.append(case.score(tuple(row)))
            return made

        cheapest = min(best.values())
        unit = search.costs.costs.unit
        bound = run(search.reach.bound_below(cheapest * unit), score)
        assert Fraction(bound) <= cheapest * unit, seed
        proved += bound > 0
        units = range(len(search.moves.units))
        # Whatever costs less than the cheapest does not flip, but nothing says that the query must see it.
        assert run(search.reach.could_flip(units, cheapest * unit + 1), score), seed
        assert not run(search.reach.could_flip(units, 0), score)
    assert proved > 30


def test_the_least_cost_of_a_unit_is_below_that_of_every_change() -> None:
    checked = 0
    for seed in range(120):
        case = draw_case(seed, margins=True)
        search = search_of(case)
        unit = search.costs.costs.unit
        least = {one.name: search.reach.least_cost(i) for i, one in enumerate(search.moves.units)}
        for row in case.every_row():
            moved = case.changed(row)
            if len(moved) == 1 and (name := next(iter(moved))) in least:
                assert least[name] <= case.cost_of(row) * unit, seed
                checked += 1
    assert checked > 500
