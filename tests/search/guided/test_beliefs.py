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


def test_answers_far_from_the_threshold_teach_less() -> None:
    variances = []
    for margin in (-0.1, -3.0):
        beliefs = Beliefs(6)
        beliefs.learn(0b111111, 4.0)
        beliefs.learn(0b000111, margin)
        variances.append(beliefs.forecast(0b000111).variance)
    assert variances[0] < 0.5 * variances[1]


@pytest.mark.parametrize("width", [6, 90])
def test_a_forecast_with_and_without_a_feature_is_the_forecast_of_that_set(width: int) -> None:
    beliefs = Beliefs(width)
    for query, margin in ((2**width - 1, 5.0), (0b0111, 0.5), (0b1010, -1.0)):
        beliefs.learn(query, margin)
    before = beliefs.forecast(0b0110)
    more, less = before.with_(3), before.without(1)
    for forecast, query in ((before, 0b0110), (more, 0b1110), (less, 0b0100)):
        expected = beliefs.forecast(query)
        assert forecast.total == pytest.approx(expected.total)
        assert forecast.variance == pytest.approx(expected.variance)
        assert forecast.deviation() == pytest.approx(expected.deviation())
    assert beliefs.spread() > 0
