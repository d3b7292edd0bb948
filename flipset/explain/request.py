"""`Request`: what the caller wants of an explanation. It is built and checked once, where the call comes in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from flipset.boundary.limits import MAX_BLOCK
from flipset.errors import InputError
from flipset.search.solve import MAX_FLIPSETS, Limits, read_count
from flipset.search.wanted_reasons import REASONS, Reasons, read_reasons
from flipset.space.feature import plain

if TYPE_CHECKING:
    from flipset.space import Space

BATCH = 32
"""The default number of queries in a call: a model scores some tens of rows nearly as fast as one."""

VALUE_QUERIES = 1_000
"""The default limit on rows looked at for the values of one flip set. It is seldom reached below four features, and
with trees seldom below nine."""


VALUE_QUERIES_OF_MANY = 20_000
"""If not all flip sets are listed: the same for all of those listed together, unless `value_queries` was given. With
five features each, 500 flip sets would otherwise take minutes."""

PLAIN = ("max_changes", "max_queries", "max_block", "value_queries", "options", "more", "max_flipsets")
"""The fields that are counts."""

FLAGS = ("values", "exact", "strict", "diverse", "curve")
"""The fields that are True or False."""


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
    reasons: Reasons = REASONS
    values: bool = True
    exact: bool = False
    value_queries: int | None = VALUE_QUERIES
    strict: bool = True
    options: int | None = None
    diverse: bool = False
    more: int | None = None
    curve: bool = False
    thresholds: tuple[float, ...] = ()
    max_flipsets: int | None = MAX_FLIPSETS
    only_decision: bool | None = None
    """The decision that rows must have to be explained; others are scored only. None explains all rows."""

    def __post_init__(self) -> None:
        self._read_plain()
        object.__setattr__(self, "reasons", read_reasons(self.reasons))
        Limits(BATCH if self.batch is None else self.batch, self.max_queries, self.max_seconds)  # checks its arguments
        if self.max_changes is not None:
            read_count("max_changes", self.max_changes)
        read_count("max_block", self.max_block)
        if self.value_queries is not None:
            read_count("value_queries", self.value_queries)
        if self.max_flipsets is not None:
            read_count("max_flipsets", self.max_flipsets, "; None lists all")
        # `Limits` allows 0, for searches over sets: these have nothing that must be asked first.
        if self.max_queries == 0:
            raise InputError("max_queries must be at least 1: the first query is about the row itself")
        if self.objective not in ("size", "cost"):
            raise InputError(f'objective must be "size" or "cost", got {self.objective!r}')
        self._check_options()
        self._check_exact()
        check_thresholds(self.thresholds)

    def _read_plain(self) -> None:
        """Make numbers of NumPy plain, because explanations repeat them in JSON; refuse flags that are none."""
        for name in PLAIN:
            if (given := plain(getattr(self, name))) is not None:  # NaN stays, to be refused as no count
                object.__setattr__(self, name, given)
        for name in FLAGS:
            given = plain(getattr(self, name))
            if not isinstance(given, bool):  # a text such as "no" would count as True
                raise InputError(f"{name} must be True or False, got {given!r}")
            object.__setattr__(self, name, given)

    def _check_options(self) -> None:
        for name in ("options", "more"):
            if (wanted := getattr(self, name)) is not None:
                read_count(name, wanted)
            if wanted is not None and self.objective == "cost":
                raise InputError(f'{name} is about the smallest options; objective="cost" has one: use one of the two')
        if self.diverse and self.options is None:
            raise InputError("diverse=True chooses among the options: say how many, such as options=3")
        if self.curve and self.objective == "cost":
            raise InputError('curve=True has the cheapest for every number of changes: leave objective="cost" out')
        if self.curve and not self.values:
            raise InputError("curve=True is about the cheapest values: leave values=False out")

    def _check_exact(self) -> None:
        if self.exact and not self.values:
            raise InputError("exact=True finds values, and values=False finds none: use one of the two")
        # Larger options and the curve are in order of costs on the grid, which exact values would change.
        for name, given in (("more", self.more is not None), ("curve", self.curve)):
            if self.exact and given:
                raise InputError(f"exact=True is about the smallest options: leave {name} out")

    def lists_all(self, flipsets: int) -> bool:
        """Say whether so many flip sets are all listed."""
        return self.max_flipsets is None or flipsets <= self.max_flipsets

    def value_queries_for(self, flipsets: int, *, listed_all: bool) -> int | None:
        """Return the limit on rows looked at for the values of one flip set; None for no limit."""
        if listed_all or self.value_queries != VALUE_QUERIES:
            return self.value_queries
        return min(VALUE_QUERIES, VALUE_QUERIES_OF_MANY // flipsets)

    @property
    def is_limited(self) -> bool:
        """Whether a budget may end the search."""
        return self.max_queries is not None or self.max_seconds is not None

    @property
    def leaves_smallest(self) -> bool:
        """Whether queries are made about values outside of the smallest flip sets."""
        return self.objective == "cost" or self.more is not None or self.curve


def request_for(space: Space, **wanted: Any) -> Request:
    """Return the request; refuse what this space does not allow."""
    if isinstance(thresholds := wanted.get("thresholds"), Iterable) and not isinstance(thresholds, (str, bytes)):
        wanted["thresholds"] = tuple(map(plain, thresholds))
        if not wanted["thresholds"]:
            raise InputError("thresholds must have at least one number, such as [0.3, 0.5, 0.7]; got none")
    elif thresholds is None:
        wanted.pop("thresholds", None)
    request = Request(**wanted)
    if is_weighted(space) and request.max_changes is not None:
        raise InputError("max_changes counts changes and weights weigh them: use one of the two")
    if is_weighted(space) and request.curve:
        raise InputError("curve=True counts changes and weights weigh them: use one of the two")
    return request


def check_thresholds(thresholds: Any) -> None:
    """Refuse thresholds that are not different finite numbers."""
    if not isinstance(thresholds, tuple):
        raise InputError(f"thresholds must be a list of numbers, such as [0.3, 0.5, 0.7]; got {thresholds!r}")
    for one in thresholds:
        if not isinstance(one, Real) or isinstance(one, bool) or not isfinite(one):
            raise InputError(f"thresholds must be finite numbers, such as [0.3, 0.5, 0.7]; got {one!r}")
    if len(set(thresholds)) < len(thresholds):
        twice = next(one for one in thresholds if thresholds.count(one) > 1)
        raise InputError(f"thresholds must be different numbers, and {twice!r} is there twice")


def wanted_decision(space: Space, only: str | None) -> bool | None:
    """Return the decision of the rows that `only` names: "declined" or "approved", or the space's own words."""
    if only is None:
        return None
    words = space.decision
    named = {"declined": False, "approved": True, words.outcomes[0]: False, words.outcomes[1]: True}
    if not isinstance(only, str) or only not in named:
        raise InputError(f"only must be one of {', '.join(map(repr, named))}, got {only!r}")
    return named[only] == (words.favorable == "above")


def is_weighted(space: Space) -> bool:
    """Say whether some changes count more than others."""
    return any(feature.weight != 1 for feature in space.features)
