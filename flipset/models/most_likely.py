"""Decisions of a model with several classes by its most likely class: `decide="argmax"`.

The score is a margin: the largest probability of a class that counts, less the largest of the others. It is at least 0
exactly where the most likely class counts. Of equally likely classes the first is taken, as `numpy.argmax` does, so a
margin of 0 that the other side wins becomes the next number below 0.

The margin follows a direction if the difference between every class that counts and every other class does. Monotone
constraints of a booster do not promise that for three classes or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

import numpy as np

from flipset.errors import InputError

JUST_BELOW = nextafter(0.0, -inf)


@dataclass(frozen=True, slots=True)
class MostLikely:
    """A value of `positive`: the decision is positive where one of these classes is the most likely of all."""

    classes: tuple[Any, ...]


def deciding_classes(positive: Any, decide: str) -> Any:
    """Return `positive` as models read it, for a way to decide: by "probability" or by "argmax"."""
    if decide not in ("probability", "argmax"):
        raise InputError(f'decide must be "probability" or "argmax", got {decide!r}')
    if decide == "probability":
        return positive
    if positive is None:
        raise InputError('decide="argmax" needs positive: the class, or the classes, that count')
    several = isinstance(positive, Iterable) and not isinstance(positive, (str, bytes))
    return MostLikely(tuple(positive) if several else (positive,))


def usual_threshold(positive: Any) -> float:
    """Return the threshold of a model that has none of its own: of a margin 0, of a probability one half."""
    return 0.0 if isinstance(positive, MostLikely) else 0.5


def margin_of(table: Any, columns: Sequence[int]) -> Any:
    """Return for each row the largest number in these columns, less the largest in the others; ties by column.

    Examples
    --------
    >>> margin_of(np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]), [1]).tolist()
    [0.2, -5e-324]
    """
    numbers = np.asarray(table, dtype=np.float64)
    counts = np.zeros(numbers.shape[1], dtype=np.bool_)
    counts[list(columns)] = True
    margin = numbers[:, counts].max(axis=1) - numbers[:, ~counts].max(axis=1)
    wins = counts[numbers.argmax(axis=1)]
    return np.where(wins, margin, np.minimum(margin, JUST_BELOW))
