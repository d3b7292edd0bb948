"""Which question to ask next: the one expected to settle most candidates.

A candidate, asked as it is, settles one. A large set that turns out not to flip settles every candidate inside it. So
look for the set with the greatest product of chance and number: from above, by taking away the features that lose the
fewest candidates for their weight; and from below, by adding to a likely candidate the features that complete the most
candidates for theirs. Where nothing promises more than a candidate does, ask the likeliest candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from flipset.protocol import Steps, checkpoint, features_of
from flipset.search.guided.beliefs import below

if TYPE_CHECKING:
    from flipset.protocol import Flips, Search
    from flipset.search.guided.beliefs import Beliefs, Forecast, Record
    from flipset.search.guided.pool import Pool
    from flipset.sets.known import Known

WORTH = 1.1  # candidates a guess must be expected to settle: a question about a candidate settles one for certain
SEEK = 3.0  # a guess worth less than this is compared with one made from below
SMOOTH = 0.1  # candidates added to every count, so that none is zero
CAUTION = 1.2  # above size 1 the chance counts more than the number
FORECAST = 10  # elementary steps that a forecast takes
LEADERS = 6  # features whose loss is counted anew at every step


class Question(NamedTuple):
    """A set to ask; `chance` is the forecast that it does not flip, or None for a candidate."""

    query: Flips
    chance: float | None


@dataclass(slots=True)
class Guess:
    """The best set so far: expected number of candidates settled, the set, and the chance that it does not flip."""

    value: float = 0.0
    query: Flips = 0
    chance: float = 0.0
    forecast: Forecast | None = None


def plan(pool: Pool, known: Known, beliefs: Beliefs, record: Record, room: int) -> Search[list[Question]]:
    """Return up to `room` questions, each planned as if those before it had been answered as expected.

    That passes checkpoints, and asks nothing.
    """
    before = pool.open
    steps = Steps()
    questions: list[Question] = []
    while pool.open:
        question = _best(pool, known, beliefs, record)
        questions.append(question)
        if len(questions) == room:
            break
        # Each of about as many sets as there are features is forecast, and compared with all candidates.
        if steps.due(FORECAST * len(pool.holders) + LEADERS * pool.work(pool.everything)):
            yield from checkpoint()
        if question.chance is None:
            pool.drop_above(question.query)
        else:
            pool.drop_inside(question.query)
    pool.open = before
    return questions


def _best(pool: Pool, known: Known, beliefs: Beliefs, record: Record) -> Question:
    trust = record.trust()
    if pool.open.bit_count() * trust < WORTH:
        return Question(pool.heaviest(beliefs.mean), None)
    guess = _from_above(pool, known, beliefs)
    candidate: Flips | None = None
    if guess.value < SEEK and pool.limit > 1 and not beliefs.labels:
        candidate = pool.heaviest(beliefs.mean)
        other = _from_below(pool, known, beliefs, candidate)
        if other.value > guess.value:
            guess = other
    if guess.value * trust >= WORTH:
        if guess.forecast is not None:
            beliefs.keep(guess.query, guess.forecast)
        return Question(guess.query, guess.chance)
    return Question(pool.heaviest(beliefs.mean) if candidate is None else candidate, None)


def _from_above(pool: Pool, known: Known, beliefs: Beliefs) -> Guess:
    """Take features away from everything: next the one that weighs most for each candidate lost."""
    holders, mean = pool.holders, beliefs.mean
    weight = [m if m > 1e-9 else 1e-9 for m in mean]
    merits = [w / (n + SMOOTH) for n, w in zip(pool.counts(), weight, strict=False)]
    rest = sorted(range(len(merits)), key=merits.__getitem__, reverse=True)
    leaders = LEADERS if pool.limit > 1 else 1
    caution = CAUTION if pool.limit > 1 else 1.0
    query, inside = pool.everything, pool.open
    forecast = beliefs.forecast(query)
    best, ones = Guess(), known.ones
    blocking = ones[-1] if ones else 0
    while rest:
        pick = 0
        if leaders > 1 and inside:  # what a feature loses shrinks as others go
            lead = 0.0
            for j, i in enumerate(rest[:leaders]):
                merit = weight[i] / ((inside & holders[i]).bit_count() + SMOOTH)
                if merit > lead:
                    lead, pick = merit, j
        i = rest.pop(pick)
        query ^= 1 << i
        inside &= ~holders[i]
        forecast.remove(i)
        if not blocking & ~query:
            continue  # it still holds a set that flips
        total, deviation = forecast.total, forecast.deviation()
        if total > 2 * deviation:
            continue
        held = known.one_below(query)
        if held is not None:
            blocking = held
            continue
        chance, count = below(-total / deviation), inside.bit_count()
        value = chance**caution * count
        if value > best.value:
            best = Guess(value, query, chance, forecast.copy())
        if chance > 0.97 or count <= best.value:
            break
    return best


def _from_below(pool: Pool, known: Known, beliefs: Beliefs, query: Flips) -> Guess:
    """Add features to a candidate: next the one that completes most candidates for its weight."""
    holders, mean = pool.holders, beliefs.mean
    forecast = beliefs.forecast(query)
    outside = features_of(pool.everything & ~query)
    least = 1e-3 * sqrt(beliefs.noise)
    best, misses = Guess(), 0
    while True:
        lacking = lacking_two = 0  # candidates with a feature outside the set, and with two
        for i in outside:
            lacking_two |= lacking & holders[i]
            lacking |= holders[i]
        chance = below(-forecast.total / forecast.deviation())
        value = chance**CAUTION * (pool.open & ~lacking).bit_count()
        if value > best.value:
            best, misses = Guess(value, query, chance, forecast.copy()), 0
        else:
            misses += 1
            if misses > 2 or chance < 0.2:
                return best
        near = pool.open & lacking & ~lacking_two
        lead, pick = 0.0, -1
        for i in outside:
            gain = ((near & holders[i]).bit_count() + SMOOTH) / max(mean[i], least)
            if gain > lead:
                lead, pick = gain, i
        if pick < 0:
            return best
        query |= 1 << pick
        if known.one_below(query) is not None:
            return best
        outside.remove(pick)
        forecast.add(pick)
