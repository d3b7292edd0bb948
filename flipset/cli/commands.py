"""The commands. What they need is imported when they run, so that help is there at once."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from flipset import Explanation, InputError, OracleError
from flipset.audit import BUDGET
from flipset.cli.options import ModelOptions, SearchOptions, SpaceOptions
from flipset.cli.outputs import keep, write_text
from flipset.together import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable

Data = Annotated[str, Parameter(allow_leading_hyphen=True)]  # "-" is standard input
MODEL, SPACE, SEARCH = ModelOptions(), SpaceOptions(), SearchOptions()


def demo(*, save: Path | None = None) -> None:
    """Explain one real declined mortgage application, then the whole table it comes from.

    Example: flipset demo

    Parameters
    ----------
    save
        Instead, write the applications and what may change in them to this folder, to try the other commands on.
    """
    from flipset import demo

    _print(demo.tell() if save is None else demo.save(save))


def explain(
    model: str,
    data: Data,
    *,
    row: int | None = None,
    where: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    html: Path | None = None,
    proof: Path | None = None,
    how: ModelOptions = MODEL,
    what: SpaceOptions = SPACE,
    search: SearchOptions = SEARCH,
) -> None:
    """Explain the decision on one row.

    Example: flipset explain model.ubj loans.csv --row 17 --decreasing debt --increasing income

    Parameters
    ----------
    model
        A model file, or python:package.module:object.
    data
        The table that holds the row, and the population that values and costs are about.
    row
        The number of the row, from 0.
    where
        A condition that one row meets, as "id == 17".
    json
        Print the whole explanation as JSON.
    html
        Write a report to this file, to be read or filed.
    proof
        Write the explanation with its proof to this file, for `flipset verify`.
    """
    from flipset.cli.inputs import open_all, pick_row
    from flipset.words import tell

    keep([model, data], html, proof)
    explainer, frame = open_all(model, data, how, what)
    place = pick_row(frame, row, where)
    found = explainer.explain(frame.iloc[[place]][list(explainer.space.names)], **_request(search))
    if proof is not None:
        write_text(proof, found.to_json() + "\n")
    if html is not None:
        from flipset.cli.inputs import fingerprint
        from flipset.report import report

        asked = f"row {place} of {data}" if data != "-" else f"row {place}"
        write_text(html, report(found, asked=asked, model=model, identity=fingerprint(model), space=explainer.space))
    _print([found.to_json()] if json else tell(found, _width()))


def space(
    model: str,
    data: Data,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    how: ModelOptions = MODEL,
    what: SpaceOptions = SPACE,
) -> None:
    """Write what may change, and how far, to a file to edit: everything that can be read off the model and the data.

    Example: flipset space model.cbm loans.csv -o space.toml

    Parameters
    ----------
    model
        A model file, or python:package.module:object.
    data
        The table that bounds are read off.
    output
        The file to write; by default it is printed.
    """
    from flipset.cli.inputs import make_space, open_model, positive_of, read_data

    keep([model, data], output)
    fitted, frame = open_model(model, how), read_data(data)
    made = make_space(fitted, frame, positive_of(fitted, how.positive), what)
    text = _COMMENTS + made.to_toml()
    if output is None:
        _print([text.rstrip()])
    else:
        write_text(output, text)


_COMMENTS = """\
# What may change, and how far. Edit, then use it with --space.
#
#   direction     1: more of it raises the score; -1: lowers it. Without one, a column is held fixed,
#                 unless it is categorical and has options.
#   lower, upper  how far it may move.
#   fixed         true: leave it alone.
#   step          values move in steps of this.
#   may_rise, may_fall  false: it cannot move that way.
#   weight        a change counts so many times.

