"""`flipset verify` and `flipset journal`: check a proof, and look at the scores it rests on."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explanation, FlipsetError, InputError, NotDecided, Verification, read_explanations
from flipset.boundary.limits import CHECK_STEPS
from flipset.boundary.printable import wrapped
from flipset.boundary.reading import read_file
from flipset.cli.exits import FAILED, LIMITED
from flipset.cli.files import InputFile, JournalFile, must_exist
from flipset.cli.options import Data, Model, ModelOptions, SpaceOptions, read_thresholds
from flipset.cli.printing import print_lines, width
from flipset.drivers.abandon import PatientCalls
from flipset.explain.time_limits import Deadline
from flipset.plural import count
from flipset.show.grounds import proved_given
from flipset.show.words import joined
from flipset.space.row_id import place_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flipset.cli.verifying import Verifier

    Predict = Callable[[Any], Any]

MODEL, SPACE = ModelOptions(), SpaceOptions()


def verify(
    proof: InputFile,
    model: Model | None = None,
    *,
    data: Data | None = None,
    thresholds: str | None = None,
    max_steps: int = CHECK_STEPS,
    max_seconds: float | None = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Check every field of an explanation, and replay its proof against the model. Exit code 1 if a check fails.

    A .jsonl file has many explanations: those that fail are listed, one line each, and counted.

    With --journal, the scores come from the journal, and the model is not asked: it only shows that the journal is
    about this model. Give --threshold, and --space or the options that the row was explained with: anything not given
    is taken from the file and listed as not checked.

    Example: flipset verify explanation.json model.ubj --space space.toml --data loans.csv

    Parameters
    ----------
    proof
        A file written by `flipset explain --proof` or `--json`, or a .jsonl file written by `flipset table`.
    model
        A model file or python:package.module:object; may be omitted with --journal.
    data
        The table that the row was explained with: it determines costs, grids and the types of the columns.
    thresholds
        The thresholds of a file that was made with --thresholds, such as 0.3,0.5,0.7: each explanation must have one.
    max_steps
        The largest number of steps for all checks together. A million steps take about 0.1 seconds.
    max_seconds
        Stop after this many seconds. Where the steps or the seconds run out, the result is NOT DECIDED.
    """
    from flipset.cli.verifying import open_verifier
    from flipset.results.verifying import Terms
    from flipset.search.solve import read_count

    if model is not None and model_options.endpoint.url is not None:
        raise InputError("give the model once: MODEL or --url")
    model = model or model_options.endpoint.url
    if model is None and model_options.journal is None:
        raise InputError("give a model, or --journal with its recorded scores")
    deadline = _deadline(max_seconds)
    stop = None if deadline is None else lambda: deadline.left() <= 0
    several = read_thresholds(thresholds) or ()
    limits = Terms(thresholds=several, steps=read_count("--max-steps", max_steps), stop=stop)
    with PatientCalls("flipset-verify") as patient:
        in_time = partial(_in_time, patient, deadline)
        open_it = partial(open_verifier, model, data, model_options, space_options, limits, in_time)
        if proof.suffix == ".jsonl":
            _verify_all(proof, open_it, names_model=model is not None)
        else:
            _verify_one(proof, open_it, stop, names_model=model is not None)


def _verify_one(
    proof: Path, open_it: Callable[[Explanation], Verifier], stop: Callable[[], bool] | None, *, names_model: bool
) -> None:
    from flipset.results.from_json import with_words
    from flipset.show.text import tell_claim
    from flipset.show.words import plain_words

    try:
        explanation = Explanation.from_json(read_file(proof), stop=stop)
    except NotDecided:
        raise NotDecided(f"{proof} could not be read within --max-seconds: allow more") from None
    checked = open_it(explanation)(explanation)
    # Words of the file that were not checked could say "approved" for "declined", or "income" for "debt".
    shown = explanation if "words" in checked.checked else with_words(explanation, plain_words(explanation))
    verdict = _verdict(shown, checked, width(), names_model=names_model)
    print_lines([*tell_claim(shown, width()), "", *verdict])
    if not checked:
        sys.exit(FAILED if checked.problems else LIMITED)


