"""Applications for loans: a frame with columns of every kind, and models of it that look at rows one by one."""

from dataclasses import dataclass
from random import Random
from typing import Any

import pandas as pd

from flipset import Feature, Group, Space

JOBS = ("none", "part", "full", "own")
REGIONS = ("north", "south", "east")
HOUSES = ("rents", "owns", "other")


def draw_applications(rng: Random, n: int) -> pd.DataFrame:
    """Draw applications; some cells are missing, some hold a code."""
    house = [rng.randrange(3) for _ in range(n)]
    columns: dict[str, Any] = {
        "income": [rng.randrange(10, 100) + rng.choice((0.0, 0.5)) for _ in range(n)],
        "debt": [rng.randrange(60) for _ in range(n)],
        "age": [rng.randrange(20, 70) for _ in range(n)],
        "late": [rng.choice((-7, 0, 1, 2, 3, 4)) for _ in range(n)],
        "savings": [None if rng.random() < 0.15 else float(rng.randrange(50)) for _ in range(n)],
        "job": [rng.choice(JOBS) for _ in range(n)],
        "region": [rng.choice(REGIONS) for _ in range(n)],
        "guarantor": [rng.randrange(2) for _ in range(n)],
        "years": [rng.randrange(12) for _ in range(n)],
    }
    for i, name in enumerate(HOUSES):
        columns[name] = [int(where == i) for where in house]
    return pd.DataFrame(columns)


def make_space(rng: Random, frame: pd.DataFrame, *, options: bool = True, weighted: bool = False) -> Space:
    """Return what may change; without `options`, only what has an order."""
    weights = [rng.choice((1, 2, 0.5)) if weighted else 1 for _ in range(4)]
    features = [
        Feature("income", direction=+1, lower=10, upper=100, step=rng.choice((0.5, 2.5)), weight=weights[0]),
        Feature("debt", "integer", direction=-1, lower=0, upper=60, weight=weights[1]),
        Feature("age", "integer", direction=+1, lower=18, upper=75, may_fall=False, fixed=rng.random() < 0.5),
        Feature("late", "integer", direction=-1, lower=0, upper=4, special=(-7,), may_become=(-7,) if options else ()),
        Feature("savings", direction=+1, lower=0, upper=50, missing=options and rng.random() < 0.3),
        Feature("job", "ordinal", direction=+1, options=JOBS, weight=weights[2]),
        Feature("region", "categorical", options=REGIONS if options else (), weight=weights[3]),
        Feature("guarantor", "binary", direction=+1, group="help"),
        Feature("years", "integer", direction=+1, lower=0, upper=12, group="help"),
        *(Feature(name, "binary", group="house", fixed=not options) for name in HOUSES),
    ]
    groups = [Group("house", one_hot=True, may_be_empty=rng.random() < 0.3)]
    return Space(features, groups, frame)


@dataclass(frozen=True)
class Lender:
    """A model of applications: the score rises with each ordered column, and does as it likes with the others."""

    seed: int
    labels: bool = False
    fails_at: float | None = None

    def __call__(self, frame: Any) -> Any:
        columns = [frame[name].tolist() for name in frame.columns]
        rows = [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]
        if self.fails_at is not None and any(row["income"] == self.fails_at for row in rows):
            raise RuntimeError("not this income")
        scores = [self.score(row) for row in rows]
        return [score >= 0.5 for score in scores] if self.labels else scores

    def score(self, row: dict[str, Any]) -> float:
        """Return the score of an application."""
        house = next((name for name in HOUSES if row[name] == 1), "nowhere")
        savings = row["savings"]
        unknown = savings is None or savings != savings
        context = Random(f"{self.seed}/{row['region']}/{house}/{unknown}/{row['late'] == -7}")
        weights = [context.randint(0, 8) / 8 for _ in range(8)]
        late = 0.0 if row["late"] == -7 else float(row["late"])
        parts = (
            row["income"] / 100,
            -row["debt"] / 60,
            row["age"] / 200,
            -late / 4,
            0.0 if unknown else savings / 50,
            JOBS.index(row["job"]) / 3,
            min(row["guarantor"], row["years"] / 12),
            min(row["income"] / 100, 1 - row["debt"] / 60),
        )
        total = context.randint(-4, 2) / 8
        for weight, part in zip(weights, parts, strict=True):
            total += weight * part
        return total / 2
