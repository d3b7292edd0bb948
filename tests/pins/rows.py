"""Single rows, by `Explainer`."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from flipset import Explainer, range_share
from tests.pins.loans import Lender, draw_applications, make_space
from tests.pins.scores import draw_setting
from tests.pins.transcripts import (
    Case,
    Seen,
    Transcript,
    numbered,
    of_explanation,
    transcript,
    watched,
)
from tests.spaces import draw_case

Made = tuple[Explainer, Any, Seen]
Make = Callable[[str, int], Made]
TAKEN = 12


# --- what is explained ------------------------------------------------------------------------------------------------


def ordered(what: str, i: int, *, labels: bool = False, wavy: bool = False, weighted: bool = False) -> Made:
    """Return an explainer of ordered columns, a row, and the model watched."""
    setting = draw_setting(Random(f"{what}/{i}"), 3, 11, weighted=weighted)
    setting = setting.labels() if labels else setting.wavy() if wavy else setting
    seen = Seen(setting.model)
    return Explainer(seen, setting.space, threshold=setting.threshold), setting.rows[0], seen


def mixed(what: str, i: int, *, labels: bool = False) -> Made:
    """Return the same for a small space with columns of all kinds, and costs of its own."""
    case = draw_case(sum(map(ord, what)) * 1_000 + i, margins=not labels)
    seen = Seen(case.predict)
    return Explainer(seen, case.space, cost=case.cost), list(case.row), seen


def loans(what: str, i: int, *, options: bool = True, labels: bool = False, weighted: bool = False) -> Made:
    """Return the same for a frame of applications."""
    rng = Random(f"{what}/{i}")
    frame = draw_applications(rng, 30)
    seen = Seen(Lender(rng.randrange(1_000), labels))
    cost: Any = range_share if i % 4 == 3 else None
    space = make_space(rng, frame, options=options, weighted=weighted)
    return Explainer(seen, space, threshold=0.5, cost=cost), frame.iloc[[i % 30]], seen


MADE: dict[str, Make] = {
    "ordered": ordered,
    "ordered-labels": partial(ordered, labels=True),
    "weighted": partial(ordered, weighted=True),
    "mixed": mixed,
    "mixed-labels": partial(mixed, labels=True),
    "loans": loans,
    "loans-ordered": partial(loans, options=False),
    "loans-labels": partial(loans, labels=True),
    "loans-weighted": partial(loans, weighted=True),
    "wavy": partial(ordered, wavy=True),
}

REQUESTS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "batch1": {"batch": 1},
    "batch8": {"batch": 8},
    "batch64": {"batch": 64},
    "seconds": {"max_seconds": 3600},
    "changes": {"max_changes": 2},
    "cost": {"objective": "cost"},
    "cost-changes": {"objective": "cost", "max_changes": 3, "batch": 8},
    "no-values": {"values": False},
    "no-reasons": {"reasons": False},
    "neither": {"values": False, "reasons": False, "batch": 1},
    "few-values": {"value_queries": 6},
    "lenient": {"strict": False},
    "block": {"max_block": 4},
}


# --- what is asked ----------------------------------------------------------------------------------------------------


def explain(made: str, request: str, i: int) -> Transcript:
    """Explain a row; the same row whatever is requested."""
    explainer, row, seen = MADE[made](made, i)
    return watched(lambda: of_explanation(explainer.explain(row, **REQUESTS[request])), seen)


def cut_off(made: str, i: int) -> Transcript:
    """Explain a row with few queries."""
    explainer, row, seen = MADE[made](f"cut/{made}", i)
    most = Random(f"most/{i}").choice((1, 2, 5, 10, 20, 40))
    batch = (1, 8, None, 64)[i % 4]
    return watched(lambda: of_explanation(explainer.explain(row, max_queries=most, batch=batch)), seen)


def changed(made: str, i: int) -> Transcript:
    """Explain a row with a feature fixed, and others within other bounds."""
    explainer, row, seen = MADE[made](f"changed/{made}", i)
    rng = Random(f"changed/{i}")
    names = [feature.group or feature.name for feature in explainer.space.features]
    scales = [feature for feature in explainer.space.features if feature.upper is not None]
    bounds = {}
    for feature in rng.sample(scales, min(2, len(scales))):
        middle = (feature.lower + feature.upper) / 2
        bounds[feature.name] = (None, int(middle)) if feature.direction == 1 else (int(middle), None)
    fixed = [rng.choice(names)]
    return watched(lambda: of_explanation(explainer.explain(row, fixed=fixed, bounds=bounds)), seen)


def awaited(made: str, i: int) -> Transcript:
    """Explain a row to whoever awaits it."""
    explainer, row, seen = MADE[made](f"awaited/{made}", i)
    request: dict[str, Any] = {"batch": (None, 8, 64)[i % 3]}
    return watched(lambda: of_explanation(asyncio.run(explainer.aexplain(row, **request))), seen)


def iterate(made: str, i: int) -> Transcript:
    """Read some minimal flip sets."""
    explainer, row, seen = MADE[made](f"iter/{made}", i)
    flipsets = partial(explainer.iter_flipsets, row, batch=(1, 8, 32)[i % 3])
    return watched(lambda: transcript([list(one) for one in islice(flipsets(), TAKEN)]), seen)


def frontier(made: str, i: int) -> Transcript:
    """Trace the staircase of two features: a smallest flip set where one has two, or any."""
    explainer, row, seen = MADE[made](f"frontier/{made}", i)

    def work() -> Transcript:
        pair = next((one for one in explainer.iter_flipsets(row) if len(one) == 2), None)
        chosen = pair or [feature.name for feature in explainer.space.features if not feature.fixed][:2]
        found = explainer.frontier(row, chosen, batch=(1, 8, 32)[i % 3])
        points = [list(point) for point in found.points]
        return transcript([list(found.features), list(found.before), points], cost=found.queries)

    return watched(work, seen)


# What is explained, what is requested, how many cases.
EXPLAINED: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("ordered", tuple(request for request in REQUESTS if request not in ("lenient", "block")), 16),
    ("ordered-labels", ("default", "batch1", "batch8", "batch64"), 8),
    ("weighted", ("default", "batch1", "cost"), 8),
    ("mixed", ("default", "batch1", "batch8", "batch64", "seconds", "changes", "cost", "no-values", "no-reasons"), 10),
    ("mixed-labels", ("default", "batch8", "block"), 8),
    ("loans", ("default", "batch1", "seconds", "cost", "cost-changes", "few-values", "no-reasons"), 6),
    ("loans-ordered", ("default", "batch8", "seconds", "cost"), 6),
    ("loans-labels", ("default", "batch64"), 6),
    ("loans-weighted", ("default", "cost"), 6),
    ("wavy", ("default", "batch8", "lenient"), 12),
)

OTHERWISE: tuple[tuple[str, Callable[[str, int], Transcript], tuple[str, ...], int], ...] = (
    ("cut", cut_off, ("ordered", "mixed", "loans", "wavy"), 12),
    ("changed", changed, ("ordered", "loans"), 10),
    ("awaited", awaited, ("ordered", "mixed", "loans"), 6),
    ("iter", iterate, ("ordered", "mixed", "loans"), 8),
    ("frontier", frontier, ("ordered", "loans"), 8),
)


def cases() -> Iterator[tuple[str, Case]]:
    for made, requests, count in EXPLAINED:
        for request in requests:
            yield from numbered(f"rows/{made}/{request}", count, partial(explain, made, request))
    for name, work, kinds, count in OTHERWISE:
        for made in kinds:
            yield from numbered(f"rows/{name}/{made}", count, partial(work, made))
