"""Forecasts of answers from the answers so far. They choose queries, and never decide anything.

The model behind the forecasts: the margin of a set is a bias, plus the weights of its features, plus noise. Bias and
weights have a joint Gaussian distribution. A margin is then a linear measurement of them, and each answer is a Kalman
step. A label is the sign of such a measurement: a probit step with matched moments, as in assumed-density filtering
(Opper 1998; Graepel et al. 2010 for click rates). The answers show which of the two kinds the model gives: if all are
±1, they are labels.

All arithmetic is element by element and never a matrix product, so that every machine asks the same queries.

Boosted trees are nearly additive in log-odds, so that a handful of answers predicts most others. If a function is far
from additive, forecasts fail. `Record.trust` then falls, and the search asks candidates and grows zeros instead.
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

# Priors for margins, in units of the margin of everything. They were tuned on six credit tables.
BIAS = 0.45  # how far the row is expected below the threshold
BIAS_SD = 0.3
SPARSENESS = 0.5  # the smaller, the fewer features are expected to matter
NOISE, NOISE_GROWTH = 0.008, 0.05  # the departure from additivity at the threshold, and how it grows with the margin
CHOSEN_NOISE, CHOSEN_GROWTH = 0.016, 0.01  # the same if all features were seen to matter: a block flips along with them
NOISE_FAITH = 3.0  # how many answers this prior for the noise is worth

# Priors for labels, in units of the distance between the row and the threshold.
LABEL_TOTAL = 2.5  # the expected weight of all features together
LABEL_SPARSENESS = 1.0
LABEL_NOISE = 0.1
MATTERS = 0.3  # the expected weight of a feature that is in play because it was seen to matter

HUGE = 1e100  # larger margins are cut off here, so that their squares are finite
WIDEST = 80  # the most features for which all covariances are kept; beyond that only variances, which cost less


def below(z: float) -> float:
    """Return the probability that a standard normal variable lies below z."""
    return 0.5 * erfc(-z / ROOT_2)


class Beliefs:
    """Beliefs about the weights of `width` features and, at index `width`, the bias.

    `chosen` says that all of these features were seen to matter.

    Invariant: `labels` is True until an answer is neither 1 nor -1, and `_history` holds all answers until then. The
    priors for margins can be set only at that point, and all answers so far are then learned again as margins.
    """

    def __init__(self, width: int, *, chosen: bool = False) -> None:
        self.width = width
        self._all = (1 << width) - 1
        self.chosen = chosen
        self.labels = True
        self.mean: list[float] = []  # of the weights, then of the bias; empty before the first answer
        self.variances: list[float] = []  # used only if there is no covariance
        self.covariance: Array | None = None
        self._rows: list[Array] = []  # views of the rows of the covariance
        self._diagonal = np.empty(0)  # a view of its diagonal
        self._outer = self._scaled = self._scaled_flat = self._shrink = np.empty(0)  # scratch arrays for updates
        self._kept_forecast: tuple[Flips, Forecast] | None = None
        self.noise = 0.0  # the variance of the departure from additivity at the threshold
        self._first_noise = 0.0  # its prior
        self._growth = 0.0  # how much the deviation grows with the margin
        self._surprise = self._answers = 0.0  # squared errors in units of their variance, and their number
        self._history: list[tuple[Flips, float]] = []

    def learn(self, query: Flips, margin: float) -> None:
        """Take one answer into account."""
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
        # This answer is not a label, so the answers before it were margins too.
        self.labels = False
        self._expect_margins()
        for earlier, answer in self._history:
            self._measure(earlier, answer)
        self._history.clear()

    def forecast(self, query: Flips) -> Forecast:
        """Return the forecast of the margin of a set."""
        covariance, mean = self.covariance, self.mean
        if covariance is not None and query == self._all:
            gains = np.add.reduce(covariance)
            return Forecast(self, sum(mean), sum(gains.tolist()), gains)
        members = features_of(query)
        members.append(self.width)
        total = sum([mean[i] for i in members])
        if covariance is None:
            return Forecast(self, total, sum([self.variances[i] for i in members]), None)
        gains = np.add.reduce(covariance.take(members, 0), 0)
        each = gains.tolist()
        return Forecast(self, total, sum([each[i] for i in members]), gains)

    def keep(self, query: Flips, forecast: Forecast) -> None:
        """Keep the forecast of a set that is about to be asked, to save computing it again; valid for one answer."""
        self._kept_forecast = query, forecast

    def spread(self) -> float:
        """Return about the largest deviation of a margin: answers about sums make weights balance each other."""
        return sqrt(max(0.0, sum(self.variances if self.covariance is None else self._diagonal.tolist())) + self.noise)

    def deviations(self) -> list[float]:
        """Return the standard deviations of all weights and the bias."""
        variances = self.variances if self.covariance is None else self._diagonal.tolist()
        return [sqrt(variance) if variance > 0 else 0.0 for variance in variances]

    def _expect_labels(self) -> None:
        """Set the priors for labels. Labels have no scale, so the bias is fixed at -1."""
        weight = MATTERS if self.chosen else LABEL_TOTAL / self.width
        variance = weight * weight if self.chosen else weight * weight / LABEL_SPARSENESS
        self._expect(weight, variance, -1.0, 1e-9)
        self.noise = LABEL_NOISE**2

    def _expect_margins(self) -> None:
        """Set the priors for margins."""
        # The largest margin so far, usually that of everything, gives the scale.
        scale = max(*(abs(margin) for _, margin in self._history), 1e-100)
        total = scale * (1.0 + BIAS)
        weight = total / self.width
        spread = (self.width - 1) / (self.width * SPARSENESS + 1) if self.width > 1 else 0.01
        self._expect(weight, weight * weight * spread, -BIAS * scale, (BIAS_SD * scale) ** 2)
        self.noise = self._first_noise = ((CHOSEN_NOISE if self.chosen else NOISE) * total) ** 2
        self._growth = CHOSEN_GROWTH if self.chosen else NOISE_GROWTH

    def _expect(self, weight: float, variance: float, bias: float, bias_variance: float) -> None:
        self.mean = [weight] * self.width + [bias]
        self.variances = [variance] * self.width + [bias_variance]
        if self.width <= WIDEST:
            self.covariance = np.diag(self.variances)
            self._rows = list(self.covariance)
            self._diagonal = self.covariance.diagonal()
            self._outer = np.empty_like(self.covariance)
            self._scaled = np.empty((self.width + 1, 1))
            self._scaled_flat = self._scaled[:, 0]
            self._shrink = np.empty(())  # multiplying by an array is faster than by a number

    def _forecast_again(self, query: Flips) -> Forecast:
        """Return the forecast of a set, the kept one if it is about this set."""
        kept, self._kept_forecast = self._kept_forecast, None
        return kept[1] if kept is not None and kept[0] == query else self.forecast(query)

    def _measure(self, query: Flips, margin: float) -> None:
        """Take a margin into account: a Kalman step, and a new estimate of the noise."""
        forecast = self._forecast_again(query)
        noise = sqrt(self.noise) + self._growth * abs(margin)
        total = forecast.variance + noise * noise
        error = margin - forecast.total
        # Large errors show that the noise was set too low. The cap keeps a single outlier from doing so.
        self._surprise += min(error * error / total, 16.0)
        self._answers += 1.0
        self.noise = self._first_noise * (NOISE_FAITH + self._surprise) / (NOISE_FAITH + self._answers)
        self._update(query, forecast.gains, error / total, 1.0 / total)

    def _sign(self, query: Flips, flips: bool) -> None:
        """Take a label into account: match the mean and variance of the beliefs given the sign of the margin."""
        forecast = self._forecast_again(query)
        total = forecast.variance + self.noise
        deviation = sqrt(total)
        # `ratio` is the density over the probability at z. The limits on both keep it finite for surprising labels.
        z = max((forecast.total if flips else -forecast.total) / deviation, -6.0)
        ratio = exp(-0.5 * z * z) / ROOT_2PI / max(below(z), 1e-12)
        self._update(query, forecast.gains, (ratio if flips else -ratio) / deviation, ratio * (ratio + z) / total)

    def _update(self, query: Flips, gains: Array | None, step: float, shrink: float) -> None:
        """Move the means by `step` and reduce the variances by `shrink`, each along the gains of the answer."""
        if gains is not None and self.covariance is not None:
            self.mean = [m + step * g for m, g in zip(self.mean, gains.tolist(), strict=False)]
            # In place, because `_rows` and `_diagonal` are views of the covariance.
            self._shrink[()] = shrink
            np.multiply(gains, self._shrink, self._scaled_flat)
            np.multiply(self._scaled, gains, self._outer)
            np.subtract(self.covariance, self._outer, self.covariance)
            return
        for i in (*features_of(query), self.width):
            own = self.variances[i]
            self.mean[i] += step * own
            self.variances[i] = max(own - shrink * own * own, 0.0)


class Forecast:
    """The forecast of the margin of one set: its mean `total` and its `variance`. It does not change.

    `gains` are the covariances of all weights with this margin; None if only variances are kept.
    """

    __slots__ = ("beliefs", "gains", "total", "variance")

    def __init__(self, beliefs: Beliefs, total: float, variance: float, gains: Array | None) -> None:
        self.beliefs = beliefs
        self.total = total
        self.variance = variance
        self.gains = gains

    def without(self, i: int) -> Forecast:
        """Return the forecast of the set without feature `i`."""
        beliefs, gains = self.beliefs, self.gains
        total = self.total - beliefs.mean[i]
        if gains is None:
            return Forecast(beliefs, total, self.variance - beliefs.variances[i], None)
        row = beliefs._rows[i]
        return Forecast(beliefs, total, self.variance - (2 * gains.item(i) - row.item(i)), gains - row)

    def with_(self, i: int) -> Forecast:
        """Return the forecast of the set with feature `i`."""
        beliefs, gains = self.beliefs, self.gains
        total = self.total + beliefs.mean[i]
        if gains is None:
            return Forecast(beliefs, total, self.variance + beliefs.variances[i], None)
        row = beliefs._rows[i]
        return Forecast(beliefs, total, self.variance + (2 * gains.item(i) + row.item(i)), gains + row)

    def deviation(self) -> float:
        """Return the standard deviation of the margin, including departures from additivity."""
        return sqrt((self.variance if self.variance > 0 else 0.0) + self.beliefs.noise)
