"""`flipset verify` and `flipset journal`: check a proof, and look at the scores it rests on."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Any

from flipset import Explanation, InputError, OracleError, Verification
from flipset.cli.exits import FAILED, LIMITED
from flipset.cli.files import InputFile, JournalFile
from flipset.cli.options import Data, Model, ModelOptions, SpaceOptions
from flipset.cli.printing import print_lines, width
from flipset.limits import CHECK_STEPS
from flipset.plural import count
from flipset.reading import read_file
from flipset.show.words import GIVEN, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset import Space
    from flipset.results.verifying import Terms

MODEL, SPACE = ModelOptions(), SpaceOptions()


def verify(
    proof: InputFile,
    model: Model | None = None,
    *,
    data: Data | None = None,
    max_steps: int = CHECK_STEPS,
    max_seconds: float | None = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Check every field of an explanation, and replay its proof against the model. Exit code 1 if a check fails.

    With --journal, the scores come from the journal, and the model is not asked: it only shows that the journal is
    about this model. Give --threshold, and --space or the options that the row was explained with: anything not given
    is taken from the file and listed as not checked.

    Example: flipset verify explanation.json model.ubj --space space.toml --data loans.csv

    Parameters
    ----------
    proof
        A file written by `flipset explain --proof` or `--json`.
    model
        A model file or python:package.module:object; may be omitted with --journal.
    data
        The table that the row was explained with: it determines costs, grids and the types of the columns.
    max_steps
        The largest number of steps for all checks together. A million steps take about 0.1 seconds.
    max_seconds
        Stop after this many seconds. Where the steps or the seconds run out, the result is NOT DECIDED.
    """
    from flipset.cli.inputs import fingerprint, open_model, positive_of
    from flipset.results.verifying import Terms
    from flipset.search.solve import read_count
    from flipset.show.text import tell_claim

    if model is not None and model_options.endpoint.url is not None:
        raise InputError("give the model once: MODEL or --url")
    explanation = Explanation.from_json(read_file(proof))
    model = model or model_options.endpoint.url
    if model is None and model_options.journal is None:
        raise InputError("give a model, or --journal with its recorded scores")
    fitted = None if model is None else open_model(model, model_options)
    positive = positive_of(fitted, model_options.positive)
    if model_options.journal is not None:
        identity = None if model is None else fingerprint(model, fitted)
        fitted = _recorded(model_options.journal, list(explanation.row), identity, positive)
        positive = None  # the recorded scores are those of the class already
    try:
        terms = Terms(steps=read_count("--max-steps", max_steps), stop=_deadline(max_seconds))
        checked = _verified(explanation, fitted, positive, data, model_options, space_options, terms)
    except OracleError as error:
        asked = model is not None and model_options.journal is None
        hint = "; a model that takes frames needs --data" if asked and data is None else ""
        raise InputError(f"{error}{hint}") from None
    print_lines([*tell_claim(explanation, width()), "", *_verdict(checked, width(), names_model=model is not None)])
    if not checked:
        sys.exit(FAILED if checked.problems else LIMITED)


def _verified(
    explanation: Explanation,
    model: Any,
    positive: Any,
    data: str | None,
    model_options: ModelOptions,
    space_options: SpaceOptions,
    limits: Terms,
) -> Verification:
    """Verify with the space, the table and the threshold that were given."""
    from flipset.cli.inputs import columns_of, make_space, read_data, read_space
    from flipset.cli.textcells import numbers_of
    from flipset.models import in_order_of, read_model, settle
    from flipset.results.verifying import verify_by
    from flipset.space.reference import Reference

    scorer = settle(
        read_model(model, positive), explanation.threshold
    )  # the same rounding rule as when the row was explained
    terms = replace(limits, threshold=scorer.threshold if scorer.has_own_threshold else None, whose="the model has")
    if model_options.threshold is not None:
        terms = replace(terms, threshold=model_options.threshold, whose="--threshold says")

    def verified(space: Space | None, table: Any = None, *, knows_values: bool = True) -> Verification:
        predict = in_order_of(scorer, tuple(explanation.row) if space is None else space.names)
        return verify_by(explanation, predict, replace(terms, space=space, knows_values=knows_values), table)

    if data is None:
        given = [one.name for one in fields(space_options) if getattr(space_options, one.name) and one.name != "space"]
        if given:
            raise InputError(f"--{given[0].replace('_', '-')} needs --data, the table that the row was explained with")
        return verified(None if space_options.space is None else read_space(space_options.space), knows_values=False)
    frame = read_data(data)
    if space_options != SPACE:
        space = make_space(model, frame, positive, space_options)
        return verified(space, space.reference)
    scales = [
        name for name, cell in explanation.row.items() if isinstance(cell, (int, float)) and not isinstance(cell, bool)
    ]
    table = Reference.of(numbers_of(columns_of(frame, list(explanation.row), "the explanation is about"), scales))
    if scorer.directions:
        # The space that follows from the model and the table may be the one that the row was explained with. Where it
        # is not, the explanation is not wrong, but its space remains unchecked.
        space = make_space(model, frame, positive, space_options)
        checked = verified(space, space.reference)
        if not any(problem.startswith(("moves:", "held_fixed:", "row:")) for problem in checked.problems):
            return checked
    return verified(None, table)


