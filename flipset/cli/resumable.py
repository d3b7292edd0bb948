"""Explaining a table into a file, so that an interrupted run can be resumed.

Every result is appended to a `.part` file beside the output as soon as it is known. The output is made from the `.part`
file at the end, so a resumed run writes the same output as an uninterrupted one. A run that a fault or an interrupt
ends keeps that file, and says where it is and how to go on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explanation, Explanations, Fault, FlipsetError, InputError, StorageError, WorkerLost
from flipset.cli.outputs import whole_file
from flipset.errors import is_disk_fault
from flipset.explain.request import request_for
from flipset.explain.table import check_workers
from flipset.results.written import mark_flags
from flipset.search.solve import read_count

if TYPE_CHECKING:
    import io

    from flipset import Explainer

FORMAT = "flipset-table-part/1"
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
) -> Explanations:
    """Explain all rows of a frame and write them; with `resume`, take finished rows from an earlier run.

    `kind` identifies the model and how it is read; `settings` are arguments of `explain_table`. An earlier run must
    have had the same kind, rows, population and request.
    """
    _check(explainer, output, request, settings, long=long)
    table = frame[list(explainer.space.names)]
    part = output.with_name(output.name + ".part")
    header = {"format": FORMAT, **kind, "data": _hash(table, explainer), "space": _hash_text(explainer), **request}
    done = _take_up(part, header, resume)
    todo = [i for i in range(len(table)) if i not in done]
    with part.open("ab", buffering=0) as out:  # nothing is left to write when it is closed

        def each(j: int, result: Explanation | FlipsetError) -> None:
            entry = {"error": str(result)} if isinstance(result, FlipsetError) else result.to_dict()
            _append(out, part, {"row": todo[j], "result": entry})
            done[todo[j]] = entry

        progress = sys.stderr.isatty()
        try:
            explanations = explainer.explain_table(
                table.iloc[todo], progress=progress, each=each, **settings, **request
            )
        except WorkerLost as error:
            raise WorkerLost(f"{error}. {_finished(done, table, part)}") from None
    fault = next((result for result in explanations if isinstance(result, Fault)), None)
    if fault is not None:
        raise type(fault)(f"{fault}. {_finished(done, table, part)}")
    if len(done) < len(table):
        print(f"flipset: {_finished(done, table, part)}", file=sys.stderr)
        raise KeyboardInterrupt
    explanations = _explanations(done, table, explainer)
    try:
        with whole_file(output) as beside:
            explanations.write(beside, long=long)
    except StorageError as error:
        raise StorageError(f"{error}. {_finished(done, table, part)}") from None
    except InputError as error:
        raise InputError(
            f"{error}. Nothing is lost: rename {part.name} to match another -o, and add --resume"
        ) from None
    part.unlink()
    return explanations


def _check(
    explainer: Explainer, output: Path, request: dict[str, Any], settings: dict[str, Any], *, long: bool
) -> None:
    """Refuse what cannot be done, before anything is written."""
    if output.suffix not in ENDINGS:
        raise InputError(f"{output}: expected a file ending in {', '.join(ENDINGS)}")
    if long and output.suffix == ".jsonl":
        raise InputError(f"{output}: --long needs .csv or .parquet; .jsonl has complete explanations")
    request_for(explainer.space, **request)
    for name, value in settings.items():
        if value is not None:
            read_count(name, value)
    check_workers(settings["workers"], explainer.endpoint, settings["max_table_queries"])


def _finished(done: dict[int, Any], table: Any, part: Path) -> str:
    """Say what is kept of a run that has ended too early, and how to go on."""
    rows = f"{len(done):,} of {len(table):,} rows are finished and kept in {part}"
    return f"{rows}; to continue, give the same command with --resume"


def _append(out: io.RawIOBase, part: Path, entry: dict[str, Any]) -> None:
    """Write a line to the `.part` file. Half a line is cut off when the run is resumed."""
    line = memoryview(json.dumps(entry).encode() + b"\n")
    try:
        while line:
            line = line[out.write(line) or 0 :]
    except OSError as error:
        raise StorageError(f"{part} cannot be written: {error.strerror or error}") from None


def _take_up(part: Path, header: dict[str, Any], resume: bool) -> dict[int, Any]:
    """Return the results of an earlier run, or start a new `.part` file."""
    if part.exists() and not resume:
        raise InputError(f"{part} is left from an unfinished run: continue it with --resume, or delete the file")
    try:
        # A run that was killed may have left half a line.
        whole = part.read_bytes() if part.exists() else b""
        whole = whole[: whole.rfind(b"\n") + 1]
        if not whole:
            part.write_text(json.dumps(header) + "\n", encoding="utf-8")
            return {}
        os.truncate(part, len(whole))
    except OSError as error:
        kind = StorageError if is_disk_fault(error) else InputError
        raise kind(f"{part} cannot be written: {error.strerror or error}") from None
    try:
        earlier, *entries = [json.loads(line) for line in whole.decode("utf-8").split("\n") if line]
        done = {entry["row"]: entry["result"] for entry in entries}
        other = next((name for name, value in header.items() if earlier.get(name) != value), None)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{part} cannot be read: {error}; delete it to start again") from None
    if other is not None:
        raise InputError(f"{part} belongs to a run with a different {other}: delete it to start again")
    return done


def _explanations(done: dict[int, Any], table: Any, explainer: Explainer) -> Explanations:
    results: list[Explanation | FlipsetError] = []
    for i in range(len(table)):
        entry = done[i]
        is_error = set(entry) == {"error"}
        results.append(FlipsetError(entry["error"]) if is_error else _read(entry, explainer))
    explained = {
        json.dumps(entry["row"]): entry for entry in done.values() if "queries" in entry
    }  # equal rows are scored once
    queries = sum(entry["queries"] for entry in explained.values())
    rounds = max((entry["rounds"] for entry in explained.values()), default=0)
    return Explanations(tuple(results), explainer.space.names, queries, rounds, table)


def _read(entry: dict[str, Any], explainer: Explainer) -> Explanation:
    e = Explanation.from_json(json.dumps(entry))
    return mark_flags(e, [one.name for one in explainer.space.features if one.kind == "binary"])


def _hash(table: Any, explainer: Explainer) -> str:
    """Return a hash of the rows and of the population behind them."""
    reference = explainer.space.reference
    population = "" if reference is None else reference.frame.to_native().to_csv(index=False)
    return hashlib.sha256((table.to_csv(index=False) + population).encode()).hexdigest()


def _hash_text(explainer: Explainer) -> str:
    text = explainer.space.to_json() + repr(explainer.threshold)
    return hashlib.sha256(text.encode()).hexdigest()
