"""The contract between searches, layers and drivers: a search is a generator.

A search yields a batch of queries, receives one answer per query, and returns its result. It does no I/O, knows no
model and is deterministic given its answers. The same search therefore runs synchronously, asynchronously, in lock-step
with a million others, or from a recording.

- A query is a set of features: an `int` in which bit *i* is set when feature *i* is flipped (`Flips`).
- An answer is a margin. A margin of 0 or more means that the decision flips. A model that gives only labels answers ±1.
  Searches draw conclusions from the sign alone. The size of a margin may influence which query comes next.
- An empty batch is a *checkpoint*. It asks nothing and lets the driver stop the search. A search yields one at least
  every few milliseconds of its own computation; `Steps` says when. A checkpoint is not a round: it is not counted, not
  recorded and never sent to a model. A driver resumes the search at once, with no answers; a layer passes the
  checkpoint on.

Everything else is built from four functions: `ask` is the only place where a search yields, `advance` the only place
where it is resumed. `relay` answers a search's batches by another flow, and every layer is built on it. `gather` joins
many searches into one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Generic, TypeAlias, TypeGuard, TypeVar

from flipset.errors import BudgetExhausted, ProtocolError
from flipset.plural import count

T = TypeVar("T")
P = TypeVar("P")
Q = TypeVar("Q")

Flips: TypeAlias = int
"""A set of features as a bitmask."""

Answers: TypeAlias = Sequence[float]
"""One margin per query; 0 or more means that the decision flips."""

Flow: TypeAlias = Generator[Sequence[Q], Answers, T]
"""A generator that asks queries of type Q and returns a T. Searches ask `Flips`; other flows ask rows."""

Search: TypeAlias = Generator[Sequence[Flips], Answers, T]
"""A flow whose queries are sets of features."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The result of a flow that has returned; `advance` wraps it to tell it from a batch."""

    result: T


def ask(batch: Sequence[Q]) -> Flow[Q, Answers]:
    """Ask the queries of `batch` together, in one round."""
    # Everything goes through here, so a driver's mistake is noticed at once, and not by a wrong result.
    answers = yield batch
    if len(answers) != len(batch):
        sent = f"{count(len(answers), 'answer')} to a batch of {count(len(batch), 'query')}"
        raise ProtocolError(f"the driver sent {sent}")
    return answers


def checkpoint() -> Flow[Any, None]:
    """Ask nothing, and let the driver stop the search here."""
    yield from ask(())


def is_checkpoint(step: Sequence[Q] | Done[T]) -> TypeGuard[Sequence[Q]]:
    """Say whether a flow yielded a checkpoint, which is resumed with no answers."""
    return not isinstance(step, Done) and len(step) == 0


STEPS_APART = 5_000
"""Elementary steps between two checkpoints. A step looks at one set or one point and takes about a microsecond."""


