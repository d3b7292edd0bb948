"""Tables, by `Explainer.explain_table`: in lock-step, in processes, in threads, with budgets for all rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from flipset import Explainer
from tests.pins.loans import Lender, draw_applications, make_space
from tests.pins.scores import draw_setting
from tests.pins.transcripts import Case, Seen, Transcript, numbered, of_table, watched


@dataclass(frozen=True)
class Table:
    """An explainer's parts, and the rows to explain."""

    model: Callable[[Any], Any]
    space: Any
    threshold: float
    rows: Any

    def explainer(self, model: Callable[[Any], Any] | None = None, **how: Any) -> Explainer:
        return Explainer(model or self.model, self.space, threshold=self.threshold, **how)


def ordered(what: str, i: int, *, labels: bool = False, wavy: bool = False, weighted: bool = False) -> Table:
    """Return rows of ordered columns; some of them are equal."""
    rng = Random(f"table/{what}/{i}")
    setting = draw_setting(rng, 3, 9, rng.randint(20, 60), weighted=weighted)
    setting = setting.labels() if labels else setting.wavy() if wavy else setting
    rows = np.array(setting.rows, dtype=float)
    rows[3] = rows[1]
    rows[-1] = rows[5]
    return Table(setting.model, setting.space, setting.threshold, rows)


def touchy(what: str, i: int) -> Table:
    """Return the same with a model that fails on one of the rows."""
    table = ordered(what, i)
    model: Any = table.model
    return replace(table, model=replace(model, fails_at=float(table.rows[i % 7][0])))


def spoiled(what: str, i: int) -> Table:
    """Return the same with two rows that nobody can explain: a cell is missing, or beyond all numbers."""
    table = ordered(what, i)
    table.rows[2, 1] = np.nan
    table.rows[7, 0] = np.inf
    return table


def loans(what: str, i: int, *, options: bool = True, labels: bool = False) -> Table:
    """Return a frame of applications."""
    rng = Random(f"table/{what}/{i}")
    frame = draw_applications(rng, rng.randint(20, 30))
    space = make_space(rng, frame, options=options)
    return Table(Lender(rng.randrange(1_000), labels), space, 0.5, frame)


def half_and_half(what: str, i: int) -> Table:
    """Return applications of which some rows have options, a code or a missing cell, and others none."""
    rng = Random(f"table/{what}/{i}")
    frame = draw_applications(rng, 40)
    space = make_space(rng, frame, options=False)
    return Table(Lender(rng.randrange(1_000), fails_at=float(frame["income"][4])), space, 0.5, frame)


MADE: dict[str, Callable[[str, int], Table]] = {
    "ordered": ordered,
    "labels": partial(ordered, labels=True),
    "weighted": partial(ordered, weighted=True),
    "wavy": partial(ordered, wavy=True),
    "touchy": touchy,
    "spoiled": spoiled,
    "loans": loans,
    "loans-labels": partial(loans, labels=True),
    "half": half_and_half,
}

REQUESTS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "batch1": {"batch": 1},
    "batch8": {"batch": 8},
    "batch64": {"batch": 64},
    "narrow": {"width": 4, "max_rows": 16},
    "narrow8": {"width": 5, "max_rows": 7, "batch": 8},
    "budget": {"max_table_queries": 300},
    "budget8": {"max_table_queries": 200, "batch": 8, "width": 8},
    "cut": {"max_queries": 12},
    "seconds": {"max_seconds": 3600},
    "changes": {"max_changes": 1},
    "cost": {"objective": "cost", "max_changes": 2},
    "quick": {"values": False, "reasons": False},
    "lenient": {"strict": False},
    "lenient8": {"strict": False, "batch": 8},
}


def explain(made: str, request: str, i: int) -> Transcript:
    """Explain a table; the same table whatever is requested."""
    table = MADE[made](made, i)
    seen = Seen(table.model)
    done: dict[int, str] = {}

    def work() -> Transcript:
        found = table.explainer(seen).explain_table(
            table.rows, each=lambda k, one: done.update({k: type(one).__name__}), **REQUESTS[request]
        )
        told = of_table(found)
        told["answer"]["each"] = sorted(done.items())
        return told

    return watched(work, seen)


def in_processes(made: str, i: int) -> Transcript:
    """Explain a table in two processes; what each saw stays there."""
    table = MADE[made](f"workers/{made}", i)
    return of_table(table.explainer().explain_table(table.rows, workers=2, batch=(None, 8)[i % 2]), rounds=False)


def in_threads(made: str, i: int) -> Transcript:
    """Explain a table with several calls of the model under way."""
    table = MADE[made](f"threads/{made}", i)
    seen = Seen(table.model)
    found = table.explainer(seen).explain_table(table.rows, in_flight=4, batch=(8, 32)[i % 2])
    done = watched(lambda: of_table(found, rounds=False), seen, ordered=False)
    done["cost"] = []  # where the model fails, what is asked again depends on which calls were under way
    return done


def changed(made: str, i: int) -> Transcript:
    """Explain a table with a feature fixed, and another within other bounds."""
    table = MADE[made](f"changed/{made}", i)
    seen = Seen(table.model)
    scale = next(feature for feature in table.space.features if feature.upper is not None)
    bounds = {scale.name: (None, scale.upper) if scale.direction == 1 else (scale.lower, None)}
    fixed = [table.space.names[1]]
    return watched(lambda: of_table(table.explainer(seen).explain_table(table.rows, fixed=fixed, bounds=bounds)), seen)


# What is explained, what is requested, how many cases.
EXPLAINED: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("ordered", tuple(request for request in REQUESTS if not request.startswith("lenient")), 4),
    ("labels", ("default", "batch8", "budget"), 3),
    ("weighted", ("default", "cost"), 3),
    ("wavy", ("default", "batch8", "lenient", "lenient8"), 4),
    ("touchy", ("default", "batch8", "narrow", "budget"), 3),
    ("spoiled", ("default", "batch8"), 2),
    ("loans", ("default", "batch1", "budget", "seconds", "cut", "narrow"), 2),
    ("loans-labels", ("default", "lenient"), 2),
    ("half", ("default", "batch8", "narrow", "budget", "quick"), 2),
)


def cases() -> Iterator[tuple[str, Case]]:
    for made, requests, count in EXPLAINED:
        for request in requests:
            yield from numbered(f"tables/{made}/{request}", count, partial(explain, made, request))
    for made in ("ordered", "half"):
        yield from numbered(f"tables/workers/{made}", 3, partial(in_processes, made))
        yield from numbered(f"tables/threads/{made}", 4, partial(in_threads, made))
        yield from numbered(f"tables/changed/{made}", 3, partial(changed, made))