def _verify_all(path: Path, open_it: Callable[[Explanation], Verifier], *, names_model: bool) -> None:
    """Verify the explanations of a file one after another; only one of them is in memory."""
    verifier: Verifier | None = None
    rows = confirmed = 0
    unchecked: dict[str, str] = {}
    problems = Counter[str]()
    whose = Counter[str]()
    remarks = Counter[str]()
    for number, explanation in enumerate(read_explanations(path)):
        rows += 1
        if isinstance(explanation, FlipsetError):
            _print_once(place_text(number, explanation.id), str(explanation), problems)
            continue
        try:
            verifier = verifier or open_it(explanation)  # the first one says which columns there are
            checked = verifier(explanation)
        except InputError as error:
            if verifier is None:
                raise
            _print_once(place_text(number, explanation.id), str(error), problems)
            continue
        confirmed += bool(checked)
        whose[checked.about_model("{}")] += 1
        _count_remarks(checked, remarks)
        if checked:
            unchecked |= checked.not_checked
        else:
            _print_once(place_text(number, explanation.id), _failure(checked), problems)
    if not rows:
        raise InputError(f"{path} has no explanations")
    for text, more in problems.items():
        if more > 1:
            print_lines([f"{count(more - 1, 'more row')} with the same problem: {text}"])
    print_lines(text.format(count(number, "explanation")) for text, number in whose.items())
    _print_remarks(remarks)
    print_lines(_verdict_on_all(confirmed, rows, unchecked, width(), names_model=names_model))
    if confirmed < rows:
        sys.exit(FAILED)


def _count_remarks(checked: Verification, remarks: Counter[str]) -> None:
    for text in (checked.about_version("{}"), checked.about_directions("{}")):
        if text and (len(remarks) < MOST_PROBLEMS or text in remarks):
            remarks[text] += 1


def _print_remarks(remarks: Counter[str]) -> None:
    for text, number in remarks.most_common(MOST_REMARKS):
        print_lines(wrapped(text.replace("{}", count(number, "explanation"), 1), width()))


MOST_REMARKS = 5
"""The most remarks about other versions and about directions that are printed, those about most explanations first."""

MOST_PROBLEMS = 1_000
"""The most different problems of a file that are kept, to be recognised in later rows."""


def _print_once(place: str, problem: str, problems: Counter[str]) -> None:
    """Print what is wrong with a row, unless it was printed for another row, as for a file about another model."""
    text = " ".join(problem.split())
    if text not in problems:
        print_lines([f"{place}: {text}"])
    if text in problems or len(problems) < MOST_PROBLEMS:
        problems[text] += 1


def _failure(checked: Verification) -> str:
    if not checked.problems:
        return f"NOT DECIDED: {checked.not_checked['proof']}"
    more = f" ({count(len(checked.problems) - 1, 'more problem')})" if len(checked.problems) > 1 else ""
    return f"NOT CONFIRMED: {checked.problems[0]}{more}"


def _verdict_on_all(
    confirmed: int, rows: int, unchecked: Mapping[str, str], width: int, *, names_model: bool
) -> Iterator[str]:
    taken = _taken(unchecked, names_model=names_model) if confirmed else []
    source = f", with {joined(taken)} taken from the {'file' if names_model else 'files'}" if taken else ""
    verdict = f"{'CONFIRMED' if taken else 'PROVED'}{source}, given the condition that each of them names"
    text = f"{confirmed:,} of {count(rows, 'explanation')} {verdict}."
    yield from wrapped(text, width, further="  ")


def _taken(not_checked: Mapping[str, str], *, names_model: bool) -> list[str]:
    """Return what was taken from the file instead of being checked, as far as an option would change that."""
    unsure = {"moves": "the allowed ranges (give --space)", "threshold": "the threshold (give --threshold)"}
    taken = [words for name, words in unsure.items() if name in not_checked]
    return taken if names_model else [*taken, "the name of the model (give MODEL)"]


def _deadline(seconds: float | None) -> Deadline | None:
    """Return an end this many seconds from now."""
    if seconds is None:
        return None
    if not seconds >= 0:
        raise InputError(f"--max-seconds {seconds}: expected a number of at least 0")
    deadline = Deadline(seconds)
    deadline.left()  # from now on
    return deadline


def _in_time(patient: PatientCalls, deadline: Deadline | None, predict: Predict) -> Predict:
    """Return a model whose calls are abandoned when the time is over."""
    return predict if deadline is None else lambda rows: patient.call(deadline.left(), predict, rows)


def _verdict(e: Explanation, checked: Verification, width: int, *, names_model: bool) -> Iterator[str]:
    """Yield whether this is the same model, the result, and the conditions it depends on."""
    yield checked.about_model()
    yield from wrapped(checked.about_version(), width)
    yield from wrapped(checked.about_directions(), width)
    if checked.problems:
        yield "NOT CONFIRMED:"
        for problem in checked.problems:
            yield from wrapped(problem, width, "  ", "    ")
        return
    if checked.decided:
        taken = _taken(checked.not_checked, names_model=names_model)
        source = "file" if names_model else "files"
        verdict = f"CONFIRMED, with {joined(taken)} taken from the {source}" if taken else "PROVED"
        replayed = count(len(checked.answers), "query")
        text = f"{proved_given(e, verdict)}. The proof was replayed with {replayed}."
        yield from wrapped(text, width, further="  ")
    else:
        text = f"NOT DECIDED: {checked.not_checked['proof']}. Allow more with --max-steps, or without --max-seconds."
        yield from wrapped(text, width, further="  ")
    yield from checked.unchecked(width)


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

    must_exist(path)
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
