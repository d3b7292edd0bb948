"""The table of the page, and what is known about each of its rows: score, status, size, flip sets and reasons.

Only what the page shows of an explanation is kept, in arrays, so that a table of a million rows fits in memory. A row
that is opened is explained again, which takes milliseconds.

One thread writes (`serve/table.py`), and those that answer requests read, without a lock. So a row's status is written
last: a row that is not waiting is complete. `version` grows when what is known has changed; it tells readers that what
they derived is out of date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from flipset.errors import FlipsetError
from flipset.space.feature import plain
from flipset.space.words import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flipset.explain.explanation import Explanation

    Ints: TypeAlias = NDArray[np.intp]
    Bools: TypeAlias = NDArray[np.bool_]

STATUSES = ("waiting", "optimal", "none", "stopped", "unproved", "error", "incomplete")
"""The states of a row, stored by number."""

Part: TypeAlias = Literal["some", "all", "reason"]
"""Where a feature stands: in some smallest flip set, in all of them, or in a reason."""


class RowResults:
    """A table, and what is known about its rows; `units` are the features and groups that flip sets name."""

    def __init__(self, frame: Any, units: Sequence[str], threshold: float, decision: Decision | None = None) -> None:
        self.frame = frame.set_axis([str(column) for column in frame.columns], axis=1).reset_index(drop=True)
        self.columns = list(self.frame.columns)
        self.units = list(units)
        self.threshold = threshold
        self.decision = Decision() if decision is None else decision
        n = len(frame)
        self.scores = np.full(n, np.nan)
        self.status = np.zeros(n, dtype=np.uint8)
        self.sizes = np.full(n, np.nan)
        self.one_change = np.zeros(n, dtype=bool)
        self.parts: dict[Part, Bools] = {
            "some": np.zeros((n, len(self.units)), dtype=bool),
            "all": np.zeros((n, len(self.units)), dtype=bool),
            "reason": np.zeros((n, len(self.units)), dtype=bool),
        }
        self.errors: dict[int, str] = {}
        self.version = 0
        self.number_of = {name: i for i, name in enumerate(self.units)}

    def __len__(self) -> int:
        return len(self.status)

    @property
    def known(self) -> Bools:
        """Which rows have a result, be it an error."""
        return self.status > 0

    def waiting(self, rows: Ints) -> Ints:
        """Return those of these rows that have no result yet."""
        chosen: Ints = rows[self.status[rows] == 0]
        return chosen

    def have(self, status: str) -> Bools:
        """Which rows have this status."""
        chosen: Bools = self.status == STATUSES.index(status)
        return chosen

    def note(self, row: int, result: Explanation | FlipsetError) -> None:
        """Keep what the page shows of a result."""
        if isinstance(result, FlipsetError):
            self.errors[row] = str(result)
            self.status[row] = STATUSES.index("error")
            return
        self.scores[row] = result.score
        self.sizes[row] = np.nan if result.size is None else result.size
        self.one_change[row] = any(len(names) == 1 for names in result.flipsets)
        sets = [set(names) for names in result.flipsets]
        self._mark("some", row, set().union(*sets))
        self._mark("all", row, set.intersection(*sets) if sets else set())
        self._mark("reason", row, set().union(*result.reasons))
        # Last, since a reader takes a row that is no longer waiting for complete.
        self.status[row] = STATUSES.index(result.status)

    def _mark(self, part: Part, row: int, names: set[str]) -> None:
        self.parts[part][row, [self.number_of[name] for name in names]] = True

    def shown(self, rows: Ints) -> list[dict[str, Any]]:
        """Return rows as the page shows them."""
        cells = [[plain(value) for value in self.frame[name].iloc[rows].tolist()] for name in self.columns]
        return [
            {"row": row, "cells": list(values), **self._shown(row)}
            for row, values in zip(rows.tolist(), zip(*cells, strict=True), strict=True)
        ]

    def _shown(self, row: int) -> dict[str, Any]:
        score = float(self.scores[row])
        return {
            "score": None if np.isnan(score) else score,
            "decision": None if np.isnan(score) else bool(score >= self.threshold),
            "status": STATUSES[self.status[row]],
            "size": None if np.isnan(self.sizes[row]) else float(self.sizes[row]),
            "error": self.errors.get(row, ""),
        }
