"""Reading tables from files, within the limits.

A small file may hold a large table: compressed text, a Parquet file that repeats one value, or JSON lines that each
have other columns. So a table is counted before it is built: text while it is read, JSON lines by their columns,
Parquet and Arrow files by what they say about themselves. What is too large ends in an `InputError`.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from contextlib import ExitStack
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from flipset import InputError
from flipset.boundary.limits import MOST_COLUMNS, MOST_TABLE_BYTES, MOST_TABLE_CELLS, MOST_VALUES
from flipset.boundary.reading import Field, parse

if TYPE_CHECKING:
    from collections.abc import Callable

ENDINGS = ".csv, .csv.gz, .tsv, .parquet, .jsonl, .feather or .arrow"


def read_table(spec: str, verbatim: str | None = None) -> Any:
    """Read a table as a pandas frame, by the suffix of its name; `-` reads CSV from standard input.

    The column `verbatim` is read as it stands in the file: 00123 in a text file stays 00123.
    """
    if spec == "-":
        return _read_csv(spec, sys.stdin.buffer, ",", verbatim)
    readers: dict[str, Callable[[str], Any]] = {
        ".csv": partial(_read_text, separator=",", verbatim=verbatim),
        ".csv.gz": partial(_read_text, separator=",", is_gzip=True, verbatim=verbatim),
        ".tsv": partial(_read_text, separator="\t", verbatim=verbatim),
        ".parquet": _read_parquet,
        ".jsonl": partial(_read_json_lines, verbatim=verbatim),
        ".feather": _read_arrow,
        ".arrow": _read_arrow,
    }
    for ending, read in readers.items():
        if spec.lower().endswith(ending):
            _check("bytes", os.stat(spec).st_size, MOST_TABLE_BYTES, spec)
            return read(spec)
    raise InputError(f"{spec}: expected a table ending in {ENDINGS}")


def _check(what: str, number: int, most: int, spec: str) -> None:
    if number > most:
        raise InputError(f"{spec} may have {most:,} {what}, and has {number:,} or more")


# --- text -------------------------------------------------------------------------------------------------------------


class _Counted(io.RawIOBase):
    """A stream that counts what is read from it, and raises an `InputError` when that exceeds a limit."""

    def __init__(self, spec: str, source: IO[bytes], separator: str) -> None:
        self._spec, self._source, self._separator = spec, source, separator.encode()
        self._bytes = self._cells = 0
        self._columns: int | None = 0  # counted up to the end of the first line

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return how many bytes were read."""
        chunk = self._source.read(len(buffer))
        buffer[: len(chunk)] = chunk
        # Separators within quotes count too: these are bounds, far above what a table has.
        separators = chunk.count(self._separator)
        self._bytes += len(chunk)
        self._cells += separators + chunk.count(b"\n")
        if self._columns is not None:
            head, end, _ = chunk.partition(b"\n")
            self._columns += head.count(self._separator) if end else separators
            _check("columns", self._columns, MOST_COLUMNS, self._spec)
            self._columns = None if end else self._columns
        _check("bytes", self._bytes, MOST_TABLE_BYTES, self._spec)
        _check("cells", self._cells, MOST_TABLE_CELLS, self._spec)
        return len(chunk)


def _read_text(spec: str, *, separator: str, verbatim: str | None, is_gzip: bool = False) -> Any:
    with ExitStack() as stack:
        source: Any = stack.enter_context(gzip.open(spec) if is_gzip else open(spec, "rb"))  # noqa: SIM115
        return _read_csv(spec, source, separator, verbatim)


def _read_csv(spec: str, source: IO[bytes], separator: str, verbatim: str | None) -> Any:
    import pandas as pd

    given = io.BufferedReader(_Counted(spec, source, separator), 1 << 18)
    # A converter gets the cell as it stands in the file. It is wrapped, because pandas takes some texts for missing.
    wrap: Any = None if verbatim is None else {verbatim: lambda cell: (cell,)}
    frame = pd.read_csv(given, sep=separator, converters=wrap)
    if verbatim in frame.columns:
        frame[verbatim] = pd.Series([cell or None for (cell,) in frame[verbatim]], index=frame.index, dtype=object)
    return frame


def _read_json_lines(spec: str, *, verbatim: str | None) -> Any:
    import pandas as pd

    with open(spec, "rb") as source:
        text = source.read().decode("utf-8")
    # Each line may have columns of its own, so a small file may be a huge table.
    columns: dict[str, None] = {}
    rows = 0
    cells: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"line {number} of {spec}"
            entries = Field(parse(line, where), where).entries(MOST_VALUES)
            columns |= dict.fromkeys(entries)
            rows += 1
            if verbatim is not None:
                cells.append(entries[verbatim].value if verbatim in entries else None)
            _check("columns", len(columns), MOST_COLUMNS, spec)
            _check("cells", rows * len(columns), MOST_TABLE_CELLS, spec)
    frame = pd.read_json(io.StringIO(text), lines=True)
    # Pandas would read the text "00123" as a number.
    if verbatim in frame.columns:
        frame[verbatim] = pd.Series(cells, dtype=object)
    return frame


# --- binary formats ---------------------------------------------------------------------------------------------------


def _read_parquet(spec: str) -> Any:
    import pandas as pd
    from pyarrow.parquet import ParquetFile

    # The footer has all these numbers. Nothing is decompressed before they are checked.
    with ParquetFile(spec) as file:
        about = file.metadata
        _check("columns", about.num_columns, MOST_COLUMNS, spec)
        _check("cells", about.num_rows * about.num_columns, MOST_TABLE_CELLS, spec)
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        _check("bytes", size, MOST_TABLE_BYTES, spec)
    return pd.read_parquet(spec)


def _read_arrow(spec: str) -> Any:
    import pandas as pd
    from pyarrow import ArrowInvalid, ipc, memory_map

    with memory_map(spec) as source:
        try:
            batches = ipc.open_file(source)
        except ArrowInvalid:  # an older format, which has no compression: the size of the file is its limit
            return pd.read_feather(spec)
        _check("columns", len(batches.schema), MOST_COLUMNS, spec)
        cells = size = 0
        for i in range(batches.num_record_batches):  # one at a time: each is released before the next is read
            batch = batches.get_batch(i)
            cells, size = cells + batch.num_rows * batch.num_columns, size + batch.nbytes
            _check("cells", cells, MOST_TABLE_CELLS, spec)
            _check("bytes", size, MOST_TABLE_BYTES, spec)
    return pd.read_feather(spec)
