"""What is wanted of an explanation, as one object: built and checked where a call comes in, and passed on as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flipset.errors import InputError
from flipset.search.solve import Limits, read_count
from flipset.space.moves import MAX_BLOCK

if TYPE_CHECKING:
    from flipset.space import Space

BATCH = 32
"""Queries sent together unless told otherwise: a model answers some tens of rows nearly as fast as one."""

VALUE_QUERIES = 1_000
"""Rows looked at for the values of one flip set; seldom reached below four features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is wanted of an explanation; `Explainer.explain` says what each means.

    `batch` is None until the model it is for is known: `Explainer` then puts a number there, by `dataclasses.replace`.
    Whatever explains a row sees only the number, and so does its type.
    """

    max_changes: int | None = None
    objective: Literal["size", "cost"] = "size"
    max_queries: int | None = None
    max_seconds: float | None = None
    batch: int = None  # type: ignore[assignment]
    max_block: int = MAX_BLOCK
    reasons: bool = True
    values: bool = True
    value_queries: int | None = VALUE_QUERIES
    strict: bool = True

    def __post_init__(self) -> None:
        Limits(BATCH if self.batch is None else self.batch, self.max_queries, self.max_seconds)
        if self.max_changes is not None:
            read_count("max_changes", self.max_changes)
        read_count("max_block", self.max_block)
        if self.value_queries is not None:
            read_count("value_queries", self.value_queries)
        if self.max_queries == 0:
            raise InputError("max_queries must be at least 1: the first question is about the row itself")
        if self.objective not in ("size", "cost"):
            raise InputError(f'objective must be "size" or "cost", got {self.objective!r}')

    @property
    def is_limited(self) -> bool:
        """Whether a budget may end the search."""
        return self.max_queries is not None or self.max_seconds is not None


def request_for(space: Space, **wanted: Any) -> Request:
    """Return what is wanted, and refuse what cannot be had in this space."""
    request = Request(**wanted)
    if is_weighted(space) and request.max_changes is not None:
        raise InputError("max_changes counts changes and weights weigh them: use one of the two")
    return request


def is_weighted(space: Space) -> bool:
    """Say whether some changes count more than others."""
    return any(feature.weight != 1 for feature in space.features)
