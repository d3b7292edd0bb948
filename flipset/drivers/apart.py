"""Find whose queries a model fails on, by asking again in halves.

A model that fails on a call does not say on which of its queries. `apart` describes how to find out, as a flow: it
yields the queries to ask next, by their numbers, and the caller sends the answers back or raises the error
inside the flow. It does no I/O, so that a blocking call, a pool of calls and a table of arrays share it.

Invariants:

- The first part is all queries, in order. A part that fails is split by its owners, not by its queries: the
  queries of one owner stay together, since one error is the result for all of them.
- Parts are settled from the first owner to the last. So outcomes appear in the order of the owners.
- A query that was answered is not asked again. A call may be answered in part before it fails: these answers come
  with the error (`FlipsetError.answers`), and only the rest is divided.
- Only errors that may be about rows lead to another call. A fault of the network or the disk ends the flow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flipset.drivers.drive import drive
from flipset.errors import BudgetExhausted, FlipsetError, InputError, OracleError
from flipset.protocol import Flow, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Outcomes: TypeAlias = list[float | FlipsetError | None]
"""For each query its answer or the error of its owner; None where neither is there yet."""


def apart(
    owners: Sequence[int],
    *,
    afford: Callable[[int], BudgetExhausted | None] | None = None,
    outcomes: Outcomes | None = None,
) -> Flow[int, Outcomes]:
    """Yield parts of the queries until each has an answer or an error; return these, one for each query.

    Parameters
    ----------
    owners
        For each query the number of its owner, such as the row that it is about.
    afford
        Called before queries are asked, with how many an owner has in this part; counts them, or returns the error
        that is then the outcome of that owner. Queries that are asked again are counted again.
    outcomes
        A list to put the outcomes into as they arrive, for a caller who passes them on before all are there; None
        where an outcome is still missing.

    An `OracleError` and an `InputError` (a column cannot hold a cell) are about rows, and are traced to their owner. A
    `BudgetExhausted` is the outcome of the whole part, and other parts are asked all the same. Any other error, such as
    a `Fault`, ends the flow.

    Examples
    --------
    >>> from flipset.errors import OracleError
    >>> def fail_on_seven(part):
    ...     print("asked", list(part))
    ...     if 2 in part:
    ...         raise OracleError("seven", part)
    ...     return [float(i) for i in part]
    >>> ask_apart(fail_on_seven, owners=[5, 5, 7, 8])
    asked [0, 1, 2, 3]
    asked [0, 1]
    asked [2, 3]
    asked [2]
    asked [3]
    [0.0, 1.0, OracleError('seven'), 3.0]
    """
    settled: Outcomes = [None] * len(owners) if outcomes is None else outcomes
    # A stack. Its last part holds the first owners that are not settled, so they are settled from first to last.
    parts: list[Sequence[int]] = [range(len(owners))]
    while parts:
        part = parts.pop()
        if afford is not None:
            part = _affordable(part, owners, afford, settled)
        if not part:
            continue
        try:
            answers = yield from ask(part)
        except (OracleError, InputError, BudgetExhausted) as error:
            part = _unanswered(part, error, settled)
            # A budget does not depend on how queries are divided: halves would be refused again, or paid for twice.
            halves = [] if isinstance(error, BudgetExhausted) else _halves(part, owners)
            if not halves:
                _settle(settled, part, [error] * len(part))
            parts += reversed(halves)  # the first half is at the end, and is taken next
        else:
            _settle(settled, part, answers)
    return settled


def ask_apart(ask_part: Callable[[Sequence[int]], Sequence[float]], owners: Sequence[int]) -> Outcomes:
    """Ask all queries by calling `ask_part` with their numbers, apart where it fails; return their outcomes."""
    return drive(apart(owners), ask_part)


def _affordable(
    part: Sequence[int], owners: Sequence[int], afford: Callable[[int], BudgetExhausted | None], settled: Outcomes
) -> Sequence[int]:
    """Return the queries of the part that can be paid for: all of an owner's, or none."""
    mine: dict[int, list[int]] = {}
    for i in part:
        mine.setdefault(owners[i], []).append(i)
    refused = {owner: error for owner, some in mine.items() if (error := afford(len(some))) is not None}
    for owner, error in refused.items():
        _settle(settled, mine[owner], [error] * len(mine[owner]))
    return [i for i in part if owners[i] not in refused] if refused else part


def _unanswered(part: Sequence[int], error: FlipsetError, settled: Outcomes) -> Sequence[int]:
    """Settle the queries whose answers arrived before the error; return the others."""
    answers, error.answers = error.answers, ()  # the error is a result from now on, and need not hold them
    # Not strict: an error that came before any answer has an empty list.
    for i, answer in zip(part, answers, strict=False):
        settled[i] = answer
    return [i for i in part if settled[i] is None] if answers else part


def _halves(part: Sequence[int], owners: Sequence[int]) -> list[list[int]]:
    """Split queries by their owners; there is nothing to split where there is only one."""
    # Sorted, so that outcomes appear in the order of the owners, and the calls are a function of the queries.
    different = sorted({owners[i] for i in part})
    if len(different) < 2:
        return []
    first = set(different[: len(different) // 2])
    return [[i for i in part if owners[i] in first], [i for i in part if owners[i] not in first]]


def _settle(settled: Outcomes, part: Sequence[int], outcomes: Sequence[float | FlipsetError]) -> None:
    if len(part) == len(settled):  # by far the commonest case: everything was answered at once
        settled[:] = outcomes
        return
    for i, outcome in zip(part, outcomes, strict=True):
        settled[i] = outcome
