"""`find_flipsets`: the pieces composed, for a set function that can only be asked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flipset.drivers import run
from flipset.errors import BudgetExhausted, InputError
from flipset.evidence import partial_proof, with_proof
from flipset.known import Known
from flipset.layers import Tally, budget, count, deadline, remember
from flipset.paper import find_optimal
from flipset.protocol import by_size, everything, features_of
from flipset.result import Flipsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.result import Status


class FindAll(Protocol):
    """What `search=` takes: it makes a search for all smallest flip sets of `d` features.

    The search asks at most `batch` questions a round and returns the sets, or nothing when no set flips.
    """

    def __call__(self, d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        """Make the search."""


def find_flipsets(
    flips: Callable[[Sequence[frozenset[int]]], Sequence[bool | float]],
    d: int,
    *,
    search: FindAll = find_optimal,
    batch: int = 1,
    max_queries: int | None = None,
    max_seconds: float | None = None,
) -> Flipsets:
    """Find all smallest sets of features that flip a monotone set function, and prove that they are all.

    Parameters
    ----------
    flips
        The function, asked in batches: takes a list of frozensets of features 0 to d-1 and returns one bool each, or
        one float margin each (at or above 0 flips). It must be monotone: a superset of a set that flips, flips.
    d
        The number of features.
    search
        The search to run; `flipset.paper.find_optimal` unless told otherwise.
    batch
        The most questions asked in one round.
    max_queries, max_seconds
        Stop there, with status "stopped" and what is proved by then.

    Raises
    ------
    InputError
        An argument cannot be right.
    OracleError
        `flips` raised, or its answers cannot be read.
    NotMonotone
        Two answers contradict each other; the error holds both sets.

    Examples
    --------
    Feature 2 and one of the others:

    >>> found = find_flipsets(lambda sets: [2 in s and len(s) >= 2 for s in sets], d=3)
    >>> found.status, found.size, [sorted(s) for s in found.flipsets]
    ('optimal', 2, [[0, 2], [1, 2]])
    >>> [sorted(s) for s in found.certificates]
    [[2], [0, 1]]
    >>> found.proof.check(3)
    True
    """
    check_count("d", d)
    limits = Limits(batch, max_queries, max_seconds)
    return solve(lambda batch: flips([frozenset(features_of(query)) for query in batch]), d, search, limits)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked: at once, in all, and for how long."""

    batch: int = 1
    max_queries: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_count("batch", self.batch)
        for name in ("max_queries", "max_seconds"):
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                raise InputError(f"{name} must be at least 0, or None for no limit; got {limit!r}")


def check_count(name: str, value: object) -> None:
    """Refuse anything but a whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")


def solve(
    oracle: Callable[[Sequence[Flips]], Sequence[bool | float]],
    d: int,
    search: FindAll,
    limits: Limits,
    answered: Mapping[Flips, float] | None = None,
) -> Flipsets:
    """Stack the layers around the search, run it and put the result together.

    `answered` holds answers that were paid for before; they count, and are not asked again.
    """
    memory = dict(answered or {})
    tally = Tally(len(memory), len(memory))
    known = Known()
    for query, margin in memory.items():
        known.learn(query, margin >= 0)
    flow = remember(with_proof(search(d, batch=limits.batch), d, known), memory)
    if limits.max_queries is not None:
        flow = budget(flow, limits.max_queries - tally.queries)
    if limits.max_seconds is not None:
        flow = deadline(flow, limits.max_seconds, time.monotonic)
    try:
        proof = run(count(flow, tally), oracle)
    except BudgetExhausted as stop:
        known.absorb(stop.known)
        return _result("stopped", partial_proof(d, known), tally)
    return _result("optimal" if proof.ones else "none", proof, tally)


def _result(status: Status, proof: Proof, tally: Tally) -> Flipsets:
    lower = upper = proof.upper()
    if status == "stopped":
        lower = proof.lower()
    certificates = (everything(proof.d) & ~zero for zero in proof.zeros)
    return Flipsets(
        status=status,
        size=upper if status == "optimal" else None,
        lower=lower,
        upper=upper,
        flipsets=in_order(proof.ones),
        certificates=in_order(certificates),
        queries=tally.queries,
        rounds=tally.rounds,
        proof=proof,
    )


def in_order(sets: Iterable[Flips]) -> tuple[frozenset[int], ...]:
    """Return sets as people see them: as frozensets, ordered by size and then by their features."""
    return tuple(frozenset(features_of(flips)) for flips in sorted(sets, key=by_size))
