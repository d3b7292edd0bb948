"""The highest allowed points, held against all points of small grids."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from flipset.space.constraints import projection
from flipset.space.constraints.conditions import Condition, Implication, Together
from flipset.space.constraints.constraint import Rule, read_constraint
from flipset.space.constraints.inequalities import Inequality
from flipset.space.constraints.projection import Scale, Setting, TooManyPoints, highest_points

Point = tuple[int, ...]
NAMES = "abcd"


def drawn_scale(random: Random) -> Scale:
    rising = random.random() < 0.5
    values = sorted(random.sample(range(-12, 13), random.randint(2, 5)), reverse=not rising)
    return Scale(values[0], values[1:], rising, first=int(random.random() < 0.15))


def drawn_condition(random: Random, name: str) -> Condition:
    operator = random.choice(["==", "!=", "<", "<=", ">", ">="])
    values = tuple(random.sample(range(-12, 13), 3 if operator == "==" and random.random() < 0.5 else 1))
    return Condition(name, operator, values)


def drawn_rule(random: Random, names: Sequence[str]) -> Rule:
    kind = random.random()
    if kind < 0.6 or len(names) < 2:
        members = random.sample(names, random.randint(1, min(3, len(names))))
        terms = [(name, Fraction(random.choice([-2, -1, 1, 1, 2]), random.choice([1, 2]))) for name in members]
        return Inequality(tuple(terms), Fraction(random.randint(-12, 20), 2), strict=random.random() < 0.3)
    one, other = random.sample(names, 2)
    if kind < 0.9:
        return Implication(drawn_condition(random, one), drawn_condition(random, other))
    return Together(one, other)


def drawn(random: Random) -> tuple[list[Rule], Setting, dict[str, int]]:
    """Draw rules over columns that move and one that does not, and a point to begin with."""
    names = NAMES[: random.randint(1, 4)]
    scales = {name: drawn_scale(random) for name in names}
    values = {"x": random.randint(-5, 5)} if random.random() < 0.5 else {}
    setting = Setting(scales, values, frozenset(values if random.random() < 0.5 else ()))
    rules = [drawn_rule(random, [*names, *values]) for _ in range(random.randint(1, 4))]
    start = {name: random.randint(scale.first, len(scale.stops)) for name, scale in scales.items()}
    return rules, setting, start


def keeps(rule: Rule, setting: Setting, point: dict[str, int]) -> bool:
    """Say whether a point keeps a rule, from the values alone."""
    values = {name: scale.value(point[name]) for name, scale in setting.scales.items()} | dict(setting.values)
    moved = {name for name, place in point.items() if place} | setting.changed
    if isinstance(rule, Together):
        return rule.mover not in moved or rule.needs in moved
    if isinstance(rule, Implication):
        return not rule.if_.holds(values[rule.if_.column]) or rule.then.holds(values[rule.then.column])
    total = sum(Fraction(factor) * values[name] for name, factor in rule.terms)
    return bool(total < rule.limit if rule.strict else total <= rule.limit)


def allowed_below(rules: Sequence[Rule], setting: Setting, start: dict[str, int]) -> list[Point]:
    grid = product(*(range(setting.scales[name].first, place + 1) for name, place in start.items()))
    points = (dict(zip(start, point, strict=True)) for point in grid)
    return [tuple(point.values()) for point in points if all(keeps(rule, setting, point) for rule in rules)]


def is_below(one: Point, other: Point) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def test_what_is_found_are_all_highest_allowed_points() -> None:
    random = Random(20)
    several = none = 0
    for _ in range(6_000):
        rules, setting, start = drawn(random)
        found = [tuple(point.values()) for point in highest_points(rules, setting, start)]
        allowed = allowed_below(rules, setting, start)
        expected = [one for one in allowed if not any(one != other and is_below(one, other) for other in allowed)]
        assert found == sorted(expected, reverse=True), (rules, setting, start)
        several += len(found) > 1
        none += not found
    assert several > 50
    assert none > 300


def test_a_higher_start_leads_at_least_as_far() -> None:
    random = Random(21)
    for _ in range(1_500):
        rules, setting, start = drawn(random)
        below = {name: random.randint(setting.scales[name].first, place) for name, place in start.items()}
        low, high = ([tuple(point.values()) for point in highest_points(rules, setting, one)] for one in (below, start))
        assert all(any(is_below(one, other) for other in high) for one in low)
        for point in highest_points(rules, setting, start):
            assert highest_points(rules, setting, point) == [point]


def test_columns_that_must_be_equal_move_together() -> None:
    rules = read_constraint("a == b").rules
    setting = Setting({"a": Scale(0, [1, 2, 3, 4, 5], rising=True), "b": Scale(0, [2, 4], rising=True)}, {})
    assert highest_points(rules, setting, {"a": 5, "b": 2}) == [{"a": 4, "b": 2}]
    assert highest_points(rules, setting, {"a": 3, "b": 2}) == [{"a": 2, "b": 1}]
    assert highest_points(rules, setting, {"a": 0, "b": 2}) == [{"a": 0, "b": 0}]


def test_a_column_outside_its_order_is_no_part_of_a_rule() -> None:
    rules = read_constraint("a <= b").rules
    setting = Setting({"a": Scale(0, [1, 2, 3], rising=True)}, {})  # b is missing in this row
    assert highest_points(rules, setting, {"a": 3}) == [{"a": 3}]


def test_long_scales_are_not_listed() -> None:
    stops = range(1, 1_000_001)
    setting = Setting({"a": Scale(0, stops, rising=True), "b": Scale(0, stops, rising=True)}, {})
    rules = read_constraint("a <= 0.5 * b + 10").rules
    assert highest_points(rules, setting, {"a": 1_000_000, "b": 500_000}) == [{"a": 250_010, "b": 500_000}]
    rules = read_constraint("a > 70000 implies b == 600000").rules
    assert highest_points(rules, setting, {"a": 1_000_000, "b": 999_999}) == [
        {"a": 1_000_000, "b": 600_000},
        {"a": 70_000, "b": 999_999},
    ]


def test_too_many_points_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MOST_POINTS", 50)
    stops = list(range(1, 101))
    setting = Setting({"a": Scale(0, stops, rising=True), "b": Scale(0, stops, rising=True)}, {})
    with pytest.raises(TooManyPoints):
        highest_points(read_constraint("a + b <= 100").rules, setting, {"a": 100, "b": 100})


def test_the_ways_of_a_rule_are_as_many_as_its_columns_can_give_way() -> None:
    up, down = Scale(0, [1, 2, 3], rising=True), Scale(3, [2, 1, 0], rising=False)
    for text, expected in (
        ("a <= b", 1),
        ("a <= d", 2),
        ("d <= a", 0),
        ("d == 0 implies a >= 2", 1),  # with a lower a, the second condition can only fail
        ("a == 0 implies d > 0", 1),
        ("a >= 2 implies b <= 1", 2),
        ("a == 1 implies b <= 1", 2),
        ("a == 0 implies b == 3", 0),
        ("if a moves then d moves", 1),
    ):
        (rule,) = read_constraint(text).rules
        assert projection.most_ways(rule, {"a": up, "b": up, "d": down}) == expected, text


def test_no_point_gives_way_in_more_ways_than_are_counted() -> None:
    most = 0
    for seed in range(3_000):
        rules, setting, start = drawn(Random(seed))
        if all(projection.most_ways(rule, setting.scales) <= 1 for rule in rules):
            found = highest_points(rules, setting, start)
            assert len(found) <= 1, seed
            most += len(found)
    assert most > 300
