"""`Explanations`, the result of `Explainer.explain_table`: an explanation for each row, and their summary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flipset.boundary.outputs import whole_file
from flipset.errors import FlipsetError, InputError
from flipset.explain.groups import Groups
from flipset.models.tables import kinds_of
from flipset.results.frames import frame_of
from flipset.results.kinds import NUMBERS, TIDY_NUMBERS, result_kinds
from flipset.results.spreadsheets import write_csv
from flipset.results.table import (
    feature_labels,
    further_in,
    long_names,
    long_rows,
    summarize,
    summarize_by,
    wide_names,
    wide_rows,
    words_of,
)
from flipset.results.tidy import CHANGES, OPTIONS, change_rows, option_rows
from flipset.results.to_json import dump_id
from flipset.show.cases import tell_cases
from flipset.show.html import fragment
from flipset.show.plots import SummaryDisplay
from flipset.show.report import table_html
from flipset.show.summaries import tell_summary
from flipset.space.reference import read_frame

if TYPE_CHECKING:
    from os import PathLike

    from flipset.explain.explanation import Explanation
    from flipset.results.summary import Side, TableSummary
    from flipset.space import Space
    from flipset.space.ids import Ids

Shape: TypeAlias = Literal["rows", "counterfactuals", "options", "changes"]
"""What a line of a table of results is about."""

SIZES = {"size": "int", "lower": "int", "upper": "int"}


def reserved_names(columns: Sequence[str]) -> frozenset[str]:
    """Return the names that columns of results have, which a column of identifiers must not have."""
    return frozenset((*wide_names(columns, ("larger", "curve")), *long_names(columns), *OPTIONS, *CHANGES))


def kinds_of_results(space: Space, table: Any = None) -> dict[str, str]:
    """Return what columns of results hold, for rows of this frame; the cells decide where there is none."""
    if table is None:
        return result_kinds(space, {})
    given = dict(zip(space.names, kinds_of(read_frame(table).select(space.names).to_native()), strict=True))
    kinds = result_kinds(space, given)
    # A column that is not of numbers may hold anything: categories, dates.
    return {name: kind for name, kind in kinds.items() if kind != "text"}


@dataclass(frozen=True, slots=True)
class Explanations(Sequence["Explanation | FlipsetError"]):
    """Explanations in the order of the rows; a row that could not be explained has its error instead.

    Attributes
    ----------
    results
        An explanation or an error for each row. With `only`, rows that were not asked about have an explanation of the
        status "not asked".
    columns
        The columns of the table.
    like
        The table that was explained, whose kind `to_frame` returns; None for an array.
    queries, rounds
        How many queries were made in all, in how many calls of the model. Equal queries of one call are given to the
        model as one row.
    ids
        The identifiers of the rows; None if they have none.
    kinds
        What columns of results hold, so that frames have the same types whichever rows fail.
    """

    results: Sequence[Explanation | FlipsetError]
    columns: tuple[str, ...]
    queries: int
    rounds: int
    like: Any = field(default=None, repr=False, compare=False)
    ids: Ids | None = field(default=None, repr=False, compare=False)
    kinds: Mapping[str, str] = field(default_factory=lambda: {**NUMBERS, **SIZES}, repr=False, compare=False)

    def __repr__(self) -> str:
        errors = sum(isinstance(result, FlipsetError) for result in self.results)
        failed = f", errors: {errors:,}" if errors else ""
        return f"<Explanations: rows: {len(self):,}{failed}, queries: {self.queries:,}, calls: {self.rounds:,}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the summary and the first rows as lines of text."""
        yield from tell_summary(self.summary(), width, feature_labels(self.results))
        if self.results:
            yield ""
        yield from self.cases(width)

    def cases(self, width: int = 80) -> Iterator[str]:
        """Yield the first rows as lines of text."""
        yield from tell_cases(self.results, None if self.ids is None else self.ids.listed(), width)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def __iter__(self) -> Iterator[Explanation | FlipsetError]:
        return iter(self.results)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one row for each explanation, as columns: the decision, the size, and the cheapest counterfactual.

        The first columns are the identifiers of the rows, if they have any.
        """
        return self._listed("rows")

    def to_long_dict(self) -> dict[str, list[Any]]:
        """Return one row for each counterfactual, as columns; the column "row" is the number of the explanation."""
        return self._listed("counterfactuals")

    def to_frame(self, *, long: bool = False) -> Any:
        """Return `to_dict`, or with `long` `to_long_dict`, as a frame of the kind that was explained.

        For an array it is a pandas frame. With one line for each row, a pandas frame has the index of the table that
        was explained. Missing values, as in a row that could not be explained, do not turn booleans or integers into
        other types: pandas frames use nullable types.
        """
        return self._frame("counterfactuals" if long else "rows")

    def options(self) -> Any:
        """Return a frame with one line for each option: its row and number, features, cost, score, and its text.

        Options of a row are counted from 1, the cheapest first. `leads_to` is the outcome that the option leads to.
        """
        return self._frame("options")

    def changes(self) -> Any:
        """Return a frame with one line for each change of an option: feature, label, value before and after, cost.

        Values of many columns share `before` and `after`, so these are texts. Where a value is a number,
        `before_number` and `after_number` have it as a number. The costs of an option's changes add up to its own.
        A computed column that changes with an option has a line, too: `how` is "follows" there, and the cost 0.
        """
        return self._frame("changes")

    def write(
        self, path: str | PathLike[str], *, long: bool = False, raw_text: bool = False, shape: Shape = "rows"
    ) -> None:
        """Write to a file, in the format of its ending: `.csv`, `.parquet` (needs pyarrow) or `.jsonl`.

        The first two hold what `to_frame` returns, and with `shape` "options" or "changes" what the method of that name
        does; identifiers are columns. A `.jsonl` file holds whole explanations: each line is what `Explanation.to_json`
        writes, or `{"error": ...}`. The file is complete or not there.

        In a `.csv` file, texts that a spreadsheet would run as formulas get an apostrophe in front, because they may
        come from a stranger; `raw_text` leaves them as they are.
        """
        file = Path(path)
        shape = "counterfactuals" if long else shape
        if file.suffix == ".jsonl":
            if shape != "rows":
                what = "long" if long else shape
                raise InputError(f"{file.name}: {what} is for .csv and .parquet; .jsonl holds whole explanations")
            with whole_file(file) as out:
                out.writelines(f"{line}\n".encode() for line in self._lines())
        elif file.suffix == ".csv":
            with whole_file(file) as out:
                write_csv(out, self._names(shape), self._cells(shape), raw_text=raw_text)
        elif file.suffix == ".parquet":
            with whole_file(file) as out:
                out.write(self._parquet(file.name, shape))
        else:
            raise InputError(f"{file.name}: expected a file .csv, .parquet or .jsonl")

    # --- tables of results ----------------------------------------------------------------------------------------

    def _names(self, shape: Shape) -> tuple[str, ...]:
        """Return the names of columns: identifiers first, or after the number of the row where there is one."""
        ids = () if self.ids is None else self.ids.names
        if shape == "rows":
            return *ids, *wide_names(self.columns, further_in(self.results))
        names: tuple[str, ...] = OPTIONS if shape == "options" else CHANGES
        if shape == "counterfactuals":
            names = long_names(self.columns, further_in(self.results))
        return names[0], *ids, *names[1:]

    def _cells(self, shape: Shape) -> Iterator[tuple[Any, ...]]:
        """Yield lines, with the identifiers of their rows."""
        ids = None if self.ids is None else [tuple(one.values()) for one in self.ids.listed()]
        if shape == "rows":
            for i, line in enumerate(wide_rows(self.results, self.columns, further_in(self.results))):
                yield line if ids is None else (*ids[i], *line)
            return
        for line in self._without_ids(shape):
            yield line if ids is None else (line[0], *ids[line[0]], *line[1:])

    def _without_ids(self, shape: Shape) -> Iterator[tuple[Any, ...]]:
        if shape == "counterfactuals":
            return long_rows(self.results, self.columns, further_in(self.results))
        return option_rows(self.results) if shape == "options" else change_rows(self.results)

    def _listed(self, shape: Shape) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [] for name in self._names(shape)}
        # Row by row, so that the rows themselves are not all in memory beside their columns.
        into = [cells.append for cells in columns.values()]
        for line in self._cells(shape):
            for append, cell in zip(into, line, strict=True):
                append(cell)
        return columns

    def _frame(self, shape: Shape, *, with_index: bool = True) -> Any:
        columns: dict[str, Any] = dict(self._listed(shape))
        kinds = self.kinds if shape == "rows" else {**self.kinds, **TIDY_NUMBERS}
        kinds = dict.fromkeys((name for name in columns if not name.startswith("new_")), "text") | dict(kinds)
        index: Any = getattr(self.like, "index", None) if shape == "rows" and with_index else None
        if not hasattr(index, "nlevels") or len(index) != len(self):
            index = None
        if self.ids is not None:
            rows = range(len(self)) if shape == "rows" else columns["row"]
            columns |= self.ids.at(rows)  # with their own types
            if index is not None and self.ids.of_index:
                columns = {name: cells for name, cells in columns.items() if name not in self.ids.names}
        return frame_of(columns, self.like, kinds, index)

    def _lines(self) -> Iterator[str]:
        ids = None if self.ids is None else self.ids.listed()
        for i, result in enumerate(self.results):
            if isinstance(result, FlipsetError):
                named = {} if ids is None else {"id": dump_id(ids[i])}
                yield json.dumps({"error": str(result), **named}, ensure_ascii=False)
            else:
                yield result.to_json()

    def _parquet(self, name: str, shape: Shape) -> bytes:
        import narwhals as nw

        written = BytesIO()
        try:
            # Identifiers are columns of a file, also those that are an index in memory.
            frame = nw.from_native(self._frame(shape, with_index=False), eager_only=True)
            frame.write_parquet(written)
        except ImportError:
            raise InputError(f"{name} needs pyarrow: pip install 'flipset[tables]'") from None
        except Exception as error:  # a column of mixed types, for one
            raise InputError(f"{name} cannot hold this as Parquet: {error}; .csv and .jsonl can") from None
        return written.getvalue()

    def plot(self, groups: Iterable[Any] | None = None, side: Side = "declined") -> SummaryDisplay:
        """Draw how many changes declined rows need, and in which features; with `side="approved"`, approved rows.

        If `groups` has a value for each row, groups are drawn side by side.
        """
        return SummaryDisplay.from_explanations(self, groups, side).plot()

    def _repr_html_(self) -> str:
        return fragment(table_html(self, most=20, ids=None if self.ids is None else self.ids.listed()))

    def summary(self) -> TableSummary:
        """Return a summary of the declined rows and one of the approved rows."""
        return summarize(self.results)

    def summary_by(self, groups: Iterable[Any], reference: Any = None) -> Groups:
        """Return a summary for each group, and compare the groups; `groups` has one value for each row.

        Groups are compared with the group `reference`, by default with the largest. A column of a table may be given:
        text has its label and those of its values.
        """
        name = getattr(groups, "name", None)
        found = summarize_by(self.results, groups, reference)
        return Groups(found.summaries, found.reference, None if name is None else words_of(self.results).of(str(name)))
