"""The contract that everything in flipset meets: a search is a generator.

It yields a batch of queries, receives one answer per query, and returns its result. It does no I/O, knows no model
and is deterministic given its answers; so the same search runs sync, async, in lock-step with a million others, or
from a recording.

- A query is a set of features, an `int` with bit *i* set when feature *i* is flipped (`Flips`).
- An answer is a margin: at or above 0 means that the decision flips. A model that gives only labels answers ±1.
  Searches conclude from the sign alone; the size may guide which question comes next.

- An empty batch is a *checkpoint*: nothing is asked, and the driver may stop the search there. A search passes one
  (`checkpoint`) at least every few milliseconds of its own computation. `Steps` says when one is due. A checkpoint is
  not a round: it is not counted, not recorded and never sent to a model. A driver answers it at once, with no answers;
  a layer passes it on.

Everything else is built from four functions: `ask` (the only place where a search yields), `advance` (the only place
where one is resumed), `relay` (answer a search's batches by another flow: the seam of every layer) and `gather` (join
many searches into one).
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
"""One margin per query; at or above 0 flips."""

Flow: TypeAlias = Generator[Sequence[Q], Answers, T]
"""A generator that asks queries of type Q and returns a T. Below the space Q is `Flips`; beyond it, rows."""

Search: TypeAlias = Generator[Sequence[Flips], Answers, T]
"""A flow whose queries are sets of features."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What `advance` gives when a flow has returned."""

    result: T


def ask(batch: Sequence[Q]) -> Flow[Q, Answers]:
    """Ask the queries of `batch` together, in one round."""
    answers = yield batch
    if len(answers) != len(batch):
        sent = f"{count(len(answers), 'answer')} to a batch of {count(len(batch), 'query')}"
        raise ProtocolError(f"the driver sent {sent}")
    return answers


def checkpoint() -> Flow[Any, None]:
    """Ask nothing: whoever drives the search may stop it here."""
    yield from ask(())


def is_checkpoint(step: Sequence[Q] | Done[T]) -> TypeGuard[Sequence[Q]]:
    """Say whether a flow asked nothing: it goes on with no answers."""
    return not isinstance(step, Done) and len(step) == 0


STEPS_APART = 5_000
"""Elementary steps between two checkpoints. One is a look at a set or a point: a microsecond, as a rule."""


class Steps:
    """Counts the elementary steps of a computation; a checkpoint is due every `STEPS_APART` of them."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = STEPS_APART

    def due(self, steps: int = 1) -> bool:
        """Count steps; say whether a checkpoint is due, which starts the count again."""
        self.left -= steps
        if self.left > 0:
            return False
        self.left = STEPS_APART
        return True


def does_flip(query: Flips) -> Search[bool]:
    """Ask one query, alone in its round, and read its sign."""
    (answer,) = yield from ask((query,))
    return answer >= 0


def advance(flow: Flow[Q, T], answers: Answers | None = None) -> Sequence[Q] | Done[T]:
    """Start the flow, or resume it with `answers`; return its next batch, or `Done` with its result."""
    # Only the resumption stands inside the try: a StopIteration from anywhere else must not pass for a result.
    try:
        return next(flow) if answers is None else flow.send(answers)
    except StopIteration as stop:
        return Done(stop.value)


def interrupt(flow: Flow[Q, T], error: BaseException) -> Sequence[Q] | Done[T]:
    """Raise `error` where the flow waits for answers; return what it makes of it, as `advance` does."""
    try:
        return flow.throw(error)
    except StopIteration as stop:
        return Done(stop.value)


def relay(inner: Flow[P, T], answer: Callable[[Sequence[P]], Flow[Q, Answers]]) -> Flow[Q, T]:
    """Run `inner`, each of its batches answered by the flow that `answer` makes for it.

    What `answer` yields reaches the outer driver; what it returns is sent to `inner`. The two may speak of different
    queries, which is how flips become rows. `answer` is given checkpoints too, as empty batches, and passes them on:
    to ask an empty batch does that. That a budget ran out, or that somebody interrupts, is raised inside `inner`, which
    may end with what it has, or go on with what it need not ask. Whatever ends this flow closes `inner` too.
    """
    try:
        step = advance(inner)
        while not isinstance(step, Done):
            try:
                answers = yield from answer(step)
            except (BudgetExhausted, KeyboardInterrupt) as stop:
                step = interrupt(inner, stop)
            else:
                step = advance(inner, answers)
        return step.result
    finally:
        inner.close()


def gather(flows: Iterable[Flow[Q, T]]) -> Flow[Q, list[T]]:
    """Join flows into one whose batch is the concatenation of theirs: they advance in lock-step.

    Returns their results in the order given. A flow that has finished asks nothing more; when one raises, all are
    closed. A flow at a checkpoint goes on before the others are answered: it misses no round.
    """
    members = list(flows)
    results: dict[int, T] = {}
    try:
        waiting: dict[int, Sequence[Q]] = {}
        for i, flow in enumerate(members):
            yield from _settle(i, flow, advance(flow), waiting, results)
        while waiting:
            answers = yield from ask([query for batch in waiting.values() for query in batch])
            asked, waiting, start = waiting, {}, 0
            for i, batch in asked.items():
                stop = start + len(batch)
                step = advance(members[i], answers[start:stop])
                yield from _settle(i, members[i], step, waiting, results)
                start = stop
        return [results[i] for i in range(len(members))]
    finally:
        for flow in members:
            flow.close()


def _settle(
    i: int, flow: Flow[Q, T], step: Sequence[Q] | Done[T], waiting: dict[int, Sequence[Q]], results: dict[int, T]
) -> Flow[Q, None]:
    """File what member `i` of a gathering did, past its checkpoints: it asked, or it is done."""
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


_BITS = bytes.maketrans(b"01", b"\x00\x01")

_LOW, _MIDDLE, _HIGH = (
    tuple(tuple(shift + i for i in range(8) if byte >> i & 1) for byte in range(256)) for shift in (0, 8, 16)
)


def features_of(flips: Flips) -> list[int]:
    """Return the features of this bitmask, ascending.

    Examples
    --------
    >>> features_of(9)
    [0, 3]
    """
    if flips < 1 << 24:  # the common case: a byte at a time, looked up
        return [*_LOW[flips & 255], *_MIDDLE[flips >> 8 & 255], *_HIGH[flips >> 16]]
    if flips.bit_count() <= 8:
        # Few features, maybe among a million: pick them off by their lowest bit.
        found = []
        while flips:
            lowest = flips & -flips
            found.append(lowest.bit_length() - 1)
            flips ^= lowest
        return found
    # Many: one pass over the digits, linear in the length where picking bits off would be quadratic.
    digits = bin(flips)[:1:-1].encode().translate(_BITS)
    return list(compress(range(len(digits)), digits))


def by_size(flips: Flips) -> tuple[int, list[int]]:
    """Order sets of features by size, then by their features: the order of everything shown to people."""
    return flips.bit_count(), features_of(flips)
