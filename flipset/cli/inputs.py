"""Reading what commands are given: the model, the data and the space. Every error names its cause and a remedy."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explainer, InputError, Journal, Space, load_model
from flipset.cli.option_values import items
from flipset.cli.rows import ids_of
from flipset.cli.space_inputs import columns_of, make_space
from flipset.cli.tablefiles import read_table
from flipset.cli.textcells import as_rows, read_number
from flipset.errors import Untrusted, first_line
from flipset.explain.threads import keep_process_on_one_thread
from flipset.models import Isolation, file_hash, labels_of
from flipset.models.most_likely import deciding_classes
from flipset.models.remote.address import is_address, shown
from flipset.plural import count

if TYPE_CHECKING:
    from flipset.cli.options import EndpointOptions, ModelOptions, SpaceOptions
    from flipset.space.ids import Ids
    from flipset.space.words import Decision


# --- models -----------------------------------------------------------------------------------------------------------


def given(model: str | None, data: str | None, model_options: ModelOptions) -> tuple[str, str]:
    """Return the model and the data; with --url, the only positional argument is the data."""
    url = model_options.endpoint.url
    if url is not None:
        if not is_address(url):
            raise InputError(f"--url {shown(url)}: expected http://... or https://...")
        model, data = (url, model) if data is None else (None, data)
        if model is None:
            raise InputError("give the model once: MODEL or --url")
    if model is None or data is None:
        raise InputError("give a model and a table: MODEL DATA, or --url URL DATA")
    return model, data


def open_model(spec: str, options: ModelOptions) -> Any:
    """Load a model from a file, import `python:package.module:object`, or make an endpoint of a URL."""
    # Options are refused before anything is opened: opening a model may take minutes, or run code.
    isolate = isolation(spec, options)
    if is_address(spec):
        return open_endpoint(spec, options.endpoint)
    # Only what was given: a default of the command line would override that of the object.
    settings = endpoint_settings(options.endpoint)
    if not spec.startswith("python:"):
        if settings:
            raise InputError(f"--{min(settings).replace('_', '-')} is an option for endpoints, and {spec} is a file")
        try:
            return load_model(spec, allow_pickle=options.allow_pickle, trusted=items(options.trusted), isolate=isolate)
        except Untrusted as error:
            option = f"--trusted {','.join(error.types)}" if error.types else "--allow-pickle"
            raise InputError(f"{error.problem} If you trust it: {option}") from None
    module, _, name = spec.removeprefix("python:").partition(":")
    if not module or not name:
        raise InputError(f"{spec}: expected python:package.module:object")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # not removed later, because workers need to find the module too
    try:
        loaded: Any = importlib.import_module(module)
        for part in name.split("."):
            loaded = getattr(loaded, part)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{spec} cannot be imported: {error}") from None
    if settings and not hasattr(loaded, "identity"):
        raise InputError(f"--{min(settings).replace('_', '-')} is an option for endpoints, and {spec} is not one")
    return replace(loaded, **settings) if settings else loaded


def isolation(spec: str, options: ModelOptions) -> bool | Isolation:
    """Return how the options isolate a model; refuse what cannot be isolated."""
    if not options.isolate:
        for name in ("open_seconds", "call_seconds"):
            if getattr(options, name) is not None:
                raise InputError(f"--{name.replace('_', '-')} needs --isolate")
        return False
    if is_address(spec) or spec.startswith("python:"):
        raise InputError("--isolate is for model files: give a file, or leave it out")
    limits = Isolation(call_seconds=options.call_seconds)
    return limits if options.open_seconds is None else replace(limits, open_seconds=options.open_seconds)


def open_endpoint(url: str, options: EndpointOptions) -> Any:
    """Make an endpoint; nothing is sent yet."""
    try:
        import httpx2  # noqa: F401
        import stamina
    except ImportError as error:
        raise InputError(f"an endpoint needs {error.name}: pip install 'flipset[remote]'") from None
    from flipset.models.remote.endpoint import Endpoint

    stamina.instrumentation.set_on_retry_hooks([])  # the bill reports retries
    return Endpoint(url, **endpoint_settings(options))


def endpoint_settings(options: EndpointOptions) -> dict[str, Any]:
    """Return the options of an endpoint as keyword arguments of `Endpoint`."""
    names = {"output_name": "output", "model_version": "version"}
    given = {names.get(one.name, one.name): getattr(options, one.name) for one in fields(options)}
    settings = {name: value for name, value in given.items() if value is not None and name not in ("url", "header_env")}
    if options.header_env:
        from flipset.models.remote.settings import EnvironmentHeaders

        variables = dict(text.partition("=")[::2] for text in items(options.header_env))
        for header, variable in variables.items():
            if not header or not variable:
                raise InputError(f"--header-env {header}: expected HEADER=VARIABLE, such as Authorization=SCORING_AUTH")
        settings["headers"] = EnvironmentHeaders(variables)
    return settings


def fingerprint(spec: str, model: Any) -> str:
    """Return the identity of a model: the hash of its file, or the version an endpoint reports.

    A Python object is identified by its import name and the hash of its module. What that module imports or loads is
    not part of it.
    """
    # Asked first: an endpoint knows its version, and the address alone would let two versions share a journal.
    if hasattr(model, "identity"):
        return str(model.identity())
    if not spec.startswith("python:"):
        return file_hash(spec)
    module = sys.modules.get(spec.removeprefix("python:").partition(":")[0])
    source = getattr(module, "__file__", None)
    return spec if source is None or not Path(source).is_file() else f"{spec} {file_hash(source)}"


def positive_of(model: Any, options: ModelOptions) -> Any:
    """Return the class or the column that --positive names, and how --decide uses it."""
    return deciding_classes(_class_or_column(model, options.positive), options.decide)


def _class_or_column(model: Any, text: str | None) -> Any:
    if text is None:
        return None
    labels = labels_of(model)
    if labels is not None:
        return labels.get(text, text)  # the error about another text names the classes
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


# --- data -------------------------------------------------------------------------------------------------------------


def read_data(spec: str, id_column: str | None = None) -> Any:
    """Read a table as a pandas frame, by the suffix of its name; `-` reads CSV from standard input.

    Identifiers are read as they stand in the file.
    """
    if spec != "-" and not Path(spec).is_file():
        raise InputError(f"there is no file {spec}")
    try:
        frame = read_table(spec, id_column)
    except ImportError as error:
        raise InputError(f"{spec} needs {error.name or 'pyarrow'}: pip install 'flipset[tables]'") from None
    except InputError:
        raise
    except Exception as error:  # the readers of other libraries raise anything
        raise InputError(f"{spec} cannot be read as a table: {first_line(error)}") from None
    if not len(frame) or not len(frame.columns):
        raise InputError(f"{spec} has no rows")
    # Names in space files and on the command line are texts. Parquet and JSON may have numbers as names.
    frame.columns = [str(column) for column in frame.columns]
    if id_column is not None and id_column not in (*frame.columns, *frame.index.names):
        columns = ", ".join(list(frame.columns)[:12])
        raise InputError(f"--id {id_column}: the data have no such column; they have {columns}")
    return frame


# --- both together ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """A model and its data, ready to be explained, with their names."""

    explainer: Explainer
    frame: Any
    model: str
    data: str
    id_column: str | None = None

    @cached_property
    def ids(self) -> Ids | None:
        """The identifiers of the rows; None if they have none."""
        return ids_of(self.frame, self.explainer.space, self.id_column)

    @cached_property
    def identity(self) -> str:
        """The identity of the model."""
        return fingerprint(self.model, self.explainer.endpoint)

    @property
    def bill(self) -> list[str]:
        """What was asked of the model beyond the count of queries, as text; empty if there is nothing to say."""
        bill = getattr(self.explainer.endpoint, "bill", None)  # an endpoint of another kind may not have one
        shared = self.explainer.shared_answers
        followed = [] if shared is None else [f"{count(shared.followed, 'answer')} followed from that on another row."]
        return [*followed, *([] if bill is None else [f"{bill}."])]


def open_all(
    spec: str | None,
    data: str | None,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    *,
    share_answers: bool = False,
) -> Opened:
    """Load the model and the data, and make the explainer."""
    spec, data = given(spec, data, model_options)
    model, frame = open_model(spec, model_options), read_data(data, space_options.id)
    space = make_space(model, frame, positive_of(model, model_options), space_options)
    ids_of(frame, space, space_options.id)  # refused before anything is asked
    # Cells are read as the population was read, so that a cell means the same in both.
    if space.reference is not None:
        frame = as_rows(frame, space.reference.only(space.names))
    frame = with_own_bounds(frame, space)
    opened = prepare(spec, model, space, model_options, frame, data, share_answers=share_answers)
    return replace(opened, id_column=space_options.id)


def with_own_bounds(frame: Any, space: Space) -> Any:
    """Return the data with texts read as numbers in the columns that have each row's own bounds."""
    own = [name for name in space.own_columns if name not in space.names]
    columns_of(frame, own, "bounds are read from")
    return frame.assign(**{name: frame[name].map(read_number, na_action="ignore") for name in own}) if own else frame


