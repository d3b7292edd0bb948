"""Scores of rows, kept in memory so that several thresholds share them.

A score does not depend on the threshold; only what is concluded from it does. `ScoreMemo` stands between the model and
`settle`, which puts scores near a threshold on the right side of it. So what is kept is what the model said, in its own
precision, and explanations for one threshold see exactly the scores that they would see alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.models.scores import as_array
from flipset.space.identity import table_keys, take_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from flipset.models.scorer import Scorer


@dataclass(slots=True)
class ScoreMemo:
    """The scores of the rows that a model was asked about.

    Attributes
    ----------
    asked, calls
        How many rows the model has scored, in how many calls.
    """

    asked: int = 0
    calls: int = 0
    _scores: dict[Hashable, Any] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # several calls may be under way

    def around(self, scorer: Scorer) -> Scorer:
        """Return the scorer, which now asks only about rows that are not kept here."""

        def predict(rows: Any, **how: Any) -> Any:
            keys, new = self._look_up(rows)
            if new:
                self._keep(keys, new, scorer.predict(_some(rows, new), **how))
            return self._answers(keys) if self._has(keys) else scorer.predict(rows, **how)

        async def apredict(rows: Any, **how: Any) -> Any:
            assert scorer.apredict is not None, "used only where the model can be awaited"
            keys, new = self._look_up(rows)
            if new:
                self._keep(keys, new, await scorer.apredict(_some(rows, new), **how))
            return self._answers(keys) if self._has(keys) else await scorer.apredict(rows, **how)

        return replace(scorer, predict=predict, apredict=None if scorer.apredict is None else apredict)

    def forget(self) -> None:
        """Drop all scores, which take memory; the counts stay."""
        with self._lock:
            self._scores.clear()

    def _look_up(self, rows: Any) -> tuple[list[Hashable], list[int]]:
        """Return a key for each row, and the places of those that have to be asked."""
        # The types belong to the key: the bytes of a row of integers may be those of a row of floats.
        kinds = tuple(map(str, rows.dtypes)) if hasattr(rows, "dtypes") else str(getattr(rows, "dtype", ""))
        keys: list[Hashable] = [(kinds, key) for key in table_keys(rows)]
        first: dict[Hashable, int] = {}
        with self._lock:
            for i, key in enumerate(keys):
                if key not in self._scores:
                    first.setdefault(key, i)
        return keys, list(first.values())

    def _keep(self, keys: Sequence[Hashable], new: Sequence[int], answers: Any) -> None:
        """Keep the answers about some rows; those that are not one number for each row are refused elsewhere."""
        scores = as_array(answers)
        with self._lock:
            self.asked, self.calls = self.asked + len(new), self.calls + 1
            if scores.shape == (len(new),) and not np.ma.is_masked(scores):
                self._scores.update(zip((keys[i] for i in new), scores, strict=True))

    def _has(self, keys: Sequence[Hashable]) -> bool:
        return all(key in self._scores for key in keys)

    def _answers(self, keys: Sequence[Hashable]) -> NDArray[Any]:
        # The scores are NumPy's numbers, so the array has the model's own type.
        return np.array([self._scores[key] for key in keys])


def _some(rows: Any, places: list[int]) -> Any:
    return rows if len(places) == len(rows) else take_rows(rows, places)
