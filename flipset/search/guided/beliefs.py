"""What the answers so far suggest about the next one. Beliefs choose questions; they never conclude anything.

The margin of a set is taken to be a bias plus the weights of its features plus noise, with bias and weights jointly
Gaussian. A margin is then a linear measurement of them (a Kalman step). A label is the sign of one: a probit step with
moments matched, as in assumed-density filtering (Opper 1998; Graepel et al. 2010 for click rates). Which of the two
kinds a model gives is read off the answers: all ±1 means labels.

Arithmetic is element by element, never a matrix product, so that every machine asks the same questions.

Boosted trees are nearly additive in log-odds, and then a handful of answers foretells most others. Where a function is
far from additive the forecasts fail, `trust` notices, and the search falls back on asking candidates and growing zeros.
"""

from __future__ import annotations

from math import erfc, exp, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from flipset.protocol import features_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from flipset.protocol import Flips

    Array: TypeAlias = NDArray[np.float64]

ROOT_2 = sqrt(2.0)
ROOT_2PI = sqrt(2.0 * pi)

# Priors for margins, in units of the margin of everything; found by trial on six credit tables.
BIAS = 0.45  # how far the row is expected below the threshold
BIAS_SD = 0.3
SPARSENESS = 0.5  # the smaller, the fewer features are expected to carry the decision
NOISE = 0.016  # departure from additivity at the threshold ...
NOISE_GROWTH = 0.01  # ... growing with the distance from it, where it matters less
NOISE_FAITH = 3.0  # answers' worth of faith in that noise

# Priors for labels, in units of the distance between the row and the threshold.
LABEL_TOTAL = 2.5  # what all features together are expected to weigh
LABEL_SPARSENESS = 0.35
LABEL_NOISE = 0.1
HUGE = 1e100
WIDEST = 80  # features up to which all covariances are kept; beyond it they cost too much, and only variances are
MATTERS = 0.3  # what a feature is expected to weigh that was singled out because it tipped the balance


def below(z: float) -> float:
    """Return the probability that a standard normal variable lies below z."""
    return 0.5 * erfc(-z / ROOT_2)


