"""`Rechecks`, the result of `Explainer.recheck`: what became of each explanation on file, and the summary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.boundary.outputs import whole_file, write_text
from flipset.errors import InputError
from flipset.explain.explanation import Explanation
from flipset.results.frames import frame_of
from flipset.results.rechecks import (
    Recheck,
    RecheckSummary,
    dump_recheck,
    id_names,
    recheck_columns,
    recheck_lines,
    recheck_names,
    summarize_rechecks,
)
from flipset.results.spreadsheets import write_csv
from flipset.show.html import fragment
from flipset.show.rechecks import rechecks_html, report_rechecks, tell_rechecks

if TYPE_CHECKING:
    from os import PathLike

ENDINGS = (".csv", ".jsonl", ".html")
"""The formats of a report, by the ending of its name."""


@dataclass(frozen=True, slots=True)
class Rechecks(Sequence[Recheck]):
    """What became of explanations on file, in their order; `print` shows the summary.

    Attributes
    ----------
    results
        A `Recheck` for each explanation; one that could not be rechecked has its `error`. `print` shows it as a line.
    queries, rounds
        How many queries were made in all, in how many calls of the model.
    """

    results: tuple[Recheck, ...]
    queries: int
    rounds: int

    def __repr__(self) -> str:
        s = self.summary()
        errors = f", errors: {s.errors:,}" if s.errors else ""
        return f"<Rechecks: rows: {s.rows:,}, hold: {s.hold:,}, new letters: {s.new_letters:,}{errors}>"

    def __str__(self) -> str:
        return "\n".join(tell_rechecks(self.summary()))

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def __iter__(self) -> Iterator[Recheck]:
        return iter(self.results)

    def summary(self) -> RecheckSummary:
        """Return how many promises hold, how many people need a new letter, and further counts."""
        return summarize_rechecks(self.results)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one line for each explanation, as columns."""
        return recheck_columns(self.results)

    def to_frame(self) -> Any:
        """Return `to_dict` as a pandas frame."""
        return frame_of(self.to_dict())

    def write(
        self,
        path: str | PathLike[str],
        *,
        raw_text: bool = False,
        asked: str = "",
        model: str = "",
        identity: str = "",
    ) -> None:
        """Write to a file, in the format of its ending: `.csv`, `.jsonl` or `.html`.

        A `.csv` file holds what `to_frame` returns. Each line of a `.jsonl` file is one recheck, with the new
        explanation as `Explanation.to_dict` returns it. A `.html` file is a report for people; `asked`, `model` and
        `identity` are named in it. The file is complete or not there.

        In a `.csv` file, texts that a spreadsheet would run as formulas get an apostrophe in front; `raw_text` leaves
        them as they are.
        """
        file = Path(path)
        if file.suffix == ".csv":
            with whole_file(file) as out:
                ids = id_names(self.results)
                write_csv(out, recheck_names(ids), recheck_lines(self.results, ids), raw_text=raw_text)
        elif file.suffix == ".jsonl":
            with whole_file(file) as out:
                out.writelines(f"{json.dumps(dump_recheck(one))}\n".encode() for one in self.results)
        elif file.suffix == ".html":
            write_text(file, report_rechecks(self.results, asked=asked, model=model, identity=identity))
        else:
            raise InputError(f"{file.name}: expected a file ending in {', '.join(ENDINGS)}")

    def new_explanations(self) -> list[Explanation]:
        """Return the new explanations that a repair made, in the order of the rows.

        Examples
        --------
        >>> from flipset import Explainer, Feature, Space
        >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=100)])
        >>> on_file = Explainer(lambda rows: rows[:, 0] >= 60, space).explain_table([[40], [65], [70]])
        >>> new = Explainer(lambda rows: rows[:, 0] >= 67, space)
        >>> [e.row for e in new.recheck(on_file, repair=True).new_explanations()]
        [{'income': 40}, {'income': 65}]
        """
        # What a repair makes is an `Explanation`; results of it are only data.
        return [one.repaired for one in self.results if isinstance(one.repaired, Explanation)]

    def write_explanations(self, path: str | PathLike[str]) -> None:
        """Write the new explanations to a `.jsonl` file, one a line, for `verify` and for the next recheck.

        Only new ones are written: they are about this model, and those that still hold are about an earlier one. The
        file is complete or not there.
        """
        file = Path(path)
        if file.suffix != ".jsonl":
            raise InputError(f"{file.name}: new explanations are written to a file ending in .jsonl")
        with whole_file(file) as out:
            out.writelines(f"{e.to_json()}\n".encode() for e in self.new_explanations())

    def _repr_html_(self) -> str:
        return fragment(rechecks_html(self.results, most=20))
