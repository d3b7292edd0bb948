"""Explanations of many kinds, ways to change their JSON, and what is true of a row by brute force.

Whether a changed explanation is still true is decided here from every row of the space, without the verifier.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, product
from random import Random
from typing import TYPE_CHECKING, Any

from flipset import Decision, Explainer, Explanation, FlipsetError, Space
from tests.spaces import Case, draw_case

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"max_changes": 1},
    {"max_changes": 2},
    {"max_queries": 4},
    {"max_queries": 9},
    {"objective": "cost"},
    {"values": False},
    {"reasons": False},
    {"strict": False},
    {"options": 1},
    {"options": 2, "diverse": True},
    {"more": 1},
    {"more": 3},
    {"curve": True},
    {"options": 1, "more": 2, "curve": True},
    {"max_flipsets": 1},
    {"max_flipsets": 2, "options": 1},
)


@dataclass(frozen=True)
class Subject:
    """A case, how it was explained, and the explanation."""

    case: Case
    request: dict[str, Any]
    e: Explanation

    @property
    def explainer(self) -> Explainer:
        return Explainer(self.case.predict, self.case.space, cost=self.case.cost)

    @cached_property
    def data(self) -> Any:
        return json.loads(self.e.to_json())


def draw_subject(seed: int) -> Subject | None:
    """Draw an explanation; now and then with weights, words or an id, or of a model that contradicts itself."""
    rng = Random(f"subject/{seed}")
    case = draw_case(seed, margins=rng.random() < 0.5)
    request = dict(rng.choice(REQUESTS))
    if rng.random() < 0.25:
        case = replace(case, space=_with_words(case.space, rng))
    if rng.random() < 0.25:
        request["id"] = rng.choice(["A-17", 4, {"branch": "north", "number": 12}])
    if rng.random() < 0.25 and "max_changes" not in request:
        weights = {feature.group or feature.name: rng.choice([1, 2, 0.5]) for feature in case.space.features}
        features = [replace(feature, weight=weights[feature.group or feature.name]) for feature in case.space.features]
        case = replace(case, space=Space(features, case.space.groups))
    if "strict" in request:
        return _draw_unproved(case, request, rng)
    try:
        return Subject(case, request, Explainer(case.predict, case.space, cost=case.cost).explain(case.row, **request))
    except FlipsetError:
        return None


def _with_words(space: Space, rng: Random) -> Space:
    """Return a space with labels, units and words for the decision."""
    features = [
        replace(feature, label=f"Column {feature.name}", unit=rng.choice(["", "EUR"]), number_format="plain")
        for feature in space.features
    ]
    decision = Decision(outcomes=("granted", "refused"), score_label="points", score_format="plain")
    return Space(features, space.groups, decision=decision)


def _draw_unproved(case: Case, request: dict[str, Any], rng: Random) -> Subject | None:
    """Draw models until one contradicts itself."""
    for _ in range(20):
        key = rng.random()
        noisy = replace(case, score=partial(_noise, key))
        subject = Subject(
            noisy, request, Explainer(noisy.predict, noisy.space, cost=case.cost).explain(case.row, **request)
        )
        if subject.e.status == "unproved":
            return subject
    return None


def _noise(key: float, row: tuple[Any, ...]) -> float:
    cells = [None if cell is None else str(cell).removesuffix(".0") for cell in row]
    return float(Random(f"{key}/{cells}").random() < 0.5)


# --- changes ----------------------------------------------------------------------------------------------------------

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1.5, -0.0, 1e308, 10**30, 10**400, "", "x", "inf", "\ud800", [], {}, [[]], [None],
    {"float": "inf"}, {"float": "nan"}, {"date": "2026-01-31"}, {"decimal": "1e999999999"}, {"a": 1}, "x" * 200_000,
)  # fmt: skip

OPTIONAL = ("max_options", "diverse", "more", "larger", "larger_end", "curve", "curve_end", "words", "id", "own_bounds")
"""Members that a file has only where they were asked for."""


def mutate(data: Any, rng: Random, others: Any, within: Collection[str] = ()) -> Any:
    """Change a document in one to three places; `others` is another one to copy from.

    `within` names the members that are changed; without it, all are.
    """
    while True:
        changed = deepcopy(data)
        for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
            part = {name: member for name, member in changed.items() if name in within}
            # A place at the top is one of the document itself, so that a member can be lost or replaced.
            places = [(changed if here is part else here, key) for here, key in _places(part or changed)]
            container, key = rng.choice(places)
            _change(container, key, changed, rng, others)
        if json.dumps(changed) != json.dumps(data):
            return changed


def _places(data: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    keys = data.keys() if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        found.append((data, key))
        found += _places(data[key])
    return found


def _change(container: Any, key: Any, data: Any, rng: Random, others: Any) -> None:
    value = container[key]
    keys = list(container) if isinstance(container, dict) else range(len(container))
    how = rng.choice(
        ["tweak", "tweak", "tweak", "everywhere", "everywhere", "odd", "lose", "swap", "copy", "copy", "copy", "more"]
    )
    if how == "tweak":
        container[key] = _tweak(value, rng)
    elif how == "everywhere":
        _tweak_everywhere(value, data, rng)
    elif how == "odd":
        container[key] = deepcopy(rng.choice(ODD))
    elif how == "lose":
        del container[key]
    elif how == "swap":
        other = rng.choice(keys)
        container[key], container[other] = container[other], container[key]
    elif how == "copy":
        places = _places(rng.choice([data, others]))
        alike = [(here, there) for here, there in places if type(here[there]) is type(value)]
        here, there = rng.choice(alike or places)
        container[key] = deepcopy(here[there])
    else:
        _add(container, value, rng)


def _tweak_everywhere(value: Any, data: Any, rng: Random) -> None:
    """Change a value wherever the document says it: a lie that agrees with itself."""
    new = _tweak(value, rng)
    for here, there in _places(data):
        if not isinstance(value, (dict, list)) and type(here[there]) is type(value) and here[there] == value:
            here[there] = new


def _add(container: Any, value: Any, rng: Random) -> None:
    if isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), deepcopy(rng.choice([value, value, *ODD])))
    elif rng.random() < 0.5:
        container[rng.choice(["x", "format", "weights", "objective", *OPTIONAL])] = deepcopy(rng.choice(ODD))
    else:
        items = list(container.items())
        container.clear()
        container.update(rng.sample(items, len(items)))


def _tweak(value: Any, rng: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)) and abs(value) < 1e300:
        return rng.choice(
            [value + 1, value - 1, -value, value * 2, value + 0.001, float(value), value + 0.25, bool(value)]
        )
    if isinstance(value, str):
        words = [
            "at least",
            "at most",
            "becomes",
            "optimal",
            "none",
            "stopped",
            "unproved",
            "size",
            "cost",
            "incomplete",
            "not asked",
            "enough",
            "all",
            "proved",
            "max_changes",
            value + "x",
        ]
        return rng.choice(words)
    if isinstance(value, list):
        return value[::-1] if rng.random() < 0.5 else value[:-1]
    if isinstance(value, dict):
        return dict(reversed(value.items()))
    return rng.choice([0, 1, 2, "x"])


# --- truth ------------------------------------------------------------------------------------------------------------


def is_true(subject: Subject, m: Explanation) -> list[str]:
    """Return what is false in an explanation, by every row of its space; nothing if it is true."""
    names = subject.case.space.names
    case = replace(subject.case, row=tuple(m.row[name] for name in names))
    wrong: list[str] = []

    def must(holds: bool, what: str) -> None:
        if not holds:
            wrong.append(what)

    score = case.score(case.row)
    must(abs(score - m.score) < 1e-5, "score")
    must(m.threshold == 0.5, "threshold")
    must(m.decision == case.decision, "decision")
    flipping = {row for row in case.every_row() if (case.score(row) >= 0.5) != case.decision}
    sets = {case.changed(row) for row in flipping}
    weight = {f.group or f.name: Fraction(str(f.weight)) for f in case.space.features}
    lightest = min((sum(weight[name] for name in one) for one in sets), default=None)
    best = {one for one in sets if sum(weight[name] for name in one) == lightest}
    if m.status == "optimal":
        must({frozenset(one) for one in m.flipsets} == best and len(m.flipsets) == len(best), "flipsets")
        must(m.size == m.lower == m.upper == lightest, "size")
    elif m.status == "incomplete":
        must({frozenset(one) for one in m.flipsets} <= best and len(m.flipsets) == len(set(m.flipsets)), "flipsets")
        must(m.size == m.lower == m.upper == lightest and bool(m.flipsets), "size")
    elif m.status == "none" and m.lower is None:
        must(not sets, "none")
    elif m.lower is not None:
        must(lightest is None or m.lower <= lightest, "lower")
    must(m.status != "unproved", "unproved")
    if m.status not in ("optimal", "incomplete"):
        must(m.size is None, "size")
        must(m.upper is None or (lightest is not None and m.upper >= lightest), "upper")
        must(all(any(one <= frozenset(names) for one in sets) for names in m.flipsets), "flipsets")
    for reason in m.reasons:
        must(all(not one.isdisjoint(reason) for one in sets), "reasons")
    for _, one in m.all_counterfactuals:
        row = tuple(one.row[name] for name in names)
        must(row in flipping, "counterfactual row")
        must(frozenset(one.flipset) == case.changed(row), "counterfactual flip set")
        must(one.cost == float(case.cost_of(row)), "cost")
        must(abs(one.score - case.score(row)) < 1e-5, "counterfactual score")
        must(_told(case, row) == [(c.feature, c.before, c.after, c.how) for c in one.changes], "changes")
    must([c.cost for c in m.counterfactuals] == sorted(c.cost for c in m.counterfactuals), "order")
    wanted = len(m.flipsets) if m.max_options is None else min(m.max_options, len(m.flipsets))
    must(len(m.counterfactuals) == wanted or m.objective != "size" or m.status == "none", "complete")
    _check_beyond(m, sets, weight, lightest, must)
    return wrong


def _check_beyond(m: Explanation, sets: Any, weight: Any, lightest: Any, must: Callable[[bool, str], None]) -> None:
    """Check the larger options and the curve against all sets that flip."""
    minimal = {one for one in sets if not any(other < one for other in sets)}
    larger = [frozenset(one.flipset) for one in m.larger]
    sizes = [sum(weight[name] for name in one) for one in larger]
    must(set(larger) <= minimal and len(set(larger)) == len(larger) <= (m.more or 0), "larger")
    must(all(lightest is not None and size > lightest for size in sizes), "larger size")
    must(
        (keys := [(size, one.cost) for size, one in zip(sizes, m.larger, strict=True)]) == sorted(keys), "larger order"
    )
    for i, point in enumerate(m.curve):
        must(len(point.counterfactual.flipset) <= point.changes == (m.size or 0) + i, "curve")
    falling = [point.counterfactual.cost for point in m.curve]
    must(falling == sorted(falling, reverse=True), "curve order")
    must(falling[:1] == [one.cost for one in m.counterfactuals[:1]] or not m.curve, "curve start")


def _check_beyond_as_filed(
    data: Any, flipping: Any, weight: Any, lightest: Any, must: Callable[[bool, str], None]
) -> None:
    """Check the larger options and the curve of a file against all sets that flip."""
    larger, curve = data.get("larger", []), data.get("curve", [])
    costs = [one["cost"] for one in data["counterfactuals"]]
    minimal = {one for one in flipping if not any(set(other) < set(one) for other in flipping)}
    wide = [tuple(one["flipset"]) for one in larger]
    sizes = [sum(weight[name] for name in one) for one in wide]
    must(set(wide) <= minimal and len(set(wide)) == len(wide) <= (data.get("more") or 0), "larger")
    must(all(size > (lightest or 0) for size in sizes), "larger size")
    must((keys := [(s, one["cost"]) for s, one in zip(sizes, larger, strict=True)]) == sorted(keys), "larger order")
    for i, point in enumerate(curve):
        must(len(point["counterfactual"]["flipset"]) <= point["changes"] == data["size"] + i, "curve")
    falling = [point["counterfactual"]["cost"] for point in curve]
    must(falling == sorted(falling, reverse=True), "curve order")
    must(falling[:1] == costs[:1] or not curve, "curve start")


def _check_complete_as_filed(data: Any, listed: Any, must: Callable[[bool, str], None]) -> None:
    """Check that there is a counterfactual for every flip set, or as many as were asked for."""
    named = sorted(tuple(one["flipset"]) for one in data["counterfactuals"])
    if data["status"] in ("optimal", "incomplete") and data.get("objective") == "size":
        most = data.get("max_options")
        must(len(set(named)) == len(named) and set(named) <= set(listed), "options")
        must(len(named) == (len(listed) if most is None else min(most, len(listed))), "complete")


def _told(case: Case, row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for feature, before, after in zip(case.space.features, case.row, row, strict=True):
        if before == after:
            continue
        how = "becomes"
        if feature.direction is not None and after is not None and after not in feature.special:
            how = "at least" if (feature.direction == 1) != case.decision else "at most"
        told.append((feature.name, before, after, how))
    return told


def as_number(cell: Any) -> Any:
    """Return a cell of a file as the model sees it: an infinite number is written as an object."""
    is_float = isinstance(cell, dict) and cell.keys() == {"float"}
    return float(cell["float"]) if is_float else cell


def _has_unknown_level(subject: Subject, data: Any) -> bool:
    """Say whether an ordered column has a level without a place in the order: the proof's condition fails there."""
    of = {feature.name: feature for feature in subject.case.space.features}
    ordered = [column for unit in data["moves"] if unit["ordered"] for column in unit["columns"]]
    cells = [(data["row"][name], of[name]) for name in ordered]
    return any(isinstance(cell, str) and cell not in feature.options for cell, feature in cells)