def prepare(
    spec: str,
    model: Any,
    space: Space,
    options: ModelOptions,
    frame: Any,
    data: str,
    *,
    share_answers: bool = False,
) -> Opened:
    """Make the explainer of a model that was opened."""
    # After the model is opened, because only libraries that are loaded can be limited.
    keep_process_on_one_thread()
    explainer = Explainer(
        model,
        space,
        threshold=options.threshold,
        decision=decision_of(space.decision, options),
        positive=positive_of(model, options),
        journal=None if options.journal is None else Journal(options.journal, model=fingerprint(spec, model)),
        identity=None if hasattr(model, "identity") else fingerprint(spec, model),
        audit=options.audit,
        share_answers=share_answers,
    )
    return Opened(explainer, frame, shown(spec) if is_address(spec) else spec, data)


def decision_of(decision: Decision, options: ModelOptions) -> Decision:
    """Return the decision of a space, with the words that options give."""
    outcomes = items(options.outcomes, ())
    if outcomes and len(outcomes) != 2:
        raise InputError(f"--outcomes {','.join(options.outcomes)}: expected two words, such as declined,approved")
    given: dict[str, Any] = {
        "favorable": options.favorable,
        "outcomes": tuple(outcomes),
        "score_label": options.score_label,
    }
    return replace(decision, **{name: value for name, value in given.items() if value})
