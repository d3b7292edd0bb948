"""Explaining a table into a file, so that an interrupted run can be resumed.

Every result is added to a `.part` file beside the output as soon as it is known (`part_file.py`). The output is made
from that file at the end, so a resumed run writes the same output as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import BudgetExhausted, Explanation, Explanations, Fault, FlipsetError, InputError, WorkerLost
from flipset.boundary.outputs import check_writable
from flipset.cli.part_file import PartFile, is_error, open_part, row_digests
from flipset.cli.signals import keeping
from flipset.explain.explanations import kinds_of_results
from flipset.explain.request import request_for, wanted_decision
from flipset.explain.table import check_workers
from flipset.explain.table_budget import table_budget
from flipset.results.from_json import read_explanation, with_words
from flipset.search.solve import read_count
from flipset.space.identity import row_texts
from flipset.space.shared import Shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flipset import Explainer
    from flipset.explain.explanations import Shape
    from flipset.results.estimates import TableEstimate
    from flipset.space.ids import Ids

ENDINGS = (".csv", ".parquet", ".jsonl")


def explain_to_file(
    explainer: Explainer,
    frame: Any,
    output: Path,
    kind: dict[str, Any],
    request: dict[str, Any],
    settings: dict[str, Any],
    *,
    resume: bool,
    long: bool,
    raw_text: bool = False,
    ids: Ids | None = None,
    tidy: Mapping[Shape, Path] | None = None,
) -> Explanations:
    """Explain all rows of a frame and write them; with `resume`, take finished rows from an earlier run.

    `kind` identifies the model and how it is read; `settings` are arguments of `explain_table`. An earlier run must
    have had the same kind, rows, population and request; whether texts are written raw may differ, and so may the
    identifiers of the rows and the further tables, `tidy`.
    """
    tidy = tidy or {}
    if long and output.suffix == ".jsonl":
        raise InputError(f"{output}: --long needs .csv or .parquet; .jsonl has complete explanations")
    for shape, path in tidy.items():
        if path.suffix not in (".csv", ".parquet"):
            raise InputError(f"--{shape} {path}: expected a file ending in .csv or .parquet")
        check_writable(path)
    with _run(explainer, frame, output, kind, request, settings, resume=resume) as (table, part):
        try:
            try:
                _explain_rest(explainer, table, part, settings, request, ids)
            except InputError:
                part.remove()  # the request itself is wrong, so that its rows are of no use to a corrected one
                raise
            explanations = _explanations(part, table, explainer, ids)
            _write(explanations, output, part, long=long, raw_text=raw_text)
            for shape, path in tidy.items():
                _write(explanations, path, part, shape=shape, raw_text=raw_text)
        except (Fault, WorkerLost) as error:
            # The kind of the error decides the exit code, so it must not change with the words.
            raise type(error)(f"{error}. {_finished(part)}") from None
        except KeyboardInterrupt:
            print(f"flipset: {_finished(part)}", file=sys.stderr)
            raise
        # Only when the output is complete: until then, the `.part` file is all there is.
        part.remove()
    return explanations


@contextmanager
def _run(
    explainer: Explainer,
    frame: Any,
    output: Path,
    kind: dict[str, Any],
    request: dict[str, Any],
    settings: dict[str, Any],
    *,
    resume: bool,
) -> Iterator[tuple[Any, PartFile]]:
    """Refuse what can be refused before the first query is paid for; yield the table and its open `.part` file."""
    if output.suffix not in ENDINGS:
        raise InputError(f"{output}: expected a file ending in {', '.join(ENDINGS)}")
    only = settings.get("only")
    wanted_decision(explainer.space, only)
    request_for(explainer.space, **request)
    table_budget(settings["max_table_queries"], settings["max_table_seconds"])  # checks them before any work is done
    for name in ("workers", "width"):
        read_count(name, settings[name])
    check_workers(settings["workers"], explainer.endpoint, settings["max_table_queries"])
    check_writable(output)
    table = frame[list(explainer.space.table_columns)]
    rows = row_digests(row_texts(table))
    about = {**kind, "data": _hash(rows, explainer), "space": _hash_text(explainer), **request, "only": only}
    with open_part(output.with_name(output.name + ".part"), about, rows, resume=resume) as part:
        yield table, part


def estimate_in_file(
    explainer: Explainer,
    frame: Any,
    output: Path | None,
    kind: dict[str, Any],
    request: dict[str, Any],
    settings: dict[str, Any],
    sample: int,
    ids: Ids | None,
) -> TableEstimate:
    """Return what explaining a frame takes; with an output, keep the sample in its `.part` file, to resume from."""
    progress = sys.stderr.isatty()
    if output is None:
        table = frame[list(explainer.space.table_columns)]
        return explainer.estimate_table(table, sample=sample, id=ids, progress=progress, **settings, **request)
    with _run(explainer, frame, output, kind, request, settings, resume=False) as (table, part):

        def each(i: int, result: Explanation | FlipsetError) -> None:
            part.add(i, _entry(result))

        how = {"sample": sample, "id": ids, "each": each, "progress": progress, **settings, **request}
        try:
            with keeping(lambda: _finished(part)):
                return explainer.estimate_table(table, **how)
        except (Fault, WorkerLost) as error:
            raise type(error)(f"{error}. {_finished(part)}") from None


def _write(explanations: Explanations, output: Path, part: PartFile, **form: Any) -> None:
    try:
        explanations.write(output, **form)
    except InputError as error:
        hint = f"Nothing is lost: rename {part.path.name} to match another -o, and add --resume"
        raise InputError(f"{error}. {hint}") from None


def _finished(part: PartFile) -> str:
    """Say what is kept of a run that has ended too early, and how to go on."""
    if not part.done:
        return "No row is finished"
    rows = f"{len(part.done):,} of {len(part.rows):,} rows are finished and kept in {part.path}"
    return f"{rows}; to continue, give the same command with --resume"


def _explain_rest(
    explainer: Explainer,
    table: Any,
    part: PartFile,
    settings: dict[str, Any],
    request: dict[str, Any],
    ids: Ids | None,
) -> None:
    """Explain the rows that have no result yet; afterwards, all rows have one."""
    todo = [i for i in range(len(table)) if i not in part.done]

    def each(j: int, result: Explanation | FlipsetError) -> None:
        part.add(todo[j], _entry(result))

    progress = sys.stderr.isatty()
    with keeping(lambda: _finished(part)):
        own = None if ids is None else ids.part(todo)
        rest = table.iloc[todo].reset_index(drop=True)
        explanations = explainer.explain_table(rest, id=own, progress=progress, each=each, **settings, **request)
    # A fault is the result of each row that was not explained. None of them is in the file yet.
    fault = next((result for result in explanations if isinstance(result, Fault)), None)
    if fault is not None:
        raise fault
    # `explain_table` returns what is finished when it is interrupted. The command has to end as interrupted.
    if len(part.done) < len(table):
        raise KeyboardInterrupt


def _entry(result: Explanation | FlipsetError) -> dict[str, Any]:
    """Return a result as a line of the file has it."""
    # Identifiers come from the table when the output is written, so the file needs none.
    return _error_entry(result) if isinstance(result, FlipsetError) else replace(result, id=None).to_dict()


def _error_entry(error: FlipsetError) -> dict[str, Any]:
    """Return an error as a line of the file has it: its text, and whether a limit was reached."""
    return {"error": str(error)} | ({"limit": True} if isinstance(error, BudgetExhausted) else {})


def _error_in(entry: dict[str, Any]) -> FlipsetError:
    error = BudgetExhausted("") if "limit" in entry else FlipsetError()
    error.args = (entry["error"],)
    return error


def _explanations(part: PartFile, table: Any, explainer: Explainer, ids: Ids | None) -> Explanations:
    results: list[Explanation | FlipsetError] = []
    explained: set[bytes] = set()
    queries = rounds = 0
    # Results are read one by one, so equal parts are put together again, as they were when the rows were explained.
    shared = Shared()
    listed = None if ids is None else ids.listed()
    for place, entry in part.results():
        own = None if listed is None else listed[place]
        if is_error(entry):
            error = _error_in(entry)
            error.id = own
            results.append(error)
            continue
        e = with_words(Explanation(**read_explanation(entry, shared)), explainer.space.words)
        results.append(e if own is None else replace(e, id=own))
        if part.rows[place] not in explained:  # equal rows are scored once
            explained.add(part.rows[place])
            queries, rounds = queries + e.queries, max(rounds, e.rounds)
    kinds = kinds_of_results(explainer.space, table)
    return Explanations(tuple(results), explainer.space.names, queries, rounds, table, ids, kinds)


def _hash(rows: list[bytes], explainer: Explainer) -> str:
    """Return a hash of the rows and of the population behind them."""
    reference = explainer.space.reference
    names = () if reference is None else reference.names
    population = [] if reference is None else row_digests(row_texts(reference.frame.to_native()))
    about = json.dumps([explainer.space.names, names, len(rows)]).encode()
    return hashlib.sha256(b"".join([about, *rows, *population])).hexdigest()


def _hash_text(explainer: Explainer) -> str:
    # `repr`, because it tells all floats apart.
    text = explainer.space.to_json() + repr(explainer.threshold)
    return hashlib.sha256(text.encode()).hexdigest()
