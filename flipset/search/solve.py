"""From a search to a result: the layers around it, the proof of what it found, and what is said when it is stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, cast

from flipset.errors import BudgetExhausted, InputError
from flipset.layers import Allowance, Tally, consistent, count, guard, limit_queries, limit_seconds, remember
from flipset.proof import Proof
from flipset.protocol import everything, relay
from flipset.search.proving import bound_below, partial_proof, proving
from flipset.search.reasons import find_reasons
from flipset.search.result import Flipsets, in_order
from flipset.sets.known import Known
from flipset.sets.weights import plain_weights, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.protocol import Answers, Flips, Flow, Search
    from flipset.search.result import Status

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

    def around(self, flow: Flow[Q, T], *, spent: int = 0) -> Flow[Q, T]:
        """Put the budgets around a search, `spent` queries having been asked before."""
        if self.max_queries is not None:
            flow = limit_queries(flow, Allowance(self.max_queries, spent))
        if self.max_seconds is not None:
            flow = limit_seconds(flow, self.max_seconds, time.monotonic)
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
    proofs: list[Proof] = []  # the proof from the answers, then the one that the rule for reasons makes
    watch = guard if doubts is None else partial(consistent, contradictions=doubts)
    flow = _proving(made, claim, known, memory, limits, proofs, at_most, watch)
    try:
        yield from relay(count(limits.around(remember(flow, memory), spent=tally.queries), tally), answer)
    except BudgetExhausted:
        pass  # `known` has every answer that arrived
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
    answers: Mapping[Flips, float],
    limits: Limits,
    proofs: list[Proof],
    at_most: int | None,
    watch: Callable[[Search[Any], Known], Search[Any]],
) -> Search[None]:
    """Run the search, prove what it found, find the reasons to report; proofs go to `proofs` as soon as they stand."""
    ones = yield from watch(search, known)
    proofs.append((yield from proving(replace(claim, ones=ones), known, at_most)))
    if limits.reasons:
        proofs.append((yield from watch(find_reasons(proofs[-1], known, answers, limits.batch, at_most), known)))


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
