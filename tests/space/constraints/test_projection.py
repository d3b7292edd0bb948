"""The greatest allowed points, held against all points of small grids."""

from fractions import Fraction
from itertools import product
from random import Random

from flipset.space.constraints.projection import Rule, Rules, Scale

Point = tuple[int, ...]


def drawn(random: Random, columns: int, rules: int, *, one_raises: bool) -> tuple[Rules, Point]:
    """Draw rules that the row, which stands at position 0 everywhere, keeps; and a point to begin with."""
    scales: dict[int, Scale] = {}
    for column in range(columns):
        rising = random.random() < 0.5
        values = random.sample(range(-12, 13), random.randint(2, 5))
        scales[column] = Scale(sorted((Fraction(value, 2) for value in values), reverse=not rising), rising)
    made: list[Rule] = []
    while len(made) < rules:
        members = random.sample(range(columns), random.randint(1, min(3, columns)))
        factors = {column: Fraction(random.choice([-2, -1, 1, 1, 2]), random.choice([1, 2])) for column in members}
        raising = [column for column in members if scales[column].raises(factors[column])]
        if one_raises and len(raising) > 1:
            continue
        total = sum((factor * scales[column].values[0] for column, factor in factors.items()), Fraction(0))
        slack = Fraction(random.randint(0, 6))
        made.append(Rule(factors, total + slack, strict=slack > 0 and random.random() < 0.3))
    start = tuple(len(scale.values) - random.choice([1, 1, 2]) for scale in scales.values())
    return Rules(tuple(made), scales), start


def is_allowed(rules: Rules, point: Point) -> bool:
    sums = (sum(f * rules.scales[c].values[point[c]] for c, f in rule.factors.items()) for rule in rules.rules)
    return all(t < rule.limit if rule.strict else t <= rule.limit for t, rule in zip(sums, rules.rules, strict=True))


def is_below(one: Point, other: Point) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def allowed_below(rules: Rules, start: Point) -> list[Point]:
    return [point for point in product(*(range(j + 1) for j in start)) if is_allowed(rules, point)]


def test_what_gives_way_is_the_greatest_allowed_point() -> None:
    random = Random(20)
    for _ in range(1_500):
        rules, start = drawn(random, random.randint(1, 4), random.randint(1, 4), one_raises=True)
        assert rules.divided() == ()
        found = rules.greatest(dict(enumerate(start)))
        allowed = allowed_below(rules, start)
        assert found is not None  # the row itself is allowed
        greatest = tuple(found.values())
        assert greatest in allowed
        assert all(is_below(point, greatest) for point in allowed)
        assert [tuple(one.values()) for one in rules.tops(dict(enumerate(start)))] == [greatest]


def test_it_is_monotone_and_changes_nothing_that_is_allowed() -> None:
    random = Random(21)
    for _ in range(500):
        rules, start = drawn(random, 3, random.randint(1, 3), one_raises=True)
        below = tuple(random.randint(0, j) for j in start)
        one, other = (rules.greatest(dict(enumerate(point))) for point in (below, start))
        assert one is not None
        assert other is not None
        assert is_below(tuple(one.values()), tuple(other.values()))
        assert rules.greatest(one) == one


def test_where_there_is_no_greatest_point_all_maximal_ones_are_found() -> None:
    random = Random(22)
    several = 0
    for _ in range(1_500):
        rules, start = drawn(random, random.randint(2, 4), random.randint(1, 3), one_raises=False)
        allowed = allowed_below(rules, start)
        maximal = {p for p in allowed if not any(p != q and is_below(p, q) for q in allowed)}
        found = [tuple(point.values()) for point in rules.tops(dict(enumerate(start)))]
        assert len(set(found)) == len(found)
        assert maximal <= set(found) <= set(allowed)
        several += len(maximal) > 1
    assert several > 100


def test_no_point_is_allowed_where_a_rule_cannot_be_kept() -> None:
    falling = Scale([Fraction(3), Fraction(1)], rising=False)
    rules = Rules((Rule({0: Fraction(1)}, Fraction(2)),), {0: falling})
    assert rules.greatest({0: 1}) == {0: 1}
    assert rules.greatest({0: 0}) is None  # nothing can give way: moving on lowers the sum
    assert list(rules.tops({0: 0})) == []


def test_columns_that_must_be_equal_move_together() -> None:
    numbers = [Fraction(n) for n in range(6)]
    rule = {0: Fraction(1), 1: Fraction(-1)}
    equal = Rule(rule, Fraction(0)), Rule({column: -factor for column, factor in rule.items()}, Fraction(0))
    rules = Rules(equal, {0: Scale(numbers, rising=True), 1: Scale(numbers[::2], rising=True)})
    assert rules.greatest({0: 5, 1: 2}) == {0: 4, 1: 2}
    assert rules.greatest({0: 3, 1: 2}) == {0: 2, 1: 1}
    assert rules.greatest({0: 0, 1: 2}) == {0: 0, 1: 0}