class Beliefs:
    """Beliefs about the weights of `width` features and, at index `width`, the bias.

    `chosen` says that every one of these features was seen to matter.
    """

    def __init__(self, width: int, *, chosen: bool = False) -> None:
        self.width = width
        self._all = (1 << width) - 1
        self.chosen = chosen
        self.labels = True
        self.mean: list[float] = []
        self.variances: list[float] = []
        self.covariance: Array | None = None
        self._rows: list[Array] = []  # of the covariance, as views; and its diagonal
        self._diagonal = self._outer = self._scaled = np.empty(0)  # the others are room to compute an update in
        self._foretold: tuple[Flips, Forecast] | None = None
        self.noise = 0.0
        self._first_noise = 0.0
        self._surprise = self._answers = 0.0
        self._history: list[tuple[Flips, float]] = []

    def learn(self, query: Flips, margin: float) -> None:
        """Take one answer into account."""
        # Beliefs are about size; what is beyond any size that arithmetic can square is as good as that.
        margin = max(-HUGE, min(HUGE, margin))
        if not self.labels:
            self._measure(query, margin)
            return
        self._history.append((query, margin))
        if margin in (1.0, -1.0):
            if len(self._history) == 1:
                self._expect_labels()
            self._sign(query, margin > 0)
            return
        # The first answer that is no label: what came before were margins too.
        self.labels = False
        self._expect_margins()
        for earlier, answer in self._history:
            self._measure(earlier, answer)
        self._history.clear()

    def forecast(self, query: Flips) -> Forecast:
        """Return what is believed about the margin of a set."""
        covariance, mean = self.covariance, self.mean
        if covariance is not None and query == self._all:
            gains = np.add.reduce(covariance)
            return Forecast(self, sum(mean), sum(gains.tolist()), gains)
        members = features_of(query)
        members.append(self.width)
        total = sum([mean[i] for i in members])
        if covariance is None:
            return Forecast(self, total, sum([self.variances[i] for i in members]), None)
        gains = np.add.reduce(covariance.take(members, axis=0))
        return Forecast(self, total, sum(gains.take(members).tolist()), gains)

    def keep(self, query: Flips, forecast: Forecast) -> None:
        """Remember what was forecast of a set that is about to be asked; valid until the next answer."""
        self._foretold = query, forecast

    def deviations(self) -> list[float]:
        """Return the standard deviations of all weights and the bias."""
        variances = self.variances if self.covariance is None else self._diagonal.tolist()
        return [sqrt(variance) if variance > 0 else 0.0 for variance in variances]

    def _expect_labels(self) -> None:
        weight = MATTERS if self.chosen else LABEL_TOTAL / self.width
        variance = weight * weight if self.chosen else weight * weight / LABEL_SPARSENESS
        self._expect(weight, variance, -1.0, 1e-9)
        self.noise = LABEL_NOISE**2

    def _expect_margins(self) -> None:
        # The largest margin so far, usually that of everything, is the only scale there is.
        scale = max(*(abs(margin) for _, margin in self._history), 1e-100)
        total = scale * (1.0 + BIAS)
        weight = total / self.width
        spread = (self.width - 1) / (self.width * SPARSENESS + 1) if self.width > 1 else 0.01
        self._expect(weight, weight * weight * spread, -BIAS * scale, (BIAS_SD * scale) ** 2)
        self.noise = self._first_noise = (NOISE * total) ** 2

    def _expect(self, weight: float, variance: float, bias: float, bias_variance: float) -> None:
        self.mean = [weight] * self.width + [bias]
        self.variances = [variance] * self.width + [bias_variance]
        if self.width <= WIDEST:
            self.covariance = np.diag(self.variances)
            self._rows = list(self.covariance)
            self._diagonal = self.covariance.diagonal()
            self._outer = np.empty_like(self.covariance)
            self._scaled = np.empty((self.width + 1, 1))

    def _forecast_again(self, query: Flips) -> Forecast:
        """Return the forecast that was kept, if it is about this set."""
        kept, self._foretold = self._foretold, None
        return kept[1] if kept is not None and kept[0] == query else self.forecast(query)

    def _measure(self, query: Flips, margin: float) -> None:
        forecast = self._forecast_again(query)
        noise = sqrt(self.noise) + NOISE_GROWTH * abs(margin)
        total = forecast.variance + noise * noise
        error = margin - forecast.total
        # Surprises say that the noise was set too low; one wild answer must not say it alone.
        self._surprise += min(error * error / total, 16.0)
        self._answers += 1.0
        self.noise = self._first_noise * (NOISE_FAITH + self._surprise) / (NOISE_FAITH + self._answers)
        self._update(query, forecast.gains, error / total, 1.0 / total)

    def _sign(self, query: Flips, flips: bool) -> None:
        forecast = self._forecast_again(query)
        total = forecast.variance + self.noise
        deviation = sqrt(total)
        z = max((forecast.total if flips else -forecast.total) / deviation, -6.0)
        ratio = exp(-0.5 * z * z) / ROOT_2PI / max(below(z), 1e-12)
        self._update(query, forecast.gains, (ratio if flips else -ratio) / deviation, ratio * (ratio + z) / total)

    def _update(self, query: Flips, gains: Array | None, step: float, shrink: float) -> None:
        if gains is not None and self.covariance is not None:
            self.mean = [m + step * g for m, g in zip(self.mean, gains.tolist(), strict=False)]
            np.multiply(gains, shrink, self._scaled[:, 0])
            np.multiply(self._scaled, gains, self._outer)
            np.subtract(self.covariance, self._outer, self.covariance)
            return
        for i in (*features_of(query), self.width):
            own = self.variances[i]
            self.mean[i] += step * own
            self.variances[i] = max(own - shrink * own * own, 0.0)


