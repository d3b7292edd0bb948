"""Options that several commands share, in the form that cyclopts reads."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from cyclopts import Parameter

from flipset.cli.files import InputFile, JournalFile, Reads
from flipset.errors import InputError
from flipset.search.solve import MAX_FLIPSETS
from flipset.search.wanted_reasons import REASONS

Model = Annotated[str, Reads()]
Data = Annotated[str, Parameter(allow_leading_hyphen=True), Reads()]  # "-" is standard input


@Parameter(name="*", group="Endpoint", negative_iterable="")
@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How to call a scoring endpoint."""

    url: str | None = None
    "Use this URL instead of MODEL: .../v2/models/NAME/infer (Open Inference Protocol) or .../invocations (MLflow)."
    header_env: list[str] = field(default_factory=list)
    "A header to send and the environment variable that holds it, such as Authorization=SCORING_AUTH."
    output_name: str | None = None
    "The output to use as the score, if the endpoint has several."
    model_version: str | None = None
    "The version of the model, for journals and reports, if the endpoint does not report it."
    in_flight: int | None = None
    "The largest number of requests in flight at a time."
    rows_per_call: int | None = None
    "The largest number of rows in a request."
    rate: float | None = None
    "The largest number of requests per second."
    timeout: float | None = None
    "Seconds after which a request times out."
    attempts: int | None = None
    "How many times a request is sent before a temporary fault counts as permanent."
    max_sent: int | None = None
    "The largest number of rows to send in total, including rows sent again."
    price_per_call: float | None = None
    "The price of a request, to report the total."
    price_per_row: float | None = None
    "The price of a row, to report the total."
    ca: InputFile | None = None
    "A file with CA certificates to trust."
    proxy: str | None = None
    "The address of a proxy to send requests through; it must not contain a password."
    trust_env: Annotated[bool | None, Parameter(negative="")] = None
    "Use the proxies and the CA certificates that environment variables name; by default, they are ignored."
    allow_plain_http: Annotated[bool | None, Parameter(negative="")] = None
    "Send headers, or an address with ?, to another machine without encryption."


