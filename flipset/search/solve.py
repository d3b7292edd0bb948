"""From a search to a result: the layers around the search, the proof of its answer, and the result if it is stopped.

`solving` is the flow that every caller uses. From the inside out, it stacks: a check for contradictory answers, the
memory of answers, the budgets, the count, and finally the flow that asks the model. The search runs first, then the
proof is built from its answers, then the reasons to report are found. Each of these may be cut short by a budget; the
last proof that was completed decides the status.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from operator import index
from sys import maxsize
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, cast

from flipset.errors import BudgetExhausted, InputError
from flipset.layers import Allowance, Tally, consistent, count, guard, limit_queries, limit_seconds, remember
from flipset.proof import Proof
from flipset.protocol import everything, relay
from flipset.search.few_reasons import find_few_reasons, with_reasons_first
from flipset.search.first_flipsets import first_flipsets, listing_order
from flipset.search.proving import bound_below, cover_below, partial_proof, proving
from flipset.search.reasons import MOST_OF_MANY, MOST_REASONS, find_reasons, margins_alone
from flipset.search.result import Flipsets, in_order
from flipset.search.wanted_reasons import REASONS, Reasons, read_reasons
from flipset.sets.known import Known
from flipset.sets.weights import plain_weights, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.protocol import Answers, Flips, Flow, Search
    from flipset.search.result import Status

MAX_FLIPSETS = 500
"""The default for the most flip sets that are listed."""

T = TypeVar("T")
Q = TypeVar("Q")


class FindAll(Protocol):
    """The type of the argument `search`: it makes a search for all smallest flip sets of `d` features.

    The search asks at most `batch` queries in a round. It returns the sets, or an empty tuple if no set flips. If the
    function has a keyword `weights`, it can find the lightest sets instead. If it has a keyword `settled`, the search
    calls it with each weight (or size) below which no set flips, as soon as that is shown; the result of a stopped
    search uses this as its lower bound. If it has a keyword `most`, the search may return as soon as it has seen more
    smallest flip sets than that, provided that no smaller set flips.
    """

    def __call__(self, d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        """Make the search."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on a search: queries in a round and in total, seconds, flip sets to list; and how many reasons to find."""

    batch: int = 1
    max_queries: int | None = None
    max_seconds: float | None = None
    reasons: Reasons = REASONS
    max_flipsets: int | None = None

    def __post_init__(self) -> None:
        read_count("batch", self.batch)
        object.__setattr__(self, "reasons", read_reasons(self.reasons))
        if self.max_flipsets is not None:
            read_count("max_flipsets", self.max_flipsets, "; None lists all")
        for name in ("max_queries", "max_seconds"):
            limit = getattr(self, name)
            kinds = int if name == "max_queries" else (int, float)
            if limit is not None and (not isinstance(limit, kinds) or isinstance(limit, bool) or not limit >= 0):
                raise InputError(f"{name} must be a number of at least 0, or None for no limit; got {limit!r}")

    def around(self, flow: Flow[Q, T], *, spent: int = 0) -> Flow[Q, T]:
        """Put the budgets around a flow; `spent` queries count as asked already."""
        if self.max_queries is not None:
            flow = limit_queries(flow, Allowance(self.max_queries, spent))
        if self.max_seconds is not None:
            flow = limit_seconds(flow, self.max_seconds, time.monotonic)
        return flow


def read_count(name: str, value: SupportsIndex, hint: str = "") -> int:
    """Return a whole number of at least 1; raise `InputError`, with the hint, for anything else."""
    try:
        count = 0 if isinstance(value, bool) else index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}{hint}")
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
    """Run the search inside its layers, prove its answer and return the result.

    Queries go through `answer`, which decides what the outer driver is asked. `answered` holds earlier answers: they
    count as queries and are not asked again. `at_most` says that the search ignores larger sets; "none" then means that
    there is no flip set up to that size. If a budget is spent, here or in `answer`, or if the user interrupts, the
    result has the status "stopped" or the last proof that was completed. Contradictory answers raise `NotMonotone`,
    unless a list of `doubts` is given: then the earlier answer wins, and the pair is added to the list. A flow that
    runs together with others is not `alone`: an interrupt is then raised, because it is meant for all of them.
    """
    weights = plain_weights(weights, d)
    proved = Proved()
    made = _make(search, d, limits, weights, proved.raise_to)
    memory = dict(answered or {})
    tally = Tally(len(memory), len(memory))
    known = _known_from(memory, doubts)
    claim = Proof(d, (), (), weights)
    reached = Reached(reasons=None if limits.reasons == "all" else 0)
    watch = guard if doubts is None else partial(consistent, contradictions=doubts)
    flow = _proving(made, claim, known, memory, limits, reached, at_most, watch)
    try:
        yield from relay(count(limits.around(remember(flow, memory), spent=tally.queries), tally), answer)
    except BudgetExhausted:
        pass  # `known` and `reached` have everything that was found
    except KeyboardInterrupt:
        if not alone:
            raise
    proof = reached.proof
    if proof is None:
        stopped = partial_proof(claim, known)
        return conclude("stopped", stopped, tally, bound_below(stopped, proved.lower), reached.reasons)
    if proof.ones:
        return conclude("optimal" if reached.listed_all else "incomplete", proof, tally, reasons=reached.reasons)
    if at_most is not None and known.settle(everything(d)):
        return conclude("none", proof, tally, lower=at_most + 1, reasons=reached.reasons)
    return conclude("none", proof, tally, reasons=reached.reasons)


