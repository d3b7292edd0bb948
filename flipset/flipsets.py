"""`find_flipsets` and `iter_flipsets`: the pieces composed, for a set function that can only be asked."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from flipset.drivers import run, stream
from flipset.errors import InputError
from flipset.layers import guard, remember
from flipset.layers.budget import with_known
from flipset.protocol import ask, features_of
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.solve import Limits, read_count, solving
from flipset.sets.known import Known
from flipset.sets.weights import plain_weights, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from flipset.protocol import Flips
    from flipset.search.result import Flipsets
    from flipset.search.solve import FindAll

    SetFunction: TypeAlias = Callable[[Sequence[frozenset[int]]], Sequence[bool | float]]


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
    known = Known()
    flow = with_known(limits.around(remember(guard(search, known))), known)
    return (frozenset(features_of(one)) for one in stream(flow, _asked_as_sets(flips), found))


def _asked_as_sets(flips: SetFunction) -> Callable[[Sequence[Flips]], Sequence[bool | float]]:
    return lambda batch: flips([frozenset(features_of(query)) for query in batch])
