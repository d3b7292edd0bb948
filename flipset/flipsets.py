"""`find_flipsets` and `iter_flipsets`: the pieces composed, for a set function that can only be asked."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, cast

from flipset.drivers import run, stream
from flipset.errors import BudgetExhausted, InputError
from flipset.layers import Tally, budget, consistent, count, deadline, guard, remember
from flipset.proof import Proof
from flipset.protocol import ask, everything, features_of, relay
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.proving import bound_below, partial_proof, polish, proving
from flipset.search.result import Flipsets, in_order
from flipset.sets.known import Known
from flipset.sets.weights import plain_weights, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from flipset.protocol import Answers, Flips, Flow, Search
    from flipset.search.result import Status

    SetFunction: TypeAlias = Callable[[Sequence[frozenset[int]]], Sequence[bool | float]]

T = TypeVar("T")
Q = TypeVar("Q")


class FindAll(Protocol):
    """What `search=` takes: it makes a search for all smallest flip sets of `d` features.

    The search asks at most `batch` questions a round and returns the sets, or nothing when no set flips. One that can
    find the lightest sets instead takes a keyword `weights` too. One that takes a keyword `settled` calls it with each
    weight (or size) below which it has seen that no set flips: a search that is stopped then says so.
    """

    def __call__(self, d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        """Make the search."""


def find_flipsets(
    flips: SetFunction,
    d: int,
    *,
    search: FindAll = guided_search,
    weights: Sequence[float] | None = None,
    batch: int = 1,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    reasons: bool = True,
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
        The search to run: `flipset.search.guided_search` unless told otherwise; `flipset.paper.find_optimal` is the
        paper's.
    weights
        One positive number per feature: "smallest" then means least total weight, here and in the result.
    batch
        The most questions asked in one round: 1 is frugal, 64 needs far fewer rounds for a few more questions.
    max_queries, max_seconds
        Stop there, with status "stopped" and what is proved by then. So does an interrupt from the keyboard. The clock
        is looked at before every round and every few milliseconds of computation, also while the proof is built and
        reasons are made minimal: when time runs out there, the flip sets are all found and the status is "optimal" if
        the proof stands. A call of `flips` is not cut short.
    reasons
        Grow the certificates until they are minimal. Without, fewer questions are asked and the certificates are those
        that the proof happens to need.

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
    d = read_count("d", d)
    limits = Limits(batch, max_queries, max_seconds, reasons)
    if not callable(search):
        raise InputError(f"search must be a function such as flipset.paper.find_optimal, got {search!r}")
    return run(solving(d, search, limits, answer=ask, weights=weights), _asked_as_sets(flips))


def iter_flipsets(
    flips: SetFunction,
    d: int,
    *,
    weights: Sequence[float] | None = None,
    batch: int = 1,
    max_queries: int | None = None,
    max_seconds: float | None = None,
) -> Iterator[frozenset[int]]:
    """Yield all minimal flip sets of a monotone set function, smallest (or lightest) first, asking only as needed.

    A flip set is minimal when no feature of it can be left out. There may be exponentially many; take as many as you
    want. Arguments are those of `find_flipsets`.

    Raises
    ------
    BudgetExhausted
        The budget ran out: what was yielded is right and in order, but there may be more.

    Examples
    --------
    >>> [sorted(s) for s in iter_flipsets(lambda sets: [0 in s or {1, 2} <= s for s in sets], d=4)]
    [[0], [1, 2]]
    """
    d = read_count("d", d)
    limits = Limits(batch, max_queries, max_seconds)
    found: deque[Flips] = deque()
    exact = read_weights(plain_weights(weights, d), d)
    search = minimal_in_order(d, found.append, batch=batch, weights=exact)
    flow = limits.around(remember(guard(search)))
    return (frozenset(features_of(one)) for one in stream(flow, _asked_as_sets(flips), found))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked: at once, in all, and for how long."""

    batch: int = 1
    max_queries: int | None = None
    max_seconds: float | None = None
    reasons: bool = True

    def __post_init__(self) -> None:
        read_count("batch", self.batch)
        for name in ("max_queries", "max_seconds"):
            limit = getattr(self, name)
            kinds = int if name == "max_queries" else (int, float)
            if limit is not None and (not isinstance(limit, kinds) or isinstance(limit, bool) or not limit >= 0):
                raise InputError(f"{name} must be a number of at least 0, or None for no limit; got {limit!r}")

    def around(self, flow: Search[T], *, spent: int = 0) -> Search[T]:
        """Put the budgets around a search, `spent` queries having been asked before."""
        if self.max_queries is not None:
            flow = budget(flow, self.max_queries - spent)
        if self.max_seconds is not None:
            flow = deadline(flow, self.max_seconds, time.monotonic)
        return flow


def read_count(name: str, value: SupportsIndex) -> int:
    """Return a whole number of at least 1; refuse anything else."""
    try:
        count = 0 if isinstance(value, bool) else index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return count


