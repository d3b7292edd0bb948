"""Explaining a table into a file, so that an interrupted run can be resumed.

Every result is appended to a `.part` file beside the output as soon as it is known. The output is made from the `.part`
file at the end, so a resumed run writes the same output as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explanation, Explanations, FlipsetError, InputError, Unavailable
from flipset.cli.outputs import whole_file
from flipset.explain.request import request_for
from flipset.explain.table import check_workers
from flipset.reading import Field, parse
from flipset.results.written import mark_flags
from flipset.search.solve import read_count

if TYPE_CHECKING:
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
    if output.suffix not in ENDINGS:
        raise InputError(f"{output}: expected a file ending in {', '.join(ENDINGS)}")
    if long and output.suffix == ".jsonl":
        raise InputError(f"{output}: --long needs .csv or .parquet; .jsonl has complete explanations")
    request_for(explainer.space, **request)
    for name, value in settings.items():
        if value is not None:
            read_count(name, value)
    check_workers(settings["workers"], explainer.endpoint, settings["max_table_queries"])
    table = frame[list(explainer.space.names)]
    part = output.with_name(output.name + ".part")
    header = {"format": FORMAT, **kind, "data": _hash(table, explainer), "space": _hash_text(explainer), **request}
    done = _take_up(part, header, resume)
    todo = [i for i in range(len(table)) if i not in done]
    with part.open("a", encoding="utf-8") as out:

        def each(j: int, result: Explanation | FlipsetError) -> None:
            entry = {"error": str(result)} if isinstance(result, FlipsetError) else result.to_dict()
            out.write(json.dumps({"row": todo[j], "result": entry}) + "\n")
            out.flush()
            done[todo[j]] = entry

        progress = sys.stderr.isatty()
        explanations = explainer.explain_table(table.iloc[todo], progress=progress, each=each, **settings, **request)
    unavailable = next((result for result in explanations if isinstance(result, Unavailable)), None)
    if unavailable is not None:
        raise Unavailable(f"{unavailable}. {len(done):,} of {len(table):,} rows are done; continue with --resume")
    if len(done) < len(table):
        print(f"flipset: {len(done):,} of {len(table):,} rows are done; continue with --resume", file=sys.stderr)
        raise KeyboardInterrupt
    explanations = _explanations(done, table, explainer)
    try:
        with whole_file(output) as beside:
            explanations.write(beside, long=long)
    except InputError as error:
        raise InputError(
            f"{error}. Nothing is lost: rename {part.name} to match another -o, and add --resume"
        ) from None
    part.unlink()
    return explanations


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
        raise InputError(f"{part} cannot be written: {error.strerror or error}") from None
    try:
        earlier, *entries = [parse(line, "a line") for line in whole.decode("utf-8").split("\n") if line]
        done = dict(map(_read_entry, entries))
        other = next((name for name, value in header.items() if earlier.get(name) != value), None)
    except (ValueError, AttributeError) as error:
        raise InputError(f"{part} cannot be read: {error}; delete it to start again") from None
    if other is not None:
        raise InputError(f"{part} belongs to a run with a different {other}: delete it to start again")
    return done


def _read_entry(entry: Any) -> tuple[int, dict[str, Any]]:
    """Read a line of a `.part` file: the number of a row, and its explanation or its error."""
    members = Field(entry, "a line").members(("row", "result"))
    result = members["result"]
    if not isinstance(result.value, dict):
        result.refuse("an object")
    if set(result.value) == {"error"}:
        Field(result.value["error"], "result.error").text()
    return members["row"].whole(0), result.value


def _explanations(done: dict[int, Any], table: Any, explainer: Explainer) -> Explanations:
    results: list[Explanation | FlipsetError] = []
    done = {i: done[i] for i in range(len(table))}
    for entry in done.values():
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