def _deadline(seconds: float | None) -> Callable[[], bool] | None:
    """Return a function that says whether this many seconds have passed since now."""
    if seconds is None:
        return None
    if not seconds >= 0:
        raise InputError(f"--max-seconds {seconds}: expected a number of at least 0")
    end = monotonic() + seconds
    return lambda: monotonic() >= end


def _verdict(checked: Verification, width: int, *, names_model: bool) -> Iterator[str]:
    """Yield the result, and the conditions it depends on."""
    if checked.problems:
        yield "NOT CONFIRMED:"
        for problem in checked.problems:
            yield from wrap(problem, width, initial_indent="  ", subsequent_indent="    ")
        return
    if checked.decided:
        unsure = {"moves": "the allowed ranges (give --space)", "threshold": "the threshold (give --threshold)"}
        taken = [words for name, words in unsure.items() if name in checked.not_checked]
        if not names_model:
            taken.append("the name of the model (give MODEL)")
        source = "file" if names_model else "files"
        verdict = f"CONFIRMED, with {joined(taken)} taken from the {source}" if taken else "PROVED"
        replayed = count(len(checked.answers), "query")
        text = f"{verdict}, {GIVEN}. The proof was replayed with {replayed}."
        yield from wrap(text, width, subsequent_indent="  ")
    else:
        text = f"NOT DECIDED: {checked.not_checked['proof']}. Allow more with --max-steps, or without --max-seconds."
        yield from wrap(text, width, subsequent_indent="  ")
    yield from checked.unchecked(width)


def _recorded(path: Path, columns: list[str], identity: str | None, positive: Any) -> Any:
    """Return the recorded model of a journal, which must be about this model and these columns."""
    from flipset.journal import FORMAT, Journal

    _must_exist(path)
    kept = Journal(path, model="")
    about = {part: kept.kept(part) for part in ("format", "columns", "model", "positive")}
    if about["format"] != FORMAT:
        raise InputError(f"{path} is not a flipset journal: its format is {about['format']}, expected {FORMAT}")
    if about["columns"] != json.dumps(columns):
        raise InputError(f"the journal {path} has the columns {about['columns']}, not {json.dumps(columns)}")
    expected = {} if identity is None else {"model": identity, "positive": repr(positive)}
    for part, value in expected.items():
        if about[part] != value:
            raise InputError(f"the journal {path} is about another {part}: {about[part]}, not {value}")
    print_lines([f"Scores are taken from the journal {path}, recorded for the model {about['model']}."])
    return kept.model()


def _must_exist(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no file {path}")


def journal(path: JournalFile, *, forget_before: datetime | None = None) -> None:
    """Show the contents of a journal, or delete old scores from it.

    Example: flipset journal answers.db --forget-before 2026-01-31

    Parameters
    ----------
    path
        The journal file.
    forget_before
        Delete scores that were recorded before this day.
    """
    from flipset import Journal

    _must_exist(path)
    kept = Journal(path, model="")
    if forget_before is not None:
        print_lines([f"Deleted: {count(kept.prune(_seconds_of(forget_before)), 'score')}."])
    about = list(kept.about())
    width = max(len(part) for part, _ in about)
    print_lines(f"{part:<{width}}  {value}" for part, value in about)


def _seconds_of(day: datetime) -> float:
    """Return a time in seconds since 1970, also at the ends of the calendar, where Python's own conversion fails."""
    try:
        return day.timestamp()
    except (ValueError, OverflowError, OSError):
        return (day.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
