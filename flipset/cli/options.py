"""Options that several commands share, as cyclopts reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flipset.explaining import BATCH


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to read the model."""

    threshold: float | None = None
    "The decision is score >= THRESHOLD; by default where the model's own decision turns."
    positive: str | None = None
    "The class whose probability is the score; of two classes the second by default."
    allow_pickle: Annotated[bool, Parameter(negative="")] = False
    "Load pickles, joblib files and MLflow folders. They can run any program: only for files of your own."
    trusted: list[str] = field(default_factory=list)
    "Types that a .skops file may hold beside those known to be harmless."
    journal: Path | None = None
    "A file to write every answer of the model to; what is in it already is not asked again."


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """What may change, and how far. Lists are separated by commas, or given several times."""

    space: Path | None = None
    "A file that says it all, as `flipset space` writes it; the options below then come on top."
    increasing: list[str] = field(default_factory=list)
    "Columns of which more raises the score; the model's own directions need not be repeated."
    decreasing: list[str] = field(default_factory=list)
    "Columns of which more lowers the score."
    fix: list[str] = field(default_factory=list)
    "Columns to hold fixed."
    bounds: list[str] = field(default_factory=list)
    "Limits, as income=20:90; one side may be empty."
    step: list[str] = field(default_factory=list)
    "Values move in steps, as income=5."
    categorical: list[str] = field(default_factory=list)
    "Columns without order that may take any value seen."
    only_rising: list[str] = field(default_factory=list)
    "Columns that can only rise, like an age."
    only_falling: list[str] = field(default_factory=list)
    "Columns that can only fall."
    quantiles: str | None = None
    "Bounds for all columns, as 0.05:0.95 of what the data hold; by default from the least to the most."
    drop: list[str] = field(default_factory=list)
    "Columns that the model is not given, like a label or an id."


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is wanted, and what it may cost."""

    max_changes: int | None = None
    "Leave sets of more features alone."
    objective: str = "size"
    '"size": the fewest changes. "cost": the cheapest ones.'
    max_queries: int | None = None
    "Stop after so many rows asked, with what is proved by then."
    max_seconds: float | None = None
    "Stop after so many seconds, with what is proved by then."
    batch: int = BATCH
    "Rows asked together at most."
    reasons: bool = True
    "Make every reason minimal; without, fewer questions."
    values: bool = True
    "Find the least values; without, features stand at their best ones."
    strict: bool = True
    "Refuse a model that contradicts itself; without, go on and mark the result as unproved."
