"""The fewest rules and their chains, compared with trying every path."""

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest

from flipset.space.suggestions.graph import Arrow, chains, fewest


def leads(arrows: Iterable[Arrow], start: int, end: int, allowed: int) -> bool:
    """Follow the arrows step by step."""
    reached, before = {start}, set[int]()
    while reached != before:
        before = set(reached)
        reached |= {b for a, b in arrows if a in reached and (b == end or allowed >> b & 1)}
    return end in reached


def random_rules(seed: int) -> tuple[list[list[Arrow]], list[Arrow], dict[Arrow, int]]:
    r = random.Random(seed)
    n = r.randint(2, 7)
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    rules: list[list[Arrow]] = []
    for _ in range(r.randint(1, 14)):
        a, b = r.choice(pairs)
        rules.append([(a, b), (b, a)] if r.random() < 0.2 else [(a, b)])
    given = r.sample(pairs, r.randint(0, 2)) if len(pairs) > 1 else []
    full = (1 << n) - 1
    allowed = {pair: full if r.random() < 0.6 else r.getrandbits(n) | 1 << pair[0] | 1 << pair[1] for pair in pairs}
    return rules, given, allowed


@pytest.mark.parametrize("missing", [False, True])
def test_all_follow_and_none_can_be_left_out(missing: bool) -> None:
    for seed in range(1_500):
        rules, given, some = random_rules(seed)
        allowed = some if missing else dict.fromkeys(some, (1 << 7) - 1)
        kept = fewest(rules, given, allowed.__getitem__)

        def follows(rule: Sequence[Arrow], arrows: list[Arrow], allowed: dict[Arrow, int] = allowed) -> bool:
            return all(leads(arrows, a, b, allowed[a, b]) for a, b in rule)

        for i in kept:
            rest = given + [arrow for j in kept if j != i for arrow in rules[j]]
            assert not follows(rules[i], rest), seed
        if not missing:
            arrows = given + [arrow for i in kept for arrow in rules[i]]
            assert all(follows(rule, arrows) for rule in rules), seed


def test_first_rules_are_kept() -> None:
    assert fewest([[(0, 1)], [(0, 1)]], (), lambda _: 0b11) == [0]
    assert fewest([[(0, 1), (1, 0)], [(0, 2)], [(1, 2)]], (), lambda _: 0b111) == [0, 1]
    assert fewest([[(0, 1)]], [(0, 1)], lambda _: 0b11) == []


def test_nothing_follows_through_a_node_that_is_not_allowed() -> None:
    rules = [[(0, 1)], [(1, 2)], [(0, 2)]]
    assert fewest(rules, (), lambda _: 0b111) == [0, 1]
    assert fewest(rules, (), lambda arrow: 0b101 if arrow == (0, 2) else 0b111) == [0, 1, 2]


def test_chains_have_each_arrow_once() -> None:
    for seed in range(300):
        r = random.Random(seed)
        n = r.randint(2, 8)
        arrows = [(a, b) for a in range(n) for b in range(a + 1, n) if r.random() < 0.4]
        found = chains(arrows, lambda nodes: True)
        assert sorted(arrow for chain in found for arrow in pairwise(chain)) == sorted(arrows)
        assert found == sorted(found)
        # Maximal: no chain ends where another begins.
        assert not {chain[-1] for chain in found} & {chain[0] for chain in found} or len(found) > 1


def test_chains_end_where_they_may_not_be_joined() -> None:
    arrows = [(0, 1), (1, 2), (2, 3)]
    assert chains(arrows, lambda nodes: True) == [[0, 1, 2, 3]]
    assert chains(arrows, lambda nodes: len(nodes) < 4) == [[0, 1, 2], [2, 3]]


def test_a_circle_ends() -> None:
    found = chains([(0, 1), (1, 2), (2, 0)], lambda nodes: True)
    assert sorted(arrow for chain in found for arrow in pairwise(chain)) == [(0, 1), (1, 2), (2, 0)]
