"""Rows explained for several thresholds in one run, with one memory of scores for all of them.

Each threshold has a job of its own, which knows nothing of the others. So the results are those of separate runs, to
the last bit of the proof. What is shared lies below: a row that was scored for one threshold is not scored again for
another (`flipset.models.score_memo`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flipset.explain.answer_columns import AnswerRow
from flipset.explain.workers import in_processes
from flipset.layers import Tally
from flipset.models.score_memo import ScoreMemo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flipset.errors import Fault
    from flipset.explain.prepared import PreparedModel
    from flipset.explain.request import Request
    from flipset.explain.table import TableJob
    from flipset.space import Space
    from flipset.space.table_rows import TableRows

ROWS_AT_ONCE = 1_024
"""Rows of a table whose scores are kept at a time: each has some hundreds."""

PIECES = 4
"""Pieces of a table for each worker: several, because some take longer than others."""


class ThresholdsJob:
    """Explains rows for several thresholds, in this process or in others.

    The jobs are made when they are first needed, so that each process has its own, with a memory of its own.
    """

    def __init__(
        self, model: PreparedModel, space: Space, request: Request, thresholds: tuple[float, ...], how: dict[str, Any]
    ) -> None:
        self.model, self.space, self.request, self.thresholds, self.how = model, space, request, thresholds, how
        self.memo = ScoreMemo()
        self._jobs: list[TableJob] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, self.space, self.request, self.thresholds, self.how)

    def jobs(self, rows: Sequence[Any]) -> list[TableJob]:
        """Return the job of each threshold; `rows` are some to choose the batch by."""
        for threshold in self.thresholds[len(self._jobs) :]:
            job = self.model.at_threshold(threshold, self.memo)._job(self.space, self.request, rows, **self.how)
            self.request = replace(self.request, batch=job.request.batch)  # chosen once, for all of them
            self._jobs.append(job)
        return self._jobs

    def all(self, rows: TableRows, workers: int, tally: Tally) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Explain distinct rows; yield the number and the results of each as soon as all of them are there."""
        most = ROWS_AT_ONCE if workers == 1 else min(ROWS_AT_ONCE, max(1, len(rows) // (PIECES * workers)))
        pieces = rows.pieces(most)
        done: Iterable[tuple[int, tuple[dict[int, tuple[Any, ...]], Tally, Fault | None]]]
        done = enumerate(map(self.piece, pieces))
        if workers > 1 and len(rows) > 1:
            done = in_processes(self.piece, pieces, workers)
        for number, (results, part, fault) in done:
            tally.queries += part.queries
            tally.rounds += part.rounds
            for i, each in results.items():
                self._give_terms(pieces[number], each)
                yield number * most + i, each
            if fault is not None:
                raise fault

    def _give_terms(self, rows: TableRows, results: Sequence[Any]) -> None:
        """Give answers in arrays that came from another process their terms."""
        for k, result in enumerate(results):
            if isinstance(result, AnswerRow) and result.answers.terms is None:
                result.answers.terms = self.jobs(rows)[k].terms(rows)

    def piece(self, rows: TableRows) -> tuple[dict[int, tuple[Any, ...]], Tally, Fault | None]:
        """Explain some rows; return the results, what the model was asked, and the fault that ended it, if one did."""
        before = self.memo.asked, self.memo.calls
        results: dict[int, tuple[Any, ...]] = dict.fromkeys(range(len(rows)), ())
        ended: Fault | None = None
        for job in self.jobs(rows):
            found, _, ended = job.piece(rows)
            for number, result in found.items():
                results[number] = (*results[number], result)
            if ended is not None:
                break
        self.memo.forget()
        whole = {number: some for number, some in results.items() if len(some) == len(self.thresholds)}
        return whole, Tally(self.memo.asked - before[0], self.memo.calls - before[1]), ended