class Steps:
    """Counts the elementary steps of a computation; a checkpoint is due every `STEPS_APART` of them."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = STEPS_APART

    def due(self, steps: int = 1) -> bool:
        """Count these steps and say whether a checkpoint is due; if it is, start counting again."""
        self.left -= steps
        if self.left > 0:
            return False
        self.left = STEPS_APART
        return True


def does_flip(query: Flips) -> Search[bool]:
    """Ask one query in a round of its own, and say whether it flips."""
    (answer,) = yield from ask((query,))
    return answer >= 0


def advance(flow: Flow[Q, T], answers: Answers | None = None) -> Sequence[Q] | Done[T]:
    """Start the flow, or resume it with `answers`; return its next batch, or `Done` with its result."""
    # Only the resumption is inside the try: a StopIteration from anywhere else must not be mistaken for a result.
    try:
        return next(flow) if answers is None else flow.send(answers)
    except StopIteration as stop:
        return Done(stop.value)


def interrupt(flow: Flow[Q, T], error: BaseException) -> Sequence[Q] | Done[T]:
    """Raise `error` at the point where the flow waits for answers; return its next step, as `advance` does."""
    try:
        return flow.throw(error)
    except StopIteration as stop:
        return Done(stop.value)


def compute(flow: Flow[Any, T]) -> T:
    """Run a flow that asks nothing, past its checkpoints; return its result."""
    step = advance(flow)
    while is_checkpoint(step):
        step = advance(flow, ())
    if not isinstance(step, Done):
        flow.close()
        raise ProtocolError("a flow that was to ask nothing asked a query")
    return step.result


def relay(inner: Flow[P, T], answer: Callable[[Sequence[P]], Flow[Q, Answers]]) -> Flow[Q, T]:
    """Run `inner`, and answer each of its batches by the flow that `answer` makes for it.

    The outer driver sees what `answer` yields; `inner` receives what `answer` returns. The two may use different kinds
    of queries, which is how flips become rows. `answer` also receives checkpoints, as empty batches, and must pass them
    on; asking an empty batch does that. An exhausted budget and an interrupt are raised inside `inner`, which may
    return a partial result or continue without asking. However this flow ends, it closes `inner`.
    """
    try:
        step = advance(inner)
        while not isinstance(step, Done):
            try:
                answers = yield from answer(step)
            except (BudgetExhausted, KeyboardInterrupt) as stop:
                # The inner flow decides: it may return what it has so far. Any other error ends both flows.
                step = interrupt(inner, stop)
            else:
                step = advance(inner, answers)
        return step.result
    finally:
        inner.close()


def gather(flows: Iterable[Flow[Q, T]]) -> Flow[Q, list[T]]:
    """Join flows into one whose batch is the concatenation of their batches, so that they advance in lock-step.

    Returns their results in the order given. A flow that has finished asks nothing more. When one raises, all are
    closed. A flow at a checkpoint is resumed before the next joint batch, so it takes part in every round.
    """
    members = list(flows)
    results: dict[int, T] = {}
    try:
        waiting: dict[int, Sequence[Q]] = {}
        for i, flow in enumerate(members):
            yield from _sort_in(i, flow, advance(flow), waiting, results)
        # Invariant: every member is in exactly one of `waiting` (with a batch that is not empty) and `results`.
        while waiting:
            answers = yield from ask([query for batch in waiting.values() for query in batch])
            batches, waiting, start = waiting, {}, 0
            for i, batch in batches.items():
                stop = start + len(batch)
                step = advance(members[i], answers[start:stop])
                yield from _sort_in(i, members[i], step, waiting, results)
                start = stop
        return [results[i] for i in range(len(members))]
    finally:
        for flow in members:
            flow.close()


def _sort_in(
    i: int, flow: Flow[Q, T], step: Sequence[Q] | Done[T], waiting: dict[int, Sequence[Q]], results: dict[int, T]
) -> Flow[Q, None]:
    """Take member `i` past its checkpoints, then note its batch in `waiting` or its result in `results`."""
    while is_checkpoint(step):
        yield from checkpoint()
        step = advance(flow, ())
    if isinstance(step, Done):
        results[i] = step.result
    else:
        waiting[i] = step


def everything(d: int) -> Flips:
    """Return the set of all `d` features."""
    return (1 << d) - 1


def flips_of(features: Iterable[int]) -> Flips:
    """Return the bitmask of these features.

    Examples
    --------
    >>> flips_of([0, 3])
    9
    """
    flips = 0
    for feature in features:
        flips |= 1 << feature
    return flips


# ASCII digits to bytes that `compress` reads as false and true.
_BITS = bytes.maketrans(b"01", b"\x00\x01")

# For each of the five lowest bytes of a bitmask: the features that each value of the byte stands for.
_LOW, _MIDDLE, _HIGH, _FOURTH, _FIFTH = (
    tuple(tuple(shift + i for i in range(8) if byte >> i & 1) for byte in range(256)) for shift in range(0, 40, 8)
)


def features_of(flips: Flips) -> list[int]:
    """Return the features of this bitmask, ascending.

    Examples
    --------
    >>> features_of(9)
    [0, 3]
    """
    if flips < 1 << 24:  # the common case: look up one byte at a time
        return [*_LOW[flips & 255], *_MIDDLE[flips >> 8 & 255], *_HIGH[flips >> 16]]
    if flips < 1 << 40:
        low = flips & 0xFFFFFF
        high = flips >> 24
        return [*_LOW[low & 255], *_MIDDLE[low >> 8 & 255], *_HIGH[low >> 16], *_FOURTH[high & 255], *_FIFTH[high >> 8]]
    if flips.bit_count() <= 8:
        # Few features, perhaps among a million: remove the lowest bit again and again.
        features = []
        while flips:
            lowest = flips & -flips
            features.append(lowest.bit_length() - 1)
            flips ^= lowest
        return features
    # Many features: one pass over the binary digits is linear; removing bits one by one would be quadratic.
    digits = bin(flips)[:1:-1].encode().translate(_BITS)
    return list(compress(range(len(digits)), digits))


def by_size(flips: Flips) -> tuple[int, list[int]]:
    """Return the sort key for sets that people see: by size, then by their features."""
    return flips.bit_count(), features_of(flips)
