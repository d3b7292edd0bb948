"""Choosing the next queries: those that are expected to settle the most candidates.

Asking a candidate settles that candidate. A large set that turns out not to flip settles every candidate inside it. So
the plan looks for the set with the greatest expected value: the forecast chance that it does not flip, times the number
of open candidates inside it. It looks from above, by removing from everything the features with the most weight per
candidate lost. It also looks from below, by adding to a likely candidate the features that complete the most candidates
per weight. If no set is worth more than a candidate, it asks the candidate that is most likely to flip.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from flipset.protocol import Steps, checkpoint, features_of
from flipset.search.guided.beliefs import below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.protocol import Flips, Search
    from flipset.search.guided.beliefs import Beliefs, Forecast
    from flipset.search.guided.pool import Pool
    from flipset.search.guided.record import Record
    from flipset.sets.known import Known

LEAST_VALUE = 1.1  # candidates that a guess must be expected to settle; asking a candidate settles 1 for certain
GOOD_VALUE = 1.5  # a guess from above that is worth less than this is compared with one from below
SMOOTHING = 0.1  # added to every count of candidates, so that none is zero
CAUTION = 1.2  # the power of the chance: above size 1 it counts more than the number of candidates
HOPELESS = 0.6  # a set is not worth a guess if so many deviations lie between the threshold and its expected margin
CHOSEN_GOOD_VALUE, CHOSEN_HOPELESS = 3.0, 2.0  # the same where only features that were seen to matter are in play
FORECAST_STEPS = 10  # elementary steps that a forecast takes
LEADERS = 6  # the number of features whose loss is counted anew at every step


class PlannedQuery(NamedTuple):
    """A set to ask. For a guess, `chance` is the forecast chance that it does not flip; None for a candidate."""

    query: Flips
    chance: float | None
    worth: float = 1.0  # how many candidates the best guess was expected to settle


@dataclass(slots=True)
class Guess:
    """The best set so far, and the chance that it does not flip."""

    value: float = 0.0  # the expected number of candidates that it settles
    query: Flips = 0
    chance: float = 0.0
    forecast: Forecast | None = None


def plan(pool: Pool, known: Known, beliefs: Beliefs, record: Record, most: int) -> Search[list[PlannedQuery]]:
    """Return up to `most` queries, each planned as if those before it had been answered as expected.

    This yields checkpoints and asks nothing. Afterwards the same candidates are open as before.
    """
    before = pool.open
    steps = Steps()
    queries: list[PlannedQuery] = []
    while pool.open:
        planned = best_query(pool, known, beliefs, record)
        queries.append(planned)
        if len(queries) == most:
            break
        # Planning one query forecasts about as many sets as there are features, and compares each with all candidates.
        if steps.due(FORECAST_STEPS * len(pool.holders) + LEADERS * pool.work(pool.everything)):
            yield from checkpoint()
        # Expect a candidate to flip, and a guess not to.
        if planned.chance is None:
            pool.drop_above(planned.query)
        else:
            pool.drop_inside(planned.query)
    pool.open = before
    return queries


def best_query(pool: Pool, known: Known, beliefs: Beliefs, record: Record) -> PlannedQuery:
    """Return the query that is expected to settle most; some candidate must be open."""
    trust = record.trust()
    if pool.open.bit_count() * trust < LEAST_VALUE:
        return PlannedQuery(pool.heaviest(beliefs.mean), None)
    guess = _from_above(pool, known, beliefs)
    candidate: Flips | None = None
    good = CHOSEN_GOOD_VALUE if beliefs.chosen else GOOD_VALUE
    if guess.value < good and pool.limit > 1 and not beliefs.labels:
        candidate = pool.heaviest(beliefs.mean)
        forecast = beliefs.forecast(candidate)
        other = _from_below(pool, known, beliefs, candidate, forecast)
        if other.value > guess.value:
            guess = other
        beliefs.keep(candidate, forecast)
    worth = guess.value * trust
    if worth >= LEAST_VALUE:
        if guess.forecast is not None:
            beliefs.keep(guess.query, guess.forecast)
        return PlannedQuery(guess.query, guess.chance, worth)
    return PlannedQuery(pool.heaviest(beliefs.mean) if candidate is None else candidate, None, worth)


def _from_above(pool: Pool, known: Known, beliefs: Beliefs) -> Guess:
    """Remove features from everything, next the one with the most weight per candidate lost; return the best set."""
    holders, mean = pool.holders, beliefs.mean
    weight = [m if m > 1e-9 else 1e-9 for m in mean]
    merits = [w / (n + SMOOTHING) for n, w in zip(pool.counts(), weight, strict=False)]
    rest = sorted(range(len(merits)), key=merits.__getitem__, reverse=True)
    single = pool.limit == 1
    query, inside, total = pool.everything, pool.open, sum(mean)
    hopeless = CHOSEN_HOPELESS if beliefs.chosen else HOPELESS
    forecast = beliefs.forecast(query) if beliefs.chosen else None
    far = hopeless * beliefs.spread()
    best, ones, holds_one = Guess(), known.ones, True
    blocking = ones[-1] if ones else 0  # a one that the set still contained when last looked
    # Invariant: `query` is what is left, `inside` the open candidates in it, `total` its expected margin. There is a
    # `forecast` at the latest when the set contains no one and is not likely to flip.
    while rest:
        i = rest.pop(0 if single else _leader(rest, weight, inside, holders))
        query ^= 1 << i
        inside &= ~holders[i]
        total -= mean[i]
        if forecast is not None:
            forecast = forecast.without(i)
        if holds_one:
            if (forecast is None and total > far) or not blocking & ~query:
                continue  # it will probably flip, or certainly
            held = known.one_below(query)
            if held is not None:
                blocking = held
                continue
            holds_one = False
        if forecast is None:
            forecast = beliefs.forecast(query)
        deviation = forecast.deviation()
        if total > hopeless * deviation:
            continue  # it will probably flip
        chance, count = below(-total / deviation), inside.bit_count()
        value = chance * count if single else chance**CAUTION * count
        if value > best.value:
            best = Guess(value, query, chance, forecast)
        if chance > 0.97 or count <= best.value:
            break  # smaller sets are worth less: the chance cannot grow much, or the count is too small already
    return best


def _leader(rest: Sequence[int], weight: Sequence[float], inside: int, holders: Sequence[int]) -> int:
    """Return which of the first features has the most weight per candidate lost, as its position in `rest`.

    A feature loses fewer candidates once others are gone, so they are counted again.
    """
    lead, pick = 0.0, 0
    if inside:
        for j, i in enumerate(rest[:LEADERS]):
            merit = weight[i] / ((inside & holders[i]).bit_count() + SMOOTHING)
            if merit > lead:
                lead, pick = merit, j
    return pick


def _from_below(pool: Pool, known: Known, beliefs: Beliefs, query: Flips, forecast: Forecast) -> Guess:
    """Add features to a candidate, next the one that completes the most candidates per weight; return the best set."""
    holders, mean = pool.holders, beliefs.mean
    outside = features_of(pool.everything & ~query)
    least = 1e-3 * sqrt(beliefs.noise)
    best, misses = Guess(), 0
    while True:
        lacking = lacking_two = 0  # candidates with at least one feature outside the set, and with at least two
        for i in outside:
            lacking_two |= lacking & holders[i]
            lacking |= holders[i]
        chance = below(-forecast.total / forecast.deviation())
        value = chance**CAUTION * (pool.open & ~lacking).bit_count()
        if value > best.value:
            best, misses = Guess(value, query, chance, forecast), 0
        else:
            misses += 1
            if misses > 2 or chance < 0.2:
                return best
        near = pool.open & lacking & ~lacking_two  # one more feature completes these
        lead, pick = 0.0, -1
        for i in outside:
            gain = ((near & holders[i]).bit_count() + SMOOTHING) / max(mean[i], least)
            if gain > lead:
                lead, pick = gain, i
        if pick < 0:
            return best
        query |= 1 << pick
        if known.one_below(query) is not None:
            return best
        outside.remove(pick)
        forecast = forecast.with_(pick)