def is_true_as_filed(subject: Subject, data: Any) -> list[str]:  # noqa: C901  # one check after another
    """Return what is false in the JSON of an explanation if what could move is taken from the file itself.

    Every set of the file's units is tried, with every combination of their options.
    """
    wrong: list[str] = []

    def must(holds: bool, what: str) -> None:
        if not holds:
            wrong.append(what)

    names, row, units = subject.case.space.names, data["row"], data["moves"]
    if _has_unknown_level(subject, data):
        return []

    def score(cells: Any) -> float:
        return subject.case.score(tuple(as_number(cells[name]) for name in names))

    def flips(cells: Any) -> bool:
        try:
            return bool((score(cells) >= 0.5) != data["decision"])
        except (TypeError, ValueError):  # a value that the model does not know; no claim rests on such a row
            return False

    def flips_with(chosen: tuple[Any, ...]) -> bool:
        choices = [unit["options"] + ([] if unit["ordered"] else [{}]) for unit in chosen]
        return any(flips(row | {k: v for part in parts for k, v in part.items()}) for parts in product(*choices))

    must(data["threshold"] == 0.5 and abs(score(row) - float(data["score"])) < 1e-5, "score")
    must(data["decision"] == (score(row) >= 0.5), "decision")
    weight = {unit["name"]: Fraction(str(unit["weight"])) for unit in units}
    sets = {
        tuple(unit["name"] for unit in chosen): flips_with(chosen)
        for size in range(len(units) + 1)
        for chosen in combinations(units, size)
    }
    flipping = {one for one, flip in sets.items() if flip}
    lightest = min((sum(weight[name] for name in one) for one in flipping), default=None)
    best = sorted(one for one in flipping if sum(weight[name] for name in one) == lightest)
    listed = [tuple(one) for one in data["flipsets"]]
    must(data["status"] != "unproved", "unproved")
    if data["status"] == "optimal":
        must(sorted(listed) == best, "flipsets")
        must(data["size"] == data["lower"] == data["upper"] == lightest, "size")
    elif data["status"] == "incomplete":
        must(bool(listed) and set(listed) <= set(best) and len(set(listed)) == len(listed), "flipsets")
        must(data["size"] == data["lower"] == data["upper"] == lightest, "size")
    else:
        must(data["size"] is None, "size")
        must(all(sets[one] for one in listed), "flipsets")
        must(data["upper"] is None or (lightest is not None and data["upper"] >= lightest), "upper")
        must(data["lower"] is None or lightest is None or data["lower"] <= lightest, "lower")
        must(data["status"] != "none" or data["lower"] is not None or not flipping, "none")
    for reason in data["reasons"]:
        must(not any(set(one).isdisjoint(reason) for one in flipping), "reasons")
    larger, curve = data.get("larger", []), data.get("curve", [])
    for one in [*data["counterfactuals"], *larger, *(point["counterfactual"] for point in curve)]:
        after = {name: cell for name, cell in one["row"].items() if cell != row[name]}
        moved = [unit["name"] for unit in units if not after.keys().isdisjoint(unit["columns"])]
        must(flips(one["row"]) and abs(score(one["row"]) - float(one["score"])) < 1e-5, "counterfactual score")
        must(one["flipset"] == moved, "counterfactual flip set")
        must({name for unit in units for name in unit["columns"]} >= after.keys(), "counterfactual row")
        told = {change["feature"]: (change["before"], change["after"]) for change in one["changes"]}
        must(told == {name: (row[name], cell) for name, cell in after.items()}, "changes")
        must(len(told) == len(one["changes"]), "changes")
    costs = [one["cost"] for one in data["counterfactuals"]]
    must(costs == sorted(costs), "order")
    _check_complete_as_filed(data, listed, must)
    _check_beyond_as_filed(data, flipping, weight, lightest, must)
    return wrong
