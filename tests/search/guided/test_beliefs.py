"""What answers teach about the next one."""

from random import Random

import pytest

from flipset.search.guided.beliefs import Beliefs, below


def test_beliefs_learn_an_additive_model_from_margins() -> None:
    rng = Random(1)
    weights = [rng.uniform(0, 2) for _ in range(8)]
    beliefs = Beliefs(8)
    for _ in range(40):
        query = rng.randrange(256)
        beliefs.learn(query, sum(w for i, w in enumerate(weights) if query >> i & 1) - 3.3)
    assert not beliefs.labels
    assert beliefs.mean[-1] == pytest.approx(-3.3, abs=0.1)
    assert beliefs.mean[:-1] == pytest.approx(weights, abs=0.1)


def test_beliefs_learn_order_from_labels() -> None:
    rng = Random(2)
    beliefs = Beliefs(6)
    for _ in range(150):
        query = rng.randrange(64)
        beliefs.learn(query, 1.0 if 3 * (query & 1) + (query >> 1).bit_count() >= 4 else -1.0)
    assert beliefs.labels
    assert max(range(6), key=lambda i: beliefs.mean[i]) == 0
    assert below(0.0) == 0.5
