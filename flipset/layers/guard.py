"""Stop a search at the first answer that shows that the function is not monotone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flipset.errors import NotMonotone
from flipset.layers.budget import learning
from flipset.protocol import Search, features_of
from flipset.sets.known import Known

if TYPE_CHECKING:
    from flipset.protocol import Flips

T = TypeVar("T")


def guard(search: Search[T], known: Known | None = None) -> Search[T]:
    """Raise `NotMonotone` exactly when there are answers for two sets S ⊆ T such that S flips and T does not.

    The zeros and ones are collected in `known`; pass one to read them afterwards.
    """
    # Answers are compared as they arrive, so the search never concludes anything from a contradiction.
    return learning(search, Known() if known is None else known, _refuse)


def _refuse(smaller: Flips, larger: Flips) -> None:
    raise NotMonotone(frozenset(features_of(smaller)), frozenset(features_of(larger)))
