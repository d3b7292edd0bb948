"""Models with a few wrong answers planted in them, and what must be said about what was asked.

Which rows are comparable is worked out here from the words of the documentation, sharing nothing with the library.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from flipset import Explainer, Explanation, Feature, InputError, Journal, NotMonotone, Space
from tests.spaces import MISSING, Case, draw_case, place, scale_of

THRESHOLD = 0.5


@dataclass
class Recording:
    """A model that notes what it was asked, and answers some rows otherwise than it should."""

    case: Case
    wrong: dict[tuple[Any, ...], float] = field(default_factory=dict)
    asked: dict[tuple[Any, ...], float] = field(default_factory=dict)

    def predict(self, rows: Any) -> Any:
        """Answer rows; none may come twice in a call."""
        keys = [tuple(_plain(value) for value in row) for row in rows]
        assert len(set(keys)) == len(keys), "a row was asked twice in one call"
        answers = []
        for key in keys:
            answer = self.wrong.get(key)
            answer = self.case.score(key) if answer is None else answer
            self.asked[key] = answer
            answers.append(answer)
        return np.array(answers, dtype=float)

    def answer(self, rows: list[list[Any]]) -> list[float]:
        """Answer rows as a server does."""
        return [float(answer) for answer in self.predict(rows)]

    def pairs(self, row: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Return all pairs of rows asked about of which the nearer one is turned and the further one is not."""
        row = tuple(_plain(value) for value in row)
        decision = self.asked[row] >= THRESHOLD
        turned = [key for key, score in self.asked.items() if (score >= THRESHOLD) != decision]
        stays = [key for key, score in self.asked.items() if (score >= THRESHOLD) == decision]
        features = self.case.space.features
        return [
            (near, far) for near in turned for far in stays if is_no_further(features, near, far, rise=not decision)
        ]

    def falls(self, row: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Return the row itself with each row that is at least as far, and whose score is worse."""
        row = tuple(_plain(value) for value in row)
        score = self.asked[row]
        rise = score < THRESHOLD
        worse = [key for key, other in self.asked.items() if (other < score if rise else other > score)]
        return [(row, far) for far in worse if is_no_further(self.case.space.features, row, far, rise=rise)]


def is_no_further(features: tuple[Feature, ...], near: Any, far: Any, *, rise: bool) -> bool:
    """Say whether `far` is at least as far as `near` in every ordered column, and equal to it in the others."""
    for feature, a, b in zip(features, near, far, strict=True):
        if a == b:
            continue
        in_order = [value is not MISSING and value not in feature.special for value in (a, b)]
        if feature.direction is None or not all(in_order):
            return False
        scale = scale_of(feature)
        step = place(scale, b) - place(scale, a)
        if step * feature.direction * (1 if rise else -1) < 0:
            return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return MISSING if np.isnan(value) else int(value) if value.is_integer() else value
    return value


def draw_ordered(seed: int, *, margins: bool) -> Case:
    """Draw a space of ordered features alone, for the search of many rows at once, and a model."""
    rng = Random(f"ordered/{seed}")
    d = rng.randint(1, 7)
    features = [
        Feature(f"x{i}", "integer", direction=rng.choice([1, -1]), lower=0, upper=rng.choice([1, 1, 2, 4]))
        for i in range(d)
    ]
    row = tuple(rng.randint(0, feature.upper) for feature in features)
    weights = [rng.choice([0, 1, 1, 2, 3]) for _ in range(d)]
    bonus = [rng.sample(range(d), min(d, rng.randint(1, 3))) for _ in range(2)]
    border = rng.uniform(0, 0.8) * (sum(w * f.upper for w, f in zip(weights, features, strict=True)) + 2) + 0.1

    def score(values: tuple[Any, ...]) -> float:
        places = [v if f.direction == 1 else f.upper - v for v, f in zip(values, features, strict=True)]
        total = sum(w * p for w, p in zip(weights, places, strict=True))
        total += sum(min(places[i] for i in some) for some in bonus)
        return total - border + THRESHOLD if margins else float(total >= border)

    return Case(Space(features), row, score, {})


def draw_request(rng: Random) -> dict[str, Any]:
    """Draw what is wanted."""
    request: dict[str, Any] = {"batch": rng.choice([1, 3, 8, 32, 32, 64])}
    if rng.random() < 0.35:
        request["objective"] = "cost"
    if rng.random() < 0.25:
        request["strict"] = False
    if rng.random() < 0.15:
        request["max_changes"] = rng.randint(1, 3)
    if rng.random() < 0.15:
        request["max_queries"] = rng.randint(1, 60)
    for name, chance in (("reasons", 0.2), ("values", 0.15)):
        if rng.random() < chance:
            request[name] = False
    return request


Way = Callable[[Explainer, Case, dict[str, Any], Random], Any]


def alone(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    return explainer.explain(case.row, **request)


def in_a_table(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    (found,) = explainer.explain_table([case.row], **request)
    if isinstance(found, Exception):
        raise found
    return found


def over_a_pool(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    return in_a_table(explainer, case, request | {"in_flight": 2}, rng)


def within_a_budget(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    return in_a_table(explainer, case, request | {"in_flight": 2, "max_table_queries": rng.randint(1, 60)}, rng)


def one_by_one(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    list(explainer.iter_flipsets(case.row, batch=request["batch"]))


def as_a_staircase(explainer: Explainer, case: Case, request: dict[str, Any], rng: Random) -> Any:
    explainer.frontier(case.row, rng.sample(explainer.space.names, 2), batch=request["batch"])


WAYS: tuple[Way, ...] = (alone, alone, alone, in_a_table, over_a_pool, within_a_budget, one_by_one, as_a_staircase)


def play(seed: int, seen: Counter[str], *, journal: bool = False) -> None:
    """Plant one to three wrong answers, ask for something, and check what is said about all that was asked."""
    rng = Random(f"planted/{seed}")
    draw = draw_case if rng.random() < 0.5 else draw_ordered
    case = draw(seed, margins=rng.random() < 0.6)
    request = draw_request(rng)
    way = rng.choice(WAYS)
    if way is as_a_staircase and len(case.space.names) < 2:
        way = alone
    if not _run(Recording(case), way, request, seed):
        return  # not to be had in this space, corrupted or not
    honest = Recording(case)
    _run(honest, way, request, seed)
    candidates = [key for key in honest.asked if key != tuple(map(_plain, case.row))]
    if not candidates:
        return
    telling = [key for key in candidates if _contradicts(honest, key, case.row)]
    if telling and rng.random() < 0.7:
        candidates = telling
    chosen = rng.sample(candidates, min(len(candidates), rng.randint(1, 3)))
    wrong = {key: _turned(honest.asked[key], rng) for key in chosen}
    model = Recording(case, wrong)
    what = f"seed {seed}: {way.__name__}, {request}, {case.space.features}, {case.row}"
    result = _run(model, way, request, seed, journal=journal)
    pairs = model.pairs(case.row)
    shown = _shown(result, case)
    seen[f"{way.__name__}: {'contradiction' if pairs else 'consistent'}"] += 1
    falls = model.falls(case.row)
    if not pairs:
        # Where nothing flips, a row that is further and scores worse than the row itself shows it, too.
        if isinstance(result, NotMonotone) or (isinstance(result, Explanation) and result.status == "unproved"):
            assert shown, what
            assert all(pair in falls for pair in shown), what
            seen["a score that falls"] += 1
        return
    assert isinstance(result, NotMonotone) or result.status == "unproved", what
    assert isinstance(result, NotMonotone) == request.get("strict", True) or way in (one_by_one, as_a_staircase), what
    assert shown, what
    for pair in shown:
        assert pair in pairs or pair in falls, (what, pair)


def _contradicts(honest: Recording, key: tuple[Any, ...], row: tuple[Any, ...]) -> bool:
    """Say whether another answer to one row would contradict the other answers."""
    other = Recording(honest.case, asked=honest.asked | {key: 1.0 - (honest.asked[key] >= THRESHOLD)})
    return bool(other.pairs(row))


def _turned(score: float, rng: Random) -> float:
    """Return a score of the other decision."""
    apart = rng.choice([1e-6, 0.2, 3.0])
    return THRESHOLD - apart if score >= THRESHOLD else THRESHOLD + apart


def _run(model: Recording, way: Way, request: dict[str, Any], seed: int, *, journal: bool = False) -> Any:
    """Return what comes out: a result, or a contradiction; None where it cannot be had."""
    with TemporaryDirectory() as folder:
        kept = Journal(Path(folder) / "answers.db", model="planted") if journal else None
        explainer = Explainer(model.predict, model.case.space, cost=model.case.cost or None, journal=kept)
        try:
            return way(explainer, model.case, request, Random(seed)) or True
        except NotMonotone as error:
            return error
        except InputError:
            return None
        finally:
            if kept is not None:
                kept.close()


def _shown(result: Any, case: Case) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Return the pairs of rows that are shown with a result."""
    if isinstance(result, NotMonotone):
        shown: Any = () if result.rows is None else [result.rows]
    else:
        shown = result.contradictions if isinstance(result, Explanation) else ()
    return [tuple(tuple(_plain(row[name]) for name in case.space.names) for row in pair) for pair in shown]  # type: ignore[misc]
