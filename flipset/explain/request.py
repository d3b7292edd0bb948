"""`Request`: what the caller wants of an explanation. It is built and checked once, where the call comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flipset.boundary.limits import MAX_BLOCK
from flipset.errors import InputError
from flipset.search.solve import Limits, read_count

if TYPE_CHECKING:
    from flipset.space import Space

BATCH = 32
"""The default number of queries in a call: a model scores some tens of rows nearly as fast as one."""

VALUE_QUERIES = 1_000
"""The default limit on rows looked at for the values of one flip set; it is seldom reached below four features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the caller wants of an explanation; `Explainer.explain` documents each field.

    `batch` may be None at first, if it depends on the model. `Explainer` then sets it, with `dataclasses.replace`,
    before any row is explained. Its type is `int` because the code that explains rows always sees a number.
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
        Limits(BATCH if self.batch is None else self.batch, self.max_queries, self.max_seconds)  # checks its arguments
        if self.max_changes is not None:
            read_count("max_changes", self.max_changes)
        read_count("max_block", self.max_block)
        if self.value_queries is not None:
            read_count("value_queries", self.value_queries)
        # `Limits` allows 0, for searches over sets: these have nothing that must be asked first.
        if self.max_queries == 0:
            raise InputError("max_queries must be at least 1: the first query is about the row itself")
        if self.objective not in ("size", "cost"):
            raise InputError(f'objective must be "size" or "cost", got {self.objective!r}')

    @property
    def is_limited(self) -> bool:
        """Whether a budget may end the search."""
        return self.max_queries is not None or self.max_seconds is not None


def request_for(space: Space, **wanted: Any) -> Request:
    """Return the request; refuse what this space does not allow."""
    request = Request(**wanted)
    if is_weighted(space) and request.max_changes is not None:
        raise InputError("max_changes counts changes and weights weigh them: use one of the two")
    return request


def is_weighted(space: Space) -> bool:
    """Say whether some changes count more than others."""
    return any(feature.weight != 1 for feature in space.features)
