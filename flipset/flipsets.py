"""`find_flipsets` and `iter_flipsets`: the flip sets of a monotone set function that can only be asked.

These functions check their arguments, put search, layers and driver together, and run them. A set is a frozenset of
features for the caller, and a bitmask everywhere else.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal

from flipset.drivers import run, stream
from flipset.drivers.abandon import within
from flipset.errors import InputError
from flipset.layers import guard, remember
from flipset.layers.budget import with_known
from flipset.protocol import ask, features_of
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.solve import MAX_FLIPSETS, Limits, read_count, solving
from flipset.search.wanted_reasons import REASONS, read_reasons
from flipset.sets.known import Known
from flipset.sets.weights import plain_weights, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from flipset.protocol import Flips, Search
    from flipset.search.result import Flipsets
    from flipset.search.solve import FindAll

    SetFunction: TypeAlias = Callable[[Sequence[frozenset[int]]], Sequence[bool | float]]
    Oracle: TypeAlias = Callable[[Sequence[Flips]], Sequence[bool | float]]


def find_flipsets(
    flips: SetFunction,
    d: int,
    *,
    search: FindAll = guided_search,
    weights: Sequence[float] | None = None,
    batch: int = 1,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    reasons: bool | int | Literal["all"] = REASONS,
    max_flipsets: int | None = MAX_FLIPSETS,
) -> Flipsets:
    """Find all smallest sets of features that flip a monotone set function, and prove that there are no others.

    Parameters
    ----------
    flips
        The function. It takes a batch, a list of frozensets of the features 0 to d-1, and returns for each set a bool,
        or a float margin (at or above 0 flips). It must be monotone: if a set flips, so do all of its supersets.
    d
        The number of features.
    search
        The search to run, by default `flipset.search.guided_search`. `flipset.paper.find_optimal` is the paper's
        search.
    weights
        One positive number per feature. "Smallest" then means least total weight, here and in the result.
    batch
        The most queries in one round. With 1 the search asks the fewest queries; with 64 it needs far fewer rounds and
        a few more queries.
    max_queries, max_seconds
        Limits after which the search stops, with the status "stopped" and what is proved by then. An interrupt from
        the keyboard has the same effect. The clock is read before every round and every few milliseconds of
        computation, also after the flip sets are found: if the time is up once they are proved, while reasons are
        still being made minimal, the status is "optimal". A call of `flips` that does not return is abandoned, with a
        warning, 2 seconds after the limit.
    reasons
        The most reasons to report in `certificates`, all of them minimal. They are chosen by a rule that depends only
        on the function (`flipset.search.few_reasons`), and there are at most as many as the smallest flip set has
        features. "all": all those of the proof, made minimal, which often takes several times the queries. False: none.
    max_flipsets
        The most flip sets to list; None for all. If there are more, the status is "incomplete": the size is proved, and
        the listed sets are the first by a rule that depends only on the function (`flipset.search.first_flipsets`).

    Raises
    ------
    InputError
        An argument is not valid.
    OracleError
        `flips` raised an error, or returned something that is not an answer.
    NotMonotone
        Two answers contradict each other. The error holds both sets.

    Examples
    --------
    The function flips for feature 2 together with one of the others:

    >>> result = find_flipsets(lambda sets: [2 in s and len(s) >= 2 for s in sets], d=3)
    >>> result.status, result.size, [sorted(s) for s in result.flipsets]
    ('optimal', 2, [[0, 2], [1, 2]])
    >>> [sorted(s) for s in result.certificates]
    [[2], [0, 1]]
    >>> result.proof.check(3)
    True
    """
    d = read_count("d", d)
    limits = Limits(batch, max_queries, max_seconds, read_reasons(reasons), max_flipsets)
    if not callable(search):
        raise InputError(f"search must be a function such as flipset.paper.find_optimal, got {search!r}")
    with within(max_seconds, _asked_as_sets(flips)) as oracle:
        return run(solving(d, search, limits, answer=ask, weights=weights), oracle)


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

    A flip set is minimal if no feature can be left out of it. There may be exponentially many; stop when you have
    enough. The arguments are those of `find_flipsets`.

    Raises
    ------
    BudgetExhausted
        A limit was reached. The sets that were yielded are correct and in order, but there may be more. The seconds
        count from the first query, with the time between two sets. A call that does not return is abandoned.

    Examples
    --------
    >>> [sorted(s) for s in iter_flipsets(lambda sets: [0 in s or {1, 2} <= s for s in sets], d=4)]
    [[0], [1, 2]]
    """
    d = read_count("d", d)
    limits = Limits(batch, max_queries, max_seconds)
    minimal: deque[Flips] = deque()  # the search appends here, and `stream` takes from here between rounds
    exact = read_weights(plain_weights(weights, d), d)
    search = minimal_in_order(d, minimal.append, batch=batch, weights=exact)
    # Kept outside of the layers, so that the error of a spent budget can carry what was learned.
    known = Known()
    flow = with_known(limits.around(remember(guard(search, known))), known)
    return _in_time(flow, _asked_as_sets(flips), minimal, max_seconds)


def _in_time(
    flow: Search[None], oracle: Oracle, minimal: deque[Flips], max_seconds: float | None
) -> Iterator[frozenset[int]]:
    """Yield the sets that a search finds; a call that does not return in time is abandoned."""
    with within(max_seconds, oracle) as ask_in_time:
        for one in stream(flow, ask_in_time, minimal):
            yield frozenset(features_of(one))


def _asked_as_sets(flips: SetFunction) -> Oracle:
    """Return the oracle that asks `flips` about frozensets instead of bitmasks."""
    return lambda batch: flips([frozenset(features_of(query)) for query in batch])
