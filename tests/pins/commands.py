"""The command line: JSON, CSV and exit codes; what it says to people may change."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from flipset.cli import main
from flipset.cli.exits import LIMITED, SUCCESS
from tests.pins.loans import Lender, draw_applications, make_space
from tests.pins.transcripts import APART, Case, Transcript, numbered, transcript

lender = Lender(11)
MODEL = "python:tests.pins.commands:lender"
FILE_ONLY = ("queries", "reasons", "error")
SEARCHES: Sequence[Sequence[str]] = (
    (),
    ("--batch", "8"),
    ("--max-changes", "2"),
    ("--objective", "cost"),
    ("--max-queries", "15", "--no-values"),
)


@contextmanager
def folder(what: str, i: int) -> Iterator[Path]:
    """Make a folder with a table and what may change in it, and be there."""
    rng = Random(f"commands/{what}/{i}")
    frame = draw_applications(rng, 25)
    with TemporaryDirectory() as name, chdir(name):
        frame.to_csv("loans.csv", index=False)
        space = make_space(rng, frame, options=i % 2 == 0)
        Path("space.toml").write_text(space.to_toml(), encoding="utf-8")
        yield Path(name)


def flipset(*arguments: str) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed."""
    out, code = io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        try:
            main([*arguments, "--space", "space.toml", "--threshold", "0.5"])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue()


def of_json(e: Any) -> Transcript:
    answer = {name: value for name, value in e.items() if name not in APART}
    return transcript(answer, e.get("reasons"), e.get("proof"), [e.get("queries"), e.get("rounds")])


def explained(i: int) -> Transcript:
    """Print an explanation as JSON; verify it."""
    with folder("explain", i):
        code, out = flipset("explain", MODEL, "loans.csv", "--row", str(i), "--json", *SEARCHES[i % len(SEARCHES)])
        if code not in (SUCCESS, LIMITED):
            return transcript(code)
        Path("e.json").write_text(out, encoding="utf-8")
        checked, _ = flipset("verify", "e.json", MODEL, "--data", "loans.csv")
    done = of_json(json.loads(out))
    done["answer"] = [done["answer"], checked]
    return done


def in_csv(i: int) -> Transcript:
    """Write a table of explanations, wide or long."""
    long = ("--long",) if i % 2 else ()
    with folder("csv", i):
        code, _ = flipset("table", MODEL, "loans.csv", "-o", "out.csv", *long, *SEARCHES[i % len(SEARCHES)])
        text = Path("out.csv").read_text(encoding="utf-8") if code in (SUCCESS, LIMITED) else ""
    rows = list(csv.DictReader(io.StringIO(text)))
    answer = [{name: cell for name, cell in row.items() if name not in FILE_ONLY} for row in rows]
    errors = [bool(row.get("error")) for row in rows]
    return transcript(
        [code, answer, errors], [row.get("reasons") for row in rows], None, [row.get("queries") for row in rows]
    )


def in_lines(i: int) -> Transcript:
    """Write whole explanations, one a line, with a journal; the second run is answered by the journal."""
    with folder("jsonl", i):
        texts, codes = [], []
        for name in ("one.jsonl", "two.jsonl"):
            command = ("table", MODEL, "loans.csv", "-o", name, "--journal", "answers.db", "--limit", "12")
            codes.append(flipset(*command)[0])
            texts.append(Path(name).read_text(encoding="utf-8") if os.path.exists(name) else "")
    rows = [of_json(json.loads(line)) for line in texts[0].splitlines()]
    parts = [[row[aspect] for row in rows] for aspect in ("answer", "reasons", "proof", "cost")]
    return transcript([codes, parts[0], texts[0] == texts[1]], parts[1], parts[2], parts[3], rows=rows)


def codes(i: int) -> Transcript:
    """Write the space, audit, and ask for what cannot be: the codes, and the file."""
    with folder("codes", i):
        written, _ = flipset("space", MODEL, "loans.csv", "-o", "again.toml")
        again = Path("again.toml").read_text(encoding="utf-8") if not written else ""
        found = [
            written,
            flipset("audit", MODEL, "loans.csv", "--budget", str(50 * (1 + i)))[0],
            flipset("explain", MODEL, "loans.csv", "--row", "99")[0],
            flipset("table", MODEL, "nowhere.csv", "-o", "out.csv")[0],
        ]
    lines = [line for line in again.splitlines() if not line.startswith("#")]
    return transcript([found, lines])


WAYS: dict[str, Callable[[int], Transcript]] = {
    "explain": explained,
    "csv": in_csv,
    "jsonl": in_lines,
    "codes": codes,
}


def cases() -> Iterator[tuple[str, Case]]:
    for name, way in WAYS.items():
        yield from numbered(f"commands/{name}", 3 if name == "codes" else 6, partial(way))
