"""A table explained into a file, such that a run that is killed can go on.

Every result is appended to a file beside the output as soon as it is there. The output itself is made from that file at
the end, whole; so a run that was resumed writes what an uninterrupted one does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset import Explanation, Explanations, FlipsetError, InputError

if TYPE_CHECKING:
    from flipset import Explainer

FORMAT = "flipset-table-part/1"
ENDINGS = (".csv", ".parquet", ".jsonl")


def explain_to_file(
    explainer: Explainer,
    frame: Any,
    output: Path,
    identity: str,
    request: dict[str, Any],
    *,
    resume: bool,
    workers: int,
    long: bool,
) -> Explanations:
    """Explain all rows of a frame and write them; with `resume`, rows that an earlier run has done are its own."""
    if output.suffix not in ENDINGS:
        raise InputError(f"{output}: expected a file {', '.join(ENDINGS)}")
    table = frame[list(explainer.space.names)]
    part = output.with_name(output.name + ".part")
    header = {"format": FORMAT, "model": identity, "data": _hash(table), "space": _hash_text(explainer), **request}
    del header["width"]  # which changes nothing in the results
    done = _take_up(part, header, resume)
    todo = [i for i in range(len(table)) if i not in done]
    with part.open("a", encoding="utf-8") as out:

        def each(j: int, result: Explanation | FlipsetError) -> None:
            entry = {"error": str(result)} if isinstance(result, FlipsetError) else result.to_dict()
            line = json.dumps({"row": todo[j], "result": entry}, ensure_ascii=False)
            out.write(line + "\n")
            out.flush()
            done[todo[j]] = entry

        progress = sys.stderr.isatty()
        explainer.explain_table(table.iloc[todo], progress=progress, workers=workers, each=each, **request)
    if len(done) < len(table):
        print(f"flipset: {len(done):,} of {len(table):,} rows are done; go on with --resume", file=sys.stderr)
        raise KeyboardInterrupt
    found = _found(done, table, explainer)
    _finish(found, output, long)
    part.unlink()
    return found


def _take_up(part: Path, header: dict[str, Any], resume: bool) -> dict[int, Any]:
    """Return what an earlier run has done, or begin a new one."""
    try:
        if not part.exists():
            part.write_text(json.dumps(header) + "\n", encoding="utf-8")
            return {}
        if not resume:
            raise InputError(f"{part} is left from a run that did not end: go on with --resume, or delete it")
        # A run that was killed may have left half a line.
        whole = part.read_bytes()
        whole = whole[: whole.rfind(b"\n") + 1]
        os.truncate(part, len(whole))
        first, *lines = whole.decode("utf-8").splitlines() or [""]
        earlier = json.loads(first) if first else {}
        done = {entry["row"]: entry["result"] for entry in map(json.loads, lines)}
    except OSError as error:
        raise InputError(f"{part} cannot be written: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{part} cannot be read: {error}; delete it to begin anew") from None
    if not first:
        part.write_text(json.dumps(header) + "\n", encoding="utf-8")
    for name, value in header.items():
        if first and earlier.get(name) != value:
            raise InputError(f"{part} was made with another {name}: delete it to begin anew")
    return done


def _found(done: dict[int, Any], table: Any, explainer: Explainer) -> Explanations:
    results: list[Explanation | FlipsetError] = []
    for i in range(len(table)):
        entry = done[i]
        results.append(
            FlipsetError(entry["error"]) if set(entry) == {"error"} else Explanation.from_json(json.dumps(entry))
        )
    explained = {id(entry): entry for entry in done.values() if "queries" in entry}
    queries = sum(entry["queries"] for entry in explained.values())
    rounds = max((entry["rounds"] for entry in explained.values()), default=0)
    return Explanations(tuple(results), explainer.space.names, queries, rounds, table)


def _finish(found: Explanations, output: Path, long: bool) -> None:
    """Write the output whole, or not at all."""
    beside = output.with_name(f".{output.stem}.unfinished{output.suffix}")
    try:
        found.write(beside, long=long)
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"{output} cannot be written: {error.strerror or error}") from None


def _hash(table: Any) -> str:
    return hashlib.sha256(table.to_csv(index=False).encode()).hexdigest()


def _hash_text(explainer: Explainer) -> str:
    text = explainer.space.to_json() + repr(explainer.threshold)
    return hashlib.sha256(text.encode()).hexdigest()
