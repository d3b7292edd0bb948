"""`Explanations`, the result of `Explainer.explain_table`: an explanation for each row, and their summary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.boundary.outputs import whole_file
from flipset.errors import FlipsetError, InputError
from flipset.results.frames import frame_of
from flipset.results.spreadsheets import write_csv
from flipset.results.table import (
    long_columns,
    long_names,
    long_rows,
    summarize,
    summarize_by,
    wide_columns,
    wide_names,
    wide_rows,
)
from flipset.show.html import fragment
from flipset.show.plots import SummaryDisplay
from flipset.show.report import table_html
from flipset.show.text import tell_summary

if TYPE_CHECKING:
    from os import PathLike

    from flipset.explain.explanation import Explanation
    from flipset.results.summary import Summary


@dataclass(frozen=True, slots=True)
class Explanations(Sequence["Explanation | FlipsetError"]):
    """Explanations in the order of the rows; a row that could not be explained has its error instead.

    Attributes
    ----------
    results
        An explanation or an error for each row.
    columns
        The columns of the table.
    like
        The table that was explained, whose kind `to_frame` returns; None for an array.
    queries, rounds
        How many queries were made in all, in how many calls of the model. Equal queries of one call are given to the
        model as one row.
    """

    results: tuple[Explanation | FlipsetError, ...]
    columns: tuple[str, ...]
    queries: int
    rounds: int
    like: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        errors = sum(isinstance(result, FlipsetError) for result in self.results)
        failed = f", errors: {errors:,}" if errors else ""
        return f"<Explanations: rows: {len(self):,}{failed}, queries: {self.queries:,}, calls: {self.rounds:,}>"

    def __str__(self) -> str:
        return "\n".join(tell_summary(self.summary()))

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def __iter__(self) -> Iterator[Explanation | FlipsetError]:
        return iter(self.results)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one row for each explanation, as columns: the decision, the size, and the cheapest counterfactual."""
        return wide_columns(self.results, self.columns)

    def to_long_dict(self) -> dict[str, list[Any]]:
        """Return one row for each counterfactual, as columns; the column "row" is the number of the explanation."""
        return long_columns(self.results, self.columns)

    def to_frame(self, *, long: bool = False) -> Any:
        """Return `to_dict`, or with `long` `to_long_dict`, as a frame of the kind that was explained.

        For an array it is a pandas frame. Missing values, as in a row that could not be explained, do not turn booleans
        or integers into other types: pandas frames use nullable types for them.
        """
        return frame_of(self.to_long_dict() if long else self.to_dict(), self.like)

    def write(self, path: str | PathLike[str], *, long: bool = False, raw_text: bool = False) -> None:
        """Write to a file, in the format of its ending: `.csv`, `.parquet` (needs pyarrow) or `.jsonl`.

        The first two hold what `to_frame` returns. A `.jsonl` file holds whole explanations: each line is what
        `Explanation.to_json` writes, or `{"error": ...}`. The file is complete or not there.

        In a `.csv` file, texts that a spreadsheet would run as formulas get an apostrophe in front, because they may
        come from a stranger; `raw_text` leaves them as they are.
        """
        file = Path(path)
        if file.suffix == ".jsonl":
            if long:
                raise InputError(f"{file.name}: long is for .csv and .parquet; .jsonl holds whole explanations")
            with whole_file(file) as out:
                out.writelines(f"{line}\n".encode() for line in self._lines())
        elif file.suffix == ".csv":
            names, rows = (long_names, long_rows) if long else (wide_names, wide_rows)
            with whole_file(file) as out:
                write_csv(out, names(self.columns), rows(self.results, self.columns), raw_text=raw_text)
        elif file.suffix == ".parquet":
            with whole_file(file) as out:
                out.write(self._parquet(file.name, long))
        else:
            raise InputError(f"{file.name}: expected a file .csv, .parquet or .jsonl")

    def _lines(self) -> Iterator[str]:
        for result in self.results:
            yield json.dumps({"error": str(result)}) if isinstance(result, FlipsetError) else result.to_json()

    def _parquet(self, name: str, long: bool) -> bytes:
        import narwhals as nw

        written = BytesIO()
        try:
            nw.from_native(self.to_frame(long=long), eager_only=True).write_parquet(written)
        except ImportError:
            raise InputError(f"{name} needs pyarrow: pip install 'flipset[tables]'") from None
        except Exception as error:  # a column of mixed types, for one
            raise InputError(f"{name} cannot hold this as Parquet: {error}; .csv and .jsonl can") from None
        return written.getvalue()

    def plot(self, groups: Iterable[Any] | None = None) -> SummaryDisplay:
        """Draw how many changes are needed, and in which features; by group if `groups` has a value for each row."""
        return SummaryDisplay.from_explanations(self, groups).plot()

    def _repr_html_(self) -> str:
        return fragment(table_html(self, {}, most=20))

    def summary(self) -> Summary:
        """Return a summary of all explanations."""
        return summarize(self.results)

    def summary_by(self, groups: Iterable[Any]) -> dict[Any, Summary]:
        """Return a summary for each group, to compare groups; `groups` has one value for each row."""
        return summarize_by(self.results, groups)
