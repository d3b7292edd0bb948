"""The commands. Each imports what it needs when it runs, so that --help is fast."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from flipset.boundary.outputs import write_text
from flipset.cli.exits import FAILED, end_if_limited
from flipset.cli.files import Writes
from flipset.cli.options import Data, Model, ModelOptions, SearchOptions, SpaceOptions
from flipset.cli.printing import print_lines, width
from flipset.errors import InputError
from flipset.explain.audit import BUDGET
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flipset import ByThreshold, Explanation, Space
    from flipset.models import Scorer
    from flipset.models.monotone.shown import Suggested

MODEL, SPACE, SEARCH = ModelOptions(), SpaceOptions(), SearchOptions()


def demo(*, save: Annotated[Path, Writes("a folder", folder=True)] | None = None) -> None:
    """Explain one real declined mortgage application, then the table it comes from.

    Example: flipset demo

    Parameters
    ----------
    save
        Write the applications and their space to this folder instead, to try the other commands on.
    """
    from flipset import demo

    print_lines(demo.tell() if save is None else demo.save(save))


def explain(
    model: Model | None = None,
    data: Data | None = None,
    *,
    row: Annotated[str, Parameter(allow_leading_hyphen=True)] | None = None,
    where: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    html: Annotated[Path, Writes("a report")] | None = None,
    proof: Annotated[Path, Writes("an explanation")] | None = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
    search_options: SearchOptions = SEARCH,
) -> None:
    """Explain the decision for one row.

    Example: flipset explain model.ubj loans.csv --row 17 --decreasing debt --increasing income

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The table with the row; also the population that costs refer to.
    row
        The number of the row, counted from 0; with --id, its identifier.
    where
        A condition that exactly one row meets, such as "id == 17 and region == 'north'".
    json
        Print the whole explanation as JSON.
    html
        Write an HTML report to this file.
    proof
        Write the explanation and its proof to this file, for `flipset verify`.
    """
    from flipset.cli.inputs import open_all
    from flipset.cli.rows import pick_row
    from flipset.show.text import tell

    opened = open_all(model, data, model_options, space_options)
    explainer, frame = opened.explainer, opened.frame
    ids = None if opened.ids is None else opened.ids.listed()
    place = pick_row(frame, row, where, None if space_options.id is None else ids)
    own = None if ids is None else ids[place]
    request = search_options.request()
    cells = frame.iloc[[place]][list(explainer.space.table_columns)]
    if request["thresholds"] is not None:
        _refuse_one_file(html, proof)
        several = explainer.explain(cells, id=own, **request)
        lines = [e.to_json() for e in several]
        if proof is not None:
            write_text(proof, "".join(f"{line}\n" for line in lines))
        print_lines(lines if json else [*_tell_thresholds(several), *opened.bill])
        for e in several:
            end_if_limited(e)
        return
    explanation = explainer.explain(cells, id=own, **request)
    if proof is not None:
        write_text(proof, explanation.to_json() + "\n")
    if html is not None:
        from flipset.show.report import report

        asked = f"row {place} of {opened.data}" if opened.data != "-" else f"row {place}"
        page = report(explanation, asked=asked, model=opened.model, identity=opened.identity, space=explainer.space)
        write_text(html, page)
    print_lines([explanation.to_json()] if json else [*tell(explanation, width()), *opened.bill])
    end_if_limited(explanation)


def _refuse_one_file(html: Path | None, proof: Path | None) -> None:
    """Refuse outputs that hold one explanation, where there are several thresholds."""
    if html is not None:
        raise InputError("--html is a report on one threshold: give --threshold instead of --thresholds")
    if proof is not None and proof.suffix != ".jsonl":
        raise InputError(f"--proof {proof}: with --thresholds it needs a file ending in .jsonl, one line for each")


def _tell_thresholds(several: ByThreshold[Explanation]) -> Iterator[str]:
    """Yield the explanation for each threshold, and what they took together."""
    from flipset.show.text import tell
    from flipset.values.change import show_threshold

    for threshold, e in zip(several.thresholds, several, strict=True):
        yield from (f"Threshold {show_threshold(threshold)}", "", *tell(e, width()), "")
    alone = sum(e.queries for e in several)
    yield f"{count(several.queries, 'query')} for all thresholds together; one by one, they take {alone:,}."


def space(
    model: Model | None = None,
    data: Data | None = None,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"]), Writes("a space")] = None,
    suggest: Annotated[bool, Parameter(negative="")] = False,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Write a space file to edit: which features may change, and how far, as read from the model and the data.

    Directions come from the constraints that the model was fitted with, or from its trees or coefficients where these
    show them. A comment at each column says which.

    Example: flipset space model.cbm loans.csv -o space.toml

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The table that bounds are read from.
    output
        The file to write; without it, the space is printed.
    suggest
        Also look for rules between columns, such as late_90 <= late_60, and write those that hold as comments.
    """
    from flipset.cli.inputs import decision_of, given, open_model, positive_of, read_data
    from flipset.cli.space_inputs import make_space
    from flipset.cli.word_hints import decision_hints, hints_for
    from flipset.models.monotone.show import kept_constraints, suggest_directions
    from flipset.space.codes import code_hints

    spec, table = given(model, data, model_options)
    fitted, frame = open_model(spec, model_options), read_data(table, space_options.id)
    notes: dict[str, str] = {}

    def directions(scorer: Scorer, columns: Sequence[str]) -> Mapping[str, int]:
        suggested = suggest_directions(scorer, columns)
        notes.update(_notes(suggested, kept_constraints(scorer, columns)))
        return suggested.directions

    made = make_space(fitted, frame, positive_of(fitted, model_options), space_options, directions)
    decision = decision_of(made.decision, model_options)
    if model_options.threshold is not None:
        decision = replace(decision, threshold=model_options.threshold)
    made = made.with_decision(decision)
    hints = {name: [*lines, *code_hints(name, made.seen(name))] for name, lines in hints_for(made).items()}
    # The decision comes before the tables of features and groups.
    start, table_mark, rest = made.to_toml(notes, hints).partition("\n[[")
    # The list of constraints is a key of the whole file, so it stands before the first table.
    head, _, about = start.rstrip().partition("\n")
    rules = ["", *_rules(made)] if suggest else []
    text = "\n".join([f"{_COMMENTS}{head}", *rules, about, *decision_hints(decision), f"{table_mark}{rest}"])
    if output is None:
        print_lines(text.rstrip().split("\n"))
    else:
        write_text(output, text)


