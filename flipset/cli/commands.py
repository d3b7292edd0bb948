"""The commands. Each imports what it needs when it runs, so that --help is fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flipset.cli.exits import FAILED, end_if_limited
from flipset.cli.files import Writes
from flipset.cli.options import Data, Model, ModelOptions, SearchOptions, SpaceOptions
from flipset.cli.printing import print_lines, width
from flipset.explain.audit import BUDGET
from flipset.outputs import write_text

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
    row: int | None = None,
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
        The number of the row, counted from 0.
    where
        A condition that exactly one row meets, such as "id == 17 and region == 'north'".
    json
        Print the whole explanation as JSON.
    html
        Write an HTML report to this file.
    proof
        Write the explanation and its proof to this file, for `flipset verify`.
    """
    from flipset.cli.inputs import open_all, pick_row
    from flipset.show.text import tell

    opened = open_all(model, data, model_options, space_options)
    explainer, frame = opened.explainer, opened.frame
    place = pick_row(frame, row, where)
    explanation = explainer.explain(frame.iloc[[place]][list(explainer.space.names)], **search_options.request())
    if proof is not None:
        write_text(proof, explanation.to_json() + "\n")
    if html is not None:
        from flipset.show.report import report

        asked = f"row {place} of {opened.data}" if opened.data != "-" else f"row {place}"
        page = report(explanation, asked=asked, model=opened.model, identity=opened.identity, space=explainer.space)
        write_text(html, page)
    print_lines([explanation.to_json()] if json else [*tell(explanation, width()), *opened.bill])
    end_if_limited(explanation)


def space(
    model: Model | None = None,
    data: Data | None = None,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"]), Writes("a space")] = None,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Write a space file to edit: which features may change, and how far, as read from the model and the data.

    Example: flipset space model.cbm loans.csv -o space.toml

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The table that bounds are read from.
    output
        The file to write; without it, the space is printed.
    """
    from flipset.cli.inputs import given, make_space, open_model, positive_of, read_data

    spec, table = given(model, data, model_options)
    fitted, frame = open_model(spec, model_options), read_data(table)
    made = make_space(fitted, frame, positive_of(fitted, model_options.positive), space_options)
    text = _COMMENTS + made.to_toml()
    if output is None:
        print_lines([text.rstrip()])
    else:
        write_text(output, text)


_COMMENTS = """\
# Which features may change, and how far. Edit this file, then use it with --space.
#
#   direction     1: a higher value raises the score; -1: it lowers the score. A column without a
#                 direction is held fixed, unless it is categorical and has options.
#   lower, upper  the allowed range.
#   fixed         true: hold the column fixed.
#   step          values are multiples of this.
#   may_rise, may_fall  false: the column cannot move in that direction.
#   weight        how many changes a change of this column counts as.

"""


def audit(
    model: Model | None = None,
    data: Data | None = None,
    *,
    budget: int = BUDGET,
    model_options: ModelOptions = MODEL,
    space_options: SpaceOptions = SPACE,
) -> None:
    """Look for scores that contradict the directions. Exit code 1 unless every feature was compared and none does.

    Example: flipset audit model.skops loans.csv --budget 20000

    Parameters
    ----------
    model
        A model file or python:package.module:object; omit it with --url.
    data
        The rows to start from.
    budget
        The largest number of queries.
    """
    from flipset.cli.inputs import open_all

    opened = open_all(model, data, model_options, space_options)
    result = opened.explainer.audit(opened.frame[list(opened.explainer.space.names)], budget=budget)
    print_lines([*str(result).splitlines(), *opened.bill])
    if not result.passed:
        sys.exit(FAILED)


def bench() -> None:
    """Count queries on functions with known answers: the paper's search, ball search, and flipset's guided search.

    Example: flipset bench
    """
    from flipset.cli.bench import tell

    print_lines(tell())
