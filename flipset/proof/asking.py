"""Asking a model about the sets of a proof.

Answers that are not clearly yes or no are refused: a proof must not be confirmed by an answer that was misread.
"""

from __future__ import annotations

from math import isnan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from flipset.errors import OracleError
from flipset.plural import count
from flipset.proof.gaps import members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

FEATURES_AT_ONCE = 1_000_000
"""The most features, over all sets, that a model is asked about in one batch: as a frozenset each takes 64 bytes."""


def batches(expected: Sequence[tuple[int, bool]]) -> Iterator[list[tuple[int, bool]]]:
    """Split queries into batches of at most `FEATURES_AT_ONCE` features, or of one query."""
    batch: list[tuple[int, bool]] = []
    features = 0
    for query, flips in expected:
        size = query.bit_count()
        if batch and features + size > FEATURES_AT_ONCE:
            yield batch
            batch, features = [], 0
        batch.append((query, flips))
        features += size
    if batch:
        yield batch


def ask_sets(queries: Sequence[int], flips: Callable[[Sequence[frozenset[int]]], Iterable[bool | float]]) -> list[bool]:
    """Ask the model about sets; return for each whether it flips."""
    answers = list(flips([frozenset(members(query)) for query in queries]))
    if len(answers) != len(queries):
        returned = f"{count(len(answers), 'answer')} to {count(len(queries), 'query')}"
        raise OracleError(f"the model returned {returned}", queries)
    return [_reads_as_flip(answer, queries) for answer in answers]


def _reads_as_flip(answer: Any, queries: Sequence[int]) -> bool:
    # By name, so that NumPy need not be imported: this checker needs the standard library alone.
    if type(answer).__name__ in {"bool", "bool_"}:
        return bool(answer)
    # A whole number 0 is ambiguous: as a label it means that the decision stays, as a margin that it flips.
    is_label = isinstance(answer, Integral)
    unclear = not isinstance(answer, Real) or isnan(answer) or (answer == 0 and is_label)
    if unclear:
        raise OracleError(
            f"the model answered {answer!r}; expected a bool or a float margin (at or above 0 flips)", queries
        )
    return float(answer) >= 0