def _known_from(answers: Mapping[Flips, float], doubts: list[tuple[Flips, Flips]] | None) -> Known:
    """Return the zeros and ones of earlier answers.

    If two answers contradict each other, the earlier one wins, and the pair is added to `doubts`.
    """
    known = Known()
    for query, margin in answers.items():
        pair = known.conflict(query, margin >= 0)
        if pair is None:
            known.learn(query, margin >= 0)
        else:
            assert doubts is not None, "the caller has checked these answers for contradictions"
            doubts.append(pair)
    return known


@dataclass(slots=True)
class Proved:
    """A lower bound that a search has proved on the way, as a whole number: no lighter set flips."""

    lower: int = 0

    def raise_to(self, lower: int) -> None:
        """Raise the bound, if this one is better."""
        self.lower = max(self.lower, lower)


@dataclass(slots=True)
class Reached:
    """What is proved so far: first with zeros from the answers, then with the reasons to report."""

    proof: Proof | None = None
    listed_all: bool = True  # the ones of the proof are all the lightest flip sets
    reasons: int | None = None  # how many zeros of the proof, the first ones, are reported as reasons; None for all

    def report(self, claim: Proof, reasons: Sequence[Flips]) -> None:
        """Note the proof with these zeros first, which are those of reasons to report."""
        self.proof, self.reasons = with_reasons_first(claim, reasons), len(reasons)


def _make(
    search: FindAll, d: int, limits: Limits, weights: tuple[float, ...] | None, settled: Callable[[int], None]
) -> Search[tuple[Flips, ...]]:
    """Call `search` with the keywords that it has."""
    try:
        takes = {*signature(search).parameters}
    except (TypeError, ValueError):  # functions that are not written in Python may have no signature
        takes = set()
    more: dict[str, Any] = {"settled": settled} if "settled" in takes else {}
    if "most" in takes:
        more["most"] = limits.max_flipsets
    if weights is not None:
        more["weights"] = read_weights(weights, d)
        if "weights" not in takes:
            name = getattr(search, "__name__", repr(search))
            raise InputError(f"{name} finds smallest sets only: leave weights out, or use flipset.search.guided_search")
    return cast("Callable[..., Search[tuple[Flips, ...]]]", search)(d, batch=limits.batch, **more)


def _proving(
    search: Search[tuple[Flips, ...]],
    claim: Proof,
    known: Known,
    answers: Mapping[Flips, float],
    limits: Limits,
    reached: Reached,
    at_most: int | None,
    watch: Callable[[Search[Any], Known], Search[Any]],
) -> Search[None]:
    """Run the search, prove its answer, and find the reasons to report; note each proof when it is done."""
    ones = yield from watch(search, known)
    if limits.max_flipsets is not None and len(ones) > limits.max_flipsets:
        # Not all are wanted. The rest is about the size alone: as if no set of less weight were known to flip.
        at_most = read_weights(claim.weights, claim.d).of(ones[0]) - 1
        listed = yield from watch(_list_first(ones[0], claim, known, answers, limits), known)
        zeros = yield from cover_below(claim, known, at_most)
        reached.proof, reached.listed_all = replace(claim, zeros=zeros, ones=listed), False
        claim = replace(claim, zeros=zeros)
    else:
        claim = reached.proof = yield from proving(replace(claim, ones=ones), known, at_most)
        listed = ones
    if limits.reasons == "all":
        most = MOST_REASONS if reached.listed_all else MOST_OF_MANY
        if limits.max_flipsets is None:  # everything is wanted
            most = maxsize
        chosen, are_all = yield from watch(find_reasons(claim, known, answers, limits.batch, at_most, most), known)
        zeros = chosen.zeros
        if not are_all:
            zeros = tuple(dict.fromkeys((*chosen.zeros, *claim.zeros)))
            reached.reasons = len(chosen.zeros)
        reached.proof = replace(claim, zeros=zeros, ones=listed)
    elif limits.reasons:
        claim = replace(claim, ones=listed)
        report = partial(reached.report, claim)
        yield from watch(find_few_reasons(claim, known, answers, limits.batch, limits.reasons, at_most, report), known)


def _list_first(
    one: Flips, claim: Proof, known: Known, answers: Mapping[Flips, float], limits: Limits
) -> Search[tuple[Flips, ...]]:
    """Return the first flip sets of the weight of `one`, by the rule of `first_flipsets`; no lighter set flips."""
    assert limits.max_flipsets is not None
    weights = read_weights(claim.weights, claim.d)
    weight = weights.of(one)
    if not weight:  # the empty set flips, and there is no other of its weight
        return (one,)
    alone = yield from margins_alone(claim.d, answers, known, limits.batch)
    order = listing_order(alone, claim.d)
    zeros = known.zeros
    return tuple((yield from first_flipsets(order, zeros, weights, weight, limits.max_flipsets, known, limits.batch)))


def conclude(
    status: Status, proof: Proof, tally: Tally, lower: float | None = None, reasons: int | None = None
) -> Flipsets:
    """Return the result that a proof supports.

    `lower` is the lower bound on the weight of flip sets. Unless the search was stopped, it is by default the weight of
    the ones. `reasons` is the number of zeros that are reported as reasons; None for all.
    """
    upper = proof.upper()
    if lower is None and status != "stopped":
        lower = upper
    return Flipsets(
        status=status,
        size=upper if status in ("optimal", "incomplete") else None,
        lower=lower,
        upper=upper,
        flipsets=in_order(proof.ones),
        queries=tally.queries,
        rounds=tally.rounds,
        proof=proof,
        reasons=reasons,
    )
