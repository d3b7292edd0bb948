"""Options that several commands share, as cyclopts reads them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

Data = Annotated[str, Parameter(allow_leading_hyphen=True)]  # "-" is standard input


@Parameter(name="*", group="An endpoint", negative_iterable="")
@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How to ask a scoring endpoint."""

    url: str | None = None
    "Ask this address instead of MODEL: .../v2/models/NAME/infer (Open Inference Protocol) or .../invocations (MLflow)."
    header_env: list[str] = field(default_factory=list)
    "A header to send, and the environment variable it is in, as Authorization=SCORING_AUTH."
    output_name: str | None = None
    "The output that is the score, where the endpoint has several."
    model_version: str | None = None
    "Which version it is, for journals and reports, where the endpoint does not say."
    in_flight: int | None = None
    "How many requests may be under way at a time."
    rows_per_call: int | None = None
    "How many rows a request may have."
    rate: float | None = None
    "How many requests may go out in a second."
    timeout: float | None = None
    "Seconds that one request may take."
    attempts: int | None = None
    "How often a request is sent before a fault that may pass counts as one that lasts."
    max_sent: int | None = None
    "Rows that may be sent in all, those sent again included."
    price_per_call: float | None = None
    "What a request costs, to be told what all of them cost."
    price_per_row: float | None = None
    "What a row costs."
    ca: Path | None = None
    "A file with certificates to trust."


@Parameter(name="*", group="The model", negative_iterable="")
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
    endpoint: Annotated[EndpointOptions, Parameter(name="*", group="An endpoint")] = field(
        default_factory=EndpointOptions
    )
    "How to ask a scoring endpoint."


@Parameter(name="*", group="What may change", negative_iterable="")
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


@Parameter(name="*", group="The search", negative_iterable="")
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
    batch: int | None = None
    "Questions asked together at most; by default 32, and for an endpoint what suits the time its answers take."
    reasons: bool = True
    "Make every reason minimal; without, fewer questions."
    values: bool = True
    "Find the least values; without, features stand at their best ones."
    strict: bool = True
    "Refuse a model that contradicts itself; without, go on and mark the result as unproved."

    def request(self) -> dict[str, Any]:
        """Return this as `Explainer.explain` takes it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}
