"""`ByThreshold`: the results for several thresholds, which shared their queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flipset.errors import InputError
from flipset.explain.explanations import Explanations
from flipset.plural import count
from flipset.results.frames import frame_of
from flipset.values.change import show_threshold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.explain.table_results import TableResults
    from flipset.layers import Tally

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByThreshold(Sequence[T]):
    """One result for each threshold, in the order in which the thresholds were given.

    Attributes
    ----------
    thresholds
        The thresholds.
    results
        For each threshold an `Explanation`, or for a table `Explanations`: those of a run with this threshold alone.
    queries, rounds
        How many rows the model scored for all of them together, in how many calls. The results have their own counts,
        those of runs alone: what they share is counted in each.
    """

    thresholds: tuple[float, ...]
    results: tuple[T, ...]
    queries: int
    rounds: int

    def __repr__(self) -> str:
        listed = ", ".join(map(show_threshold, self.thresholds))
        return f"<ByThreshold: {listed}; {count(self.queries, 'query')} in {count(self.rounds, 'call')}>"

    def __str__(self) -> str:
        pairs = zip(self.thresholds, self.results, strict=True)
        parts = [f"Threshold {show_threshold(threshold)}\n\n{one}" for threshold, one in pairs]
        return "\n\n".join([*parts, f"{count(self.queries, 'query')} for all thresholds together."])

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def at(self, threshold: float) -> T:
        """Return the result for one of the thresholds."""
        if threshold not in self.thresholds:
            given = ", ".join(map(str, self.thresholds))
            raise InputError(f"there is no result for the threshold {threshold!r}; the thresholds are {given}")
        return self.results[self.thresholds.index(threshold)]

    def to_frame(self, *, long: bool = False) -> Any:
        """Return the frames of all tables, one below the other, with the threshold and the row's number first."""
        tables = [one for one in self.results if isinstance(one, Explanations)]
        if len(tables) < len(self.results):
            raise InputError("to_frame is for tables; each of these results is one explanation")
        columns: dict[str, list[Any]] = {"threshold": [], "row": []}
        for threshold, table in zip(self.thresholds, tables, strict=True):
            part = table.to_long_dict() if long else table.to_dict()
            part = {"row": list(range(len(table)))} | part
            for name, cells in ({"threshold": [threshold] * len(part["row"])} | part).items():
                columns.setdefault(name, []).extend(cells)
        return frame_of(columns, tables[0].like)


def tables_by_threshold(
    thresholds: tuple[float, ...], results: TableResults, tally: Tally, about: Mapping[str, Any]
) -> ByThreshold[Explanations]:
    """Return a table for each threshold; a row without results has one error for all of them.

    `about` has what the tables have in common: columns, identifiers, the frame that was explained.
    """
    tables = []
    for k in range(len(thresholds)):
        own = results.of_threshold(k)
        tables.append(Explanations(own, queries=own.queries, rounds=own.rounds, **about))
    return ByThreshold(thresholds, tuple(tables), tally.queries, tally.rounds)
