"""What `Explainer.explain_table` returns: an explanation for each row, and what they say together."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.errors import FlipsetError, InputError
from flipset.results.summary import Counts, write_sets
from flipset.show.plots import SummaryDisplay
from flipset.show.report import fragment, table_html
from flipset.show.text import tell_summary
from flipset.space.feature import plain

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
        One for each row.
    columns
        The columns of the table, for frames.
    like
        The table that was explained, for the kind of frames made here; None for arrays.
    queries, rounds
        How many questions about rows were asked in all, in how many calls of the model. A row that several questions of
        one call are about is given to the model once.
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
        """Return one row for each explanation, as columns: the decision, what is needed, and the cheapest advice."""
        rows = [_wide(result, self.columns) for result in self.results]
        return {name: [row[name] for row in rows] for name in wide_names(self.columns)}

    def to_long_dict(self) -> dict[str, list[Any]]:
        """Return one row for each counterfactual, as columns; "row" says which explanation it belongs to."""
        rows = [row for i, result in enumerate(self.results) for row in _long(i, result, self.columns)]
        names = ("row", "flipset", "cost", "score", "advice", *(f"new_{name}" for name in self.columns))
        return {name: [row[name] for row in rows] for name in names}

    def to_frame(self, *, long: bool = False) -> Any:
        """Return the same as a frame of the kind that was explained, or pandas for an array.

        Where a row has no value, as one that could not be explained, flags stay flags and whole numbers stay whole: in
        pandas by its nullable types.
        """
        import narwhals as nw

        data = self.to_long_dict() if long else self.to_dict()
        module = None if self.like is None else nw.get_native_namespace(self.like)
        if module is None or module.__name__ == "pandas":
            import pandas as pd

            return pd.DataFrame({name: pd.Series(cells, dtype=_nullable(name, cells)) for name, cells in data.items()})
        frame = nw.from_dict({name: _column(cells, module) for name, cells in data.items()}, backend=module)
        empty = [name for name, cells in data.items() if all(cell is None for cell in cells)]
        flags = [nw.col(name).cast(nw.Boolean) for name in empty if name in FLAGS]
        numbers = [nw.col(name).cast(nw.Int64) for name in empty if name in COUNTS]
        return frame.with_columns(*flags, *numbers).to_native()

    def write(self, path: str | PathLike[str], *, long: bool = False) -> None:
        """Write to a file by its ending: `.csv`, `.parquet` (needs pyarrow), or `.jsonl`, whole explanations.

        In `.jsonl` every line is what `Explanation.to_json` writes, or `{"error": ...}`.
        """
        file = Path(path)
        if file.suffix == ".jsonl":
            if long:
                raise InputError(f"{file.name}: long is for .csv and .parquet; .jsonl holds whole explanations")
            lines = [
                json.dumps({"error": str(result)}) if isinstance(result, FlipsetError) else result.to_json()
                for result in self.results
            ]
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        elif file.suffix == ".csv":
            data = self.to_long_dict() if long else self.to_dict()
            with file.open("w", newline="", encoding="utf-8") as out:
                writer = csv.writer(out)
                writer.writerow(data)
                writer.writerows(zip(*data.values(), strict=True))
        elif file.suffix == ".parquet":
            import narwhals as nw

            try:
                nw.from_native(self.to_frame(long=long), eager_only=True).write_parquet(file)
            except ImportError:
                raise InputError(f"{file.name} needs pyarrow: pip install 'flipset[tables]'") from None
            except OSError:
                raise
            except Exception as error:  # a column of mixed types, for one
                raise InputError(f"{file.name} cannot hold this as Parquet: {error}; .csv and .jsonl can") from None
        else:
            raise InputError(f"{file.name}: expected a file .csv, .parquet or .jsonl")

    def plot(self, groups: Iterable[Any] | None = None) -> SummaryDisplay:
        """Draw sizes and features, by group if `groups` has one value for each row."""
        return SummaryDisplay.from_explanations(self, groups).plot()

    def _repr_html_(self) -> str:
        return fragment(table_html(self, {}, most=20))

    def summary(self) -> Summary:
        """Return what the explanations say together."""
        return _summary(self.results)

    def summary_by(self, groups: Iterable[Any]) -> dict[Any, Summary]:
        """Return what they say together in each group, to compare groups; `groups` has one value for each row."""
        labels = list(groups)
        if len(labels) != len(self.results):
            raise InputError(f"groups must have one value for each row: {len(self.results)}, got {len(labels)}")
        members: dict[Any, list[Any]] = {}
        for label, result in zip(map(plain, labels), self.results, strict=True):
            members.setdefault(label, []).append(result)
        return {group: _summary(results) for group, results in sorted(members.items(), key=lambda item: str(item[0]))}


FLAGS = ("decision",)
"""Columns that hold True and False, where they hold anything."""

COUNTS = ("size", "lower", "upper", "ways", "queries")
"""Columns that hold whole numbers, unless features have other weights."""


def _nullable(name: str, cells: Sequence[Any]) -> str | None:
    """Return the type of a pandas column that holds values and gaps; None where its usual type does."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if None not in cells or len(kinds) > 1:
        return None
    if kinds == {bool} or (not kinds and name in FLAGS):
        return "boolean"
    if kinds == {int} or (not kinds and name in COUNTS):
        whole = [cell for cell in cells if cell is not None]
        least, most = min(whole, default=0), max(whole, default=0)
        return "Int64" if -(1 << 63) <= least <= most < 1 << 63 else "UInt64" if 0 <= least <= most < 1 << 64 else None
    return None


def _column(cells: list[Any], module: Any) -> Any:
    """Return a column whose type polars and Arrow can tell: whole numbers among others become floats."""
    given = [cell for cell in cells if cell is not None]
    kinds = set(map(type, given))
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    if kinds == {int} and module.__name__ == "pyarrow" and min(given) >= 0 and 1 << 63 <= max(given) < 1 << 64:
        return module.array(cells, type=module.uint64())  # a type that Arrow does not guess
    return cells


def wide_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a table of explanations has."""
    return ("decision", "score", "status", "size", "lower", "upper", "ways", "flipsets", "reasons", "cost", "advice",
            *(f"new_{name}" for name in columns), "queries", "error")  # fmt: skip


def _wide(result: Explanation | FlipsetError, columns: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(wide_names(columns))
    if isinstance(result, FlipsetError):
        return row | {"error": str(result)}
    row |= {
        "decision": result.decision,
        "score": result.score,
        "status": result.status,
        "size": result.size,
        "lower": result.lower,
        "upper": result.upper,
        "ways": len(result.flipsets),
        "flipsets": write_sets(result.flipsets),
        "reasons": write_sets(result.reasons),
        "queries": result.queries,
    }
    best = min(result.counterfactuals, key=lambda one: one.cost, default=None)
    if best is not None:
        row |= {"cost": best.cost, "advice": str(best), **{f"new_{name}": best.row[name] for name in columns}}
    return row


def _long(i: int, result: Explanation | FlipsetError, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    if not isinstance(result, FlipsetError):
        for one in result.counterfactuals:
            yield {
                "row": i,
                "flipset": ", ".join(one.flipset),
                "cost": one.cost,
                "score": one.score,
                "advice": str(one),
                **{f"new_{name}": one.row[name] for name in columns},
            }


def _summary(results: Iterable[Explanation | FlipsetError]) -> Summary:
    counts = Counts()
    for result in results:
        if isinstance(result, FlipsetError):
            counts.add_error()
        else:
            counts.add(result.status, result.size, result.flipsets, result.reasons)
    return counts.summary()