@Parameter(name="*", group="Model", negative_iterable="")
@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to read the model."""

    threshold: float | None = None
    "The decision changes where the score reaches this; by default, the space's threshold or the model's own."
    favorable: str | None = None
    '"above": scores that reach the threshold are approved. "below": lower scores are, as with a default risk.'
    outcomes: list[str] = field(default_factory=list)
    "The words for the two outcomes, the unfavorable one first; by default declined,approved."
    score_label: str | None = None
    'What the score is called, such as "probability of default".'
    audit: int | None = None
    "Compare pairs of rows first, with at most this many queries, so that directions are not taken on trust."
    positive: str | None = None
    "The class whose probability is the score; by default, the second of two classes."
    decide: str = "probability"
    '"probability" of the class, or "argmax": a row is decided for its most likely class.'
    allow_pickle: Annotated[bool, Parameter(negative="")] = False
    "Load pickles, joblib files and MLflow folders. They can run any code: use this only for files that you trust."
    trusted: list[str] = field(default_factory=list)
    "Types that a .skops file may contain in addition to those known to run no code."
    isolate: Annotated[bool, Parameter(negative="")] = False
    "Open and ask a model file in a process of its own, so that a damaged or hostile file cannot crash this one."
    open_seconds: float | None = None
    "With --isolate, seconds that opening the file may take; by default 120."
    call_seconds: float | None = None
    "With --isolate, seconds that one call of the model may take before its process is killed; by default, no limit."
    journal: JournalFile | None = None
    "A file that keeps every score of the model; rows that are in it are not scored again."
    endpoint: Annotated[EndpointOptions, Parameter(name="*", group="Endpoint")] = field(default_factory=EndpointOptions)
    "How to call a scoring endpoint."


@Parameter(name="*", group="Allowed changes", negative_iterable="")
@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """Which features may change, and how far. Separate lists by commas, or repeat the option."""

    space: InputFile | None = None
    "A space file, as `flipset space` writes it; --fix, --within, --bounds, --max-rise, --constraint ... change it."
    increasing: list[str] = field(default_factory=list)
    "Columns in which a higher value raises the score; directions that the model has need not be repeated."
    decreasing: list[str] = field(default_factory=list)
    "Columns in which a higher value lowers the score."
    fix: list[str] = field(default_factory=list)
    "Columns to hold fixed."
    within: list[str] = field(default_factory=list)
    "The only columns and groups that may change."
    bounds: list[str] = field(default_factory=list)
    "Allowed ranges, such as income=20:90; either side may be empty, or a column with each row's own bound."
    max_rise: list[str] = field(default_factory=list)
    "How much columns may rise at most, from where they are, such as income=5000 or income=20%."
    max_fall: list[str] = field(default_factory=list)
    "How much columns may fall at most, from where they are."
    constraint: list[str] = field(default_factory=list)
    'A rule between columns that every option keeps, such as "late_90 <= late_60"; repeat it for further rules.'
    step: list[str] = field(default_factory=list)
    "Steps of values, such as income=5; by default, from the data. income=seen, or seen, takes the values in the data."
    categorical: list[str] = field(default_factory=list)
    "Columns without an order that may take any value in the data."
    special: list[str] = field(default_factory=list)
    "Codes that are no amounts, such as late=-7,-8 or *=-7,-8,-9 for all columns; repeat it for further columns."
    only_rising: list[str] = field(default_factory=list)
    "Columns that can only rise, such as age."
    only_falling: list[str] = field(default_factory=list)
    "Columns that can only fall."
    quantiles: str | None = None
    "Bounds for all columns as quantiles of the data, such as 0.05:0.95; by default, the minimum and the maximum."
    drop: list[str] = field(default_factory=list)
    "Columns to withhold from the model, such as a label."
    id: str | None = None
    "A column that identifies rows in every output, exactly as it is in the data; it is withheld from the model."


@Parameter(name="*", group="Search", negative_iterable="")
@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What to search for, and the limits of the search."""

    max_changes: int | None = None
    "Consider options with at most this many changes."
    max_flipsets: int = MAX_FLIPSETS
    "List at most this many options; 0 lists all. The number of changes is proved in any case."
    objective: str = "size"
    '"size": the fewest changes. "cost": the cheapest changes.'
    max_queries: int | None = None
    "Stop after this many queries, and report what is proved by then."
    max_seconds: float | None = None
    "Stop after this many seconds, and report what is proved by then."
    batch: int | None = None
    "Queries for one row in a call, at most; by default 32, or chosen from the response time of an endpoint."
    reasons: Annotated[str | bool, Parameter(negative="--no-reasons")] = str(REASONS)
    "Report at most this many reasons; all those of the whole proof, none. --no-reasons is none, and takes the fewest."
    values: bool = True
    "Find the smallest changes of values. --no-values reports the best allowed values."
    exact: Annotated[bool, Parameter(negative="")] = False
    "Find values of columns without a step to the last number, not only among the values in the data."
    strict: bool = True
    "Stop if the model contradicts the directions. --no-strict continues and marks the result as unproved."

    max_options: int | None = None
    "List this many options, such as 3: the cheapest. The flip sets and the proof stay complete."
    diverse: Annotated[bool, Parameter(negative="")] = False
    "With --max-options, choose options that share few features, the cheapest among them."
    more: int | None = None
    "Also list this many options with more changes than needed, such as 5; no part of one of them is enough."
    curve: Annotated[bool, Parameter(negative="")] = False
    "Also list the cheapest option with at most 1, 2, 3 ... changes: the cost of fewer changes."
    thresholds: str | None = None
    "Several thresholds instead of one, such as 0.3,0.5,0.7 for rating grades; they share the scores of rows."

    def request(self) -> dict[str, Any]:
        """Return this as `Explainer.explain` takes it."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        given["options"] = given.pop("max_options")  # `flipset table --options` names a file
        return given | {
            "thresholds": read_thresholds(self.thresholds),
            "reasons": read_wanted_reasons(self.reasons),
            "max_flipsets": self.max_flipsets or None,
        }


def read_thresholds(text: str | None) -> tuple[float, ...] | None:
    """Read the numbers of --thresholds; None if it was not given."""
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--thresholds {text}: expected numbers separated by commas, such as 0.3,0.5,0.7") from None


def read_wanted_reasons(given: str | bool) -> bool | int | str:
    """Read the value of --reasons; the option alone, without a value, is the default."""
    word = str(given).lower()
    if word in ("all", "none", "true", "false"):
        words: dict[str, bool | int | str] = {"all": "all", "none": False, "true": REASONS, "false": False}
        return words[word]
    if not word.isdecimal() or int(word) < 1:
        raise InputError(f"--reasons {given}: expected a number of at least 1, all or none")
    return int(word)