"""


def table(
    model: str,
    data: Data,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    workers: int = 1,
    width: int = WIDTH,
    resume: Annotated[bool, Parameter(negative="")] = False,
    limit: int | None = None,
    by: str | None = None,
    long: Annotated[bool, Parameter(negative="")] = False,
    html: Path | None = None,
    how: ModelOptions = MODEL,
    what: SpaceOptions = SPACE,
    search: SearchOptions = SEARCH,
) -> None:
    """Explain all rows of a table, and print what they say together.

    Example: flipset table model.txt loans.csv.gz -o advice.csv --by region --workers 2

    Parameters
    ----------
    model
        A model file, or python:package.module:object.
    data
        The table; also the population that values and costs are about.
    output
        Where to write: .csv, .parquet or .jsonl (whole explanations).
    workers
        How many processes to use.
    width
        How many rows are under way at a time; they are asked about together.
    resume
        Go on with a run that was ended: rows that are done are not asked again.
    limit
        Explain the first rows only.
    by
        A column of the data by whose values to compare.
    long
        One row for each counterfactual instead of one for each explanation.
    html
        Write a report on the whole table to this file.
    """
    from flipset.cli.inputs import fingerprint, open_all
    from flipset.cli.resumable import explain_to_file
    from flipset.words import tell_groups, tell_summary

    keep([model, data], output, html)
    explainer, frame = open_all(model, data, how, what)
    if by is not None and by not in frame.columns:
        raise InputError(f"--by {by}: the data have no such column; they have {', '.join(list(frame.columns)[:12])}")
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: expected at least 1")
    chosen = frame if limit is None else frame.iloc[:limit]
    identity = fingerprint(model)
    kind = {"model": identity, "positive": how.positive}
    found = explain_to_file(
        explainer, chosen, output, kind, _request(search), resume=resume, workers=workers, width=width, long=long
    )
    lines = list(tell_summary(found.summary(), _width()))
    groups = {} if by is None else found.summary_by(chosen[by].tolist())
    if groups:
        lines += ["", *tell_groups(groups)]
    _print([*lines, "", f"Written to {output}. Rows asked: {found.queries:,}."])
    if html is not None:
        from flipset.report import report_table

        write_text(html, report_table(found, asked=data, model=model, identity=identity, groups=groups))


def audit(
    model: str,
    data: Data,
    *,
    budget: int = BUDGET,
    how: ModelOptions = MODEL,
    what: SpaceOptions = SPACE,
) -> None:
    """Look for answers of the model that contradict the directions. Exit code 1 if there are any.

    Example: flipset audit model.skops loans.csv --budget 20000

    Parameters
    ----------
    model
        A model file, or python:package.module:object.
    data
        The rows to start from.
    budget
        How many rows may be asked.
    """
    from flipset.cli.inputs import open_all

    explainer, frame = open_all(model, data, how, what)
    found = explainer.audit(frame[list(explainer.space.names)], budget=budget)
    _print(str(found).splitlines())
    if not found.passed:
        sys.exit(1)


def verify(
    proof: Path,
    model: str | None = None,
    *,
    data: str | None = None,
    how: ModelOptions = MODEL,
) -> None:
    """Replay a proof: check what an explanation claims, and ask the model its questions again. Exit code 1 if it fails.

    Without a model, but with --journal, the answers come from the journal.

    Example: flipset verify explanation.json model.ubj

    Parameters
    ----------
    proof
        A file that `flipset explain --proof` or `--json` wrote.
    model
        A model file, or python:package.module:object.
    data
        A table with the types of the columns, for models that need frames with particular types.
    """
    from flipset.cli.inputs import open_model, positive_of, read_data
    from flipset.words import claim

    try:
        text = proof.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{proof} cannot be read: {error}") from None
    found = Explanation.from_json(text)
    if model is None:
        fitted, positive = _recorded(how), None
    else:
        fitted = open_model(model, how)
        positive = positive_of(fitted, how.positive)
    if data is None:
        try:
            holds = found.verify(fitted, positive=positive)
        except OracleError as error:
            hint = "; a model that takes frames needs --data" if model is not None else ""
            raise InputError(f"{error}{hint}") from None
    else:
        holds = _typed(found, fitted, positive, read_data(data))
    asked = f"{len(found.proof.questions)} questions of the proof, {len(found.counterfactuals)} counterfactuals."
    _print([f"Claim: {claim(found)}.", asked])
    _print(["PROVED: the model answers all of them as claimed." if holds else "NOT CONFIRMED."])
    if not holds:
        sys.exit(1)


def _recorded(how: ModelOptions) -> Any:
    """Return the model of a journal that is there."""
    from flipset import Journal

    if how.journal is None:
        raise InputError("say which model to ask, or with --journal where its answers are written")
    _must_exist(how.journal)
    return Journal(how.journal, model="").model()


def _must_exist(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no file {path}")


def journal(path: Path, *, forget_before: datetime | None = None) -> None:
    """Show what a journal is about and how much is in it, or forget old answers.

    Example: flipset journal answers.db --forget-before 2026-01-31

    Parameters
    ----------
    path
        The file that --journal named.
    forget_before
        Forget answers that were written before this day.
    """
    from flipset import Journal

    _must_exist(path)
    kept = Journal(path, model="")
    if forget_before is not None:
        _print([f"Forgotten: {kept.prune(forget_before.timestamp()):,} answers."])
    _print(f"{part:<9} {value}" for part, value in kept.about())


def _typed(found: Explanation, model: Any, positive: Any, frame: Any) -> bool:
    """Verify with frames of the types that the data have."""
    from flipset import Explainer, Feature, Space
    from flipset.cli.inputs import columns_of

    table = columns_of(frame, list(found.row), "the explanation is about")
    space = Space([Feature(name, fixed=True) for name in found.row], reference=table)
    return Explainer(model, space, threshold=found.threshold, positive=positive).verify(found)


def bench() -> None:
    """Count questions on functions with known answers: the paper's search, ball search, and the default engine.

    Example: flipset bench
    """
    from flipset.bench import tell

    _print(tell())


# --- common -----------------------------------------------------------------------------------------------------------


def _request(search: SearchOptions) -> dict[str, Any]:
    return {name: getattr(search, name) for name in SearchOptions.__dataclass_fields__}


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _width() -> int:
    return max(40, min(120, shutil.get_terminal_size((80, 24)).columns))