def _rules(space: Space) -> list[str]:
    """Return the rules between columns that hold in the table of a space, as lines that are commented out."""
    from flipset.space.suggestions import suggest_constraints, suggestion_lines

    if space.reference is None:
        return []
    frame = space.reference.frame.select(list(space.names)).to_native()
    special = {feature.name: feature.special for feature in space.features}
    return suggestion_lines(suggest_constraints(frame, special=special))


_COMMENTS = """\
# Which features may change, and how far. Edit this file, then use it with --space.
#
# The comment at a column says what is known about its direction: proved from the model's own trees
# or coefficients, declared as a constraint when the model was fitted, or neither. Ranges are
# suggestions: they are read from the table, not from the model.
#
#   direction     1: a higher value raises the score; -1: it lowers the score. A column without a
#                 direction is held fixed, unless it is categorical and has options.
#   lower, upper  the allowed range.
#   fixed         true: hold the column fixed.
#   step          values are multiples of this, between the bounds. It was read from the data unless it
#                 was given; without a step, values are those in the data.
#   may_rise, may_fall  false: the column cannot move in that direction.
#   weight        how many changes a change of this column counts as.
#   max_rise, max_fall  the most that the value of a row may move: 5000, or "20 %" of it.
#   lower_from, upper_from  columns of the table with each row's own bounds; the model does not see them.
#   special       codes that are no amounts, such as -9. A row keeps its code, unless it is in may_leave.
#   missing       "may be filled": a missing value may become another one; by default it stays missing.
#
# Words for people are at each column and in [decision], commented out: remove the # and fill them in.

"""


def _notes(suggested: Suggested, declared: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield for columns of a model what its own structure shows about their directions."""
    for name, direction in suggested.directions.items():
        yield name, f"Proved from the model itself: the score {'rises' if direction > 0 else 'falls'} with {name}."
    for name in suggested.unused:
        known = " It was fitted with this direction." if name in declared else ""
        yield name, f"The model does not use {name}: no value of it changes a score.{known}"
    for name, why in suggested.why_not.items():
        if name in declared:
            yield name, f"Not proved: {why}. The model was fitted with this direction as a constraint."
        else:
            yield name, f"No direction is proved: {why}. Add one if you know it."


def audit(
    model: Model | None = None,
    data: Data | None = None,
    *,
    budget: int = BUDGET,
    everything: Annotated[bool, Parameter(negative="")] = False,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Look for scores that contradict the directions. Exit code 1 unless every feature is proved or was compared.

    First it says which directions are proved from the model itself, and why others are not. Then it compares pairs of
    rows for those that are left. A pair in the wrong order is printed, and the exit code is 1.

    Example: flipset audit model.skops loans.csv --budget 20000

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The rows to start from.
    budget
        The largest number of queries.
    everything
        Compare pairs for proved directions, too.
    """
    from flipset.cli.inputs import open_all

    opened = open_all(model, data, replace(model_options, audit=None), space_options)
    explainer = opened.explainer
    result = explainer.audit(opened.frame[list(explainer.space.names)], budget=budget, everything=everything)
    print_lines([*str(explainer.monotonicity).splitlines(), "", *str(result).splitlines(), *opened.bill])
    if not result.passed:
        sys.exit(FAILED)


def bench() -> None:
    """Count queries on functions with known answers: the paper's search, ball search, and flipset's guided search.

    Example: flipset bench
    """
    from flipset.cli.bench import tell

    print_lines(tell())