class Forecast:
    """What is believed about the margin of one set: its mean `total` and its `variance`; features come and go.

    `gains` are the covariances of all weights with the margin, where they are kept.
    """

    __slots__ = ("beliefs", "gains", "total", "variance")

    def __init__(self, beliefs: Beliefs, total: float, variance: float, gains: Array | None) -> None:
        self.beliefs = beliefs
        self.total = total
        self.variance = variance
        self.gains = gains

    def copy(self) -> Forecast:
        """Return one that stays as this is now."""
        return Forecast(self.beliefs, self.total, self.variance, self.gains)

    def remove(self, i: int) -> None:
        """Take feature `i` out of the set."""
        beliefs, gains = self.beliefs, self.gains
        self.total -= beliefs.mean[i]
        if gains is None or beliefs.covariance is None:
            self.variance -= beliefs.variances[i]
            return
        row = beliefs._rows[i]
        self.variance -= 2 * gains.item(i) - row.item(i)
        self.gains = gains - row

    def add(self, i: int) -> None:
        """Put feature `i` into the set."""
        beliefs, gains = self.beliefs, self.gains
        self.total += beliefs.mean[i]
        if gains is None or beliefs.covariance is None:
            self.variance += beliefs.variances[i]
            return
        row = beliefs._rows[i]
        self.variance += 2 * gains.item(i) + row.item(i)
        self.gains = gains + row

    def deviation(self) -> float:
        """Return the standard deviation of the margin, departures from additivity included."""
        return sqrt((self.variance if self.variance > 0 else 0.0) + self.beliefs.noise)


class Record:
    """How well forecasts came true lately, and what growing a zero was worth: what decides between ways to ask."""

    FADE = 0.9

    def __init__(self) -> None:
        self.foretold = self.came = 0.0  # guesses "this large set does not flip": chances given, and successes
        self.asked = self.failed = 0.0  # candidates asked, and those that did not flip
        self.sizes, self.grown = 5.0, 1.0  # certificates grown: sum of sizes, and number
        self.spent, self.covered = 8.0, 0.3  # per certificate: questions, and share of the open candidates settled

    def trust(self) -> float:
        """Return the factor by which to discount the next forecast."""
        # Bad luck is not distrust: up to half of the forecasts may fail unpunished, beyond that trust goes fast.
        forecasts = min(1.0, 2.0 * (1.0 + self.came) / (1.0 + self.foretold))
        # A large set cannot be a zero unless the candidates inside are: where most of them flip, it is unlikely.
        candidates = min(1.0, 2.0 * (2.0 + self.failed) / (2.0 + self.asked))
        return forecasts**3 * candidates

    def guessed(self, chance: float, came: bool) -> None:
        """Note a guess and what came of it."""
        self.foretold = self.FADE * self.foretold + chance
        self.came = self.FADE * self.came + came

    def tried(self, failed: bool) -> None:
        """Note a candidate that was asked."""
        self.asked = self.FADE * self.asked + 1.0
        self.failed = self.FADE * self.failed + failed

    def grew(self, size: int, questions: int, share: float) -> None:
        """Note a zero grown until its complement was a minimal certificate of this size."""
        self.sizes = self.FADE * self.sizes + size
        self.spent = self.FADE * self.spent + questions
        self.covered = self.FADE * self.covered + share
        self.grown = self.FADE * self.grown + 1.0

    def candidates_keep_failing(self) -> bool:
        """Say whether forecasts are useless and nearly all candidates asked lately did not flip."""
        return self.failed > 0.8 * self.asked and self.trust() < 0.3

    def certificate_size(self) -> float:
        """Return the size to expect of a certificate."""
        return self.sizes / self.grown

    def growing_pays(self, candidates: int) -> bool:
        """Say whether a certificate is expected to settle more candidates than its questions would one by one.

        Where forecasts can be trusted, the bar is higher: a guess may do the same with a single question.
        """
        return candidates * self.covered > (1.0 + self.trust()) * self.spent