def solving(
    d: int,
    search: FindAll,
    limits: Limits,
    *,
    answer: Callable[[Sequence[Flips]], Flow[Q, Answers]],
    weights: Iterable[float] | None = None,
    answered: Mapping[Flips, float] | None = None,
    at_most: int | None = None,
    doubts: list[tuple[Flips, Flips]] | None = None,
    alone: bool = True,
) -> Flow[Q, Flipsets]:
    """Stack the layers around the search and put the result together: a flow that asks whatever `answer` asks.

    `answered` holds answers that were paid for before; they count, and are not asked again. With `at_most` the search
    is told to leave sets of more features alone, and "none" may mean that all flip sets are such. A budget that runs
    out, here or in `answer`, and an interrupt end in what is proved by then. Answers that contradict each other are an
    error, unless `doubts` is there to take them: then those said first stand. Where many flows run together, none is
    `alone`: an interrupt that meets one of them is for them all.
    """
    weights = plain_weights(weights, d)
    proved = Proved()
    made = _make(search, d, limits.batch, weights, proved.raise_to)
    memory = dict(answered or {})
    tally = Tally(len(memory), len(memory))
    known = Known()
    for query, margin in memory.items():
        pair = known.conflict(query, margin >= 0)
        if pair is None:
            known.learn(query, margin >= 0)
        else:  # what was said first stands
            assert doubts is not None, "whoever asked before has found the contradiction"
            doubts.append(pair)
    claim = Proof(d, (), (), weights)
    proofs: list[Proof] = []  # the proof, then the polished one
    watch = guard if doubts is None else partial(consistent, doubts=doubts)
    flow = _proving(made, claim, known, limits, proofs, at_most, watch)
    try:
        yield from relay(count(limits.around(remember(flow, memory), spent=tally.queries), tally), answer)
    except BudgetExhausted as stop:
        known.absorb(stop.known)
    except KeyboardInterrupt:
        if not alone:
            raise
    if not proofs:
        stopped = partial_proof(claim, known)
        return conclude("stopped", stopped, tally, lower=bound_below(stopped, proved.lower))
    if proofs[-1].ones:
        return conclude("optimal", proofs[-1], tally)
    if at_most is not None and known.settle(everything(d)):
        return conclude("none", proofs[-1], tally, lower=at_most + 1)
    return conclude("none", proofs[-1], tally)


@dataclass(slots=True)
class Proved:
    """What a search has proved on the way: no set of less weight than `lower`, in whole numbers, flips."""

    lower: int = 0

    def raise_to(self, lower: int) -> None:
        """Take note of a better bound."""
        self.lower = max(self.lower, lower)


def _make(
    search: FindAll, d: int, batch: int, weights: tuple[float, ...] | None, settled: Callable[[int], None]
) -> Search[tuple[Flips, ...]]:
    try:
        takes = {*signature(search).parameters}
    except (TypeError, ValueError):  # as for functions that are not written in Python
        takes = set()
    more: dict[str, Any] = {"settled": settled} if "settled" in takes else {}
    if weights is not None:
        more["weights"] = read_weights(weights, d)
        if "weights" not in takes:
            name = getattr(search, "__name__", repr(search))
            raise InputError(f"{name} finds smallest sets only: leave weights out, or use flipset.search.guided_search")
    return cast("Callable[..., Search[tuple[Flips, ...]]]", search)(d, batch=batch, **more)


def _proving(
    search: Search[tuple[Flips, ...]],
    claim: Proof,
    known: Known,
    limits: Limits,
    proofs: list[Proof],
    at_most: int | None,
    watch: Callable[[Search[Any], Known], Search[Any]],
) -> Search[None]:
    """Run the search, prove what it found, and polish the proof; each proof goes to `proofs` as soon as it stands."""
    ones = yield from watch(search, known)
    proofs.append((yield from proving(replace(claim, ones=ones), known, at_most)))
    if limits.reasons:
        proofs.append((yield from watch(polish(proofs[-1], known, limits.batch, at_most), known)))


def _asked_as_sets(flips: SetFunction) -> Callable[[Sequence[Flips]], Sequence[bool | float]]:
    return lambda batch: flips([frozenset(features_of(query)) for query in batch])


def conclude(status: Status, proof: Proof, tally: Tally, lower: float | None = None) -> Flipsets:
    """Return what a proof says, in the form in which results are given.

    `lower` is what every flip set weighs at least. Where the search was not stopped, that is what the ones weigh unless
    told otherwise.
    """
    upper = proof.upper()
    if lower is None and status != "stopped":
        lower = upper
    return Flipsets(
        status=status,
        size=upper if status == "optimal" else None,
        lower=lower,
        upper=upper,
        flipsets=in_order(proof.ones),
        queries=tally.queries,
        rounds=tally.rounds,
        proof=proof,
    )
