"""Which options are shown: the cheapest, or diverse ones by a stated rule, checked against the rule itself."""

from itertools import combinations
from random import Random

from flipset.values.selection import select


def by_the_rule(flipsets: list[set[str]], most: int) -> list[int]:
    """The rule of the documentation, as it is worded: slow, and without any memory between the steps."""
    chosen = [0]
    while len(chosen) < min(most, len(flipsets)):
        left = [i for i in range(len(flipsets)) if i not in chosen]
        worst = {i: max(len(flipsets[i] & flipsets[j]) for j in chosen) for i in left}
        left = [i for i in left if worst[i] == min(worst.values())]
        total = {i: sum(len(flipsets[i] & flipsets[j]) for j in chosen) for i in left}
        left = [i for i in left if total[i] == min(total.values())]
        chosen.append(left[0])
    return sorted(chosen)


def draw(rng: Random) -> list[set[str]]:
    d, size = rng.randint(3, 8), rng.randint(1, 3)
    sets = [set(names) for names in combinations("abcdefgh"[:d], size)]
    rng.shuffle(sets)
    return sets[: rng.randint(1, len(sets))]


def test_diverse_options_follow_the_rule() -> None:
    differs = 0
    for seed in range(500):
        rng = Random(seed)
        flipsets, most = draw(rng), rng.randint(1, 6)
        chosen = select(flipsets, most, diverse=True)
        assert chosen == by_the_rule(flipsets, most), seed
        assert len(chosen) == min(most, len(flipsets))
        differs += chosen != select(flipsets, most, diverse=False)
    assert differs > 100


def test_two_diverse_options_share_as_few_features_as_any_with_the_cheapest_can() -> None:
    for seed in range(200):
        flipsets = draw(Random(seed))
        if len(flipsets) > 1:
            first, second = select(flipsets, 2, diverse=True)
            assert first == 0
            assert len(flipsets[0] & flipsets[second]) == min(len(flipsets[0] & one) for one in flipsets[1:])


def test_the_cheapest_are_the_first() -> None:
    assert select([{"a"}, {"b"}, {"c"}], 2, diverse=False) == [0, 1]
    assert select([{"a"}], 5, diverse=False) == select([{"a"}], 5, diverse=True) == [0]
    assert select([], 3, diverse=True) == []
