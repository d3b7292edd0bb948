"""The explanation of one row as a flow: it asks rows and returns an `Explanation`. It knows no model.

So the same code explains one row, a whole table in lock-step, or a row of a slow endpoint.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.answers.asked import Asking
from flipset.answers.witnesses import Blame
from flipset.errors import NotMonotone
from flipset.explain.request import is_weighted
from flipset.flipsets import Limits, solving
from flipset.layers import guard
from flipset.proof import Proof
from flipset.protocol import flips_of, relay
from flipset.results.explanation import Explanation
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.result import Flipsets
from flipset.sets.weights import plain_weights, read_weights
from flipset.space.moves import Moves, find_moves
from flipset.space.rows import check_row
from flipset.values.change import Frontier
from flipset.values.counterfactuals import Advisor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.explain.request import Request
    from flipset.explain.table_sets import Scouted
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.moves import Cells
    from flipset.space.rows import Row
    from flipset.values.costs import Measure

SCOUT_FROM = 16
"""Questions a round from which the time of a search matters more than how many they are."""

VALUE_BATCH = 8
"""Of these, questions about values: several on one path halve it no faster than one does, for what they cost."""


def explaining(
    space: Space,
    row: Row,
    threshold: float,
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None,
    request: Request,
    *,
    alone: bool = True,
    scouted: Scouted | None = None,
) -> Flow[Cells, Explanation]:
    """Explain the decision on one row; `request_for` has checked the request for the space.

    An interrupt ends in what is proved by then, unless the row is not `alone`. What was `scouted` is not asked again.
    """
    asking = Asking(threshold, max_queries=request.max_queries, max_seconds=request.max_seconds)
    row = check_row(space, row) if scouted is None else scouted.row
    if scouted is None:
        moves = yield from _begin(asking, space, row, request.max_block)
    else:
        moves = _go_on(asking, scouted, request)
    blame = Blame(asking, moves, space, row, request.strict)
    if scouted is not None and scouted.contradiction is not None:
        blame.take(blame.of_sets(*scouted.contradiction))
    if scouted is not None and scouted.found is not None:
        found = scouted.found
    else:
        asked = {} if scouted is None else {flips: margin for flips, _, margin in scouted.asked()}
        found = yield from _find_sets(asking, moves, request, blame, asked, weighted=is_weighted(space), alone=alone)
    advisor = Advisor(asking, moves, space, row, cost, min(request.batch, VALUE_BATCH), blame)
    minimal = found.status == "optimal"
    flipsets = [flips_of(flipset) for flipset in found.flipsets]
    if request.values:
        advice = yield from advisor.for_flipsets(flipsets, request.value_queries, minimal=minimal)
    else:
        advice = advisor.at_the_ends(flipsets, minimal=minimal)
    most = request.max_changes
    if request.objective == "cost" and minimal and advice:
        most = most or min(map(len, found.flipsets)) + 1
        advice = [(yield from advisor.cheapest(most, advice))]
    if asking.was_cut or not _is_settled_by_sets(moves, found, request):
        blame.check()
    return Explanation(
        decision=asking.decision,
        score=asking.score,
        threshold=threshold,
        status="unproved" if blame.errors else found.status,
        size=None if blame.errors else found.size,
        lower=None if blame.errors else found.lower,
        upper=found.upper,
        flipsets=tuple(moves.names(flips_of(flipset)) for flipset in found.flipsets),
        reasons=tuple(moves.names(flips_of(reason)) for reason in (found.certificates if moves.units else ())),
        counterfactuals=tuple(sorted(map(advisor.tell, advice), key=lambda one: one.cost)),
        contradictions=tuple(error.rows for error in blame.errors if error.rows is not None),
        held_fixed=moves.held_fixed,
        grids=advisor.grids(advice),
        row=blame.row,
        queries=asking.queries,
        rounds=asking.rounds,
        proof=found.proof,
        moves=moves,
        max_changes=most,
        objective=request.objective,
    )


def _go_on(asking: Asking, scouted: Scouted, request: Request) -> Moves:
    """Take over what was found out about a row; return what it may do."""
    moves = scouted.moves
    moves.check_block(request.max_block)
    scores = dict(scouted.scores)
    if scouted.found is None or request.objective == "cost":  # all answers are needed, to go on or to compare
        scores |= {moves.rows(flips)[0]: score for flips, score, _ in scouted.asked()}
    asking.take_over(scores, scouted.queries, scouted.rounds, interrupted=scouted.interrupted)
    return moves


def _is_settled_by_sets(moves: Moves, found: Flipsets, request: Request) -> bool:
    """Say whether answers that agree as answers about sets, and along each grid of values, agree altogether.

    They do where every unit is one ordered column and values are sought within smallest flip sets only. Take a row with
    values of a flip set T and a set S that was asked about. The row is no further than S only if S holds T; then S not
    flipping contradicts T. It is no nearer than S only if S lies within T; then S is T, or lies in a zero of the proof,
    and S flipping contradicts that. And of two smallest flip sets none lies within the other.
    """
    return moves.ends is not None and found.status in ("optimal", "none") and request.objective == "size"


def _begin(asking: Asking, space: Space, row: Row, max_block: int | None = None) -> Flow[Cells, Moves]:
    """Ask about the row itself, and return what it may do for the other decision."""
    yield from asking.begin()
    moves = find_moves(space, row, raise_score=not asking.decision)
    if max_block is not None:
        moves.check_block(max_block)
    return moves


def may_scout(space: Space, request: Request) -> bool:
    """Say whether rows may be searched many at once: where questions are to be spared, or counted, they may not."""
    limited = request.max_queries is not None or request.max_seconds is not None
    few = request.batch < SCOUT_FROM or (request.max_changes is not None and request.max_changes < 2)
    return not limited and not few and not is_weighted(space)


def _find_sets(
    asking: Asking,
    moves: Moves,
    request: Request,
    blame: Blame,
    asked: Mapping[Flips, float],
    *,
    weighted: bool,
    alone: bool,
) -> Flow[Cells, Flipsets]:
    """Find the smallest sets of units, in their numbers; of some that were `asked` about, the margins are known."""
    if not moves.units:
        return Flipsets("none", None, None, None, (), queries=1, rounds=1, proof=Proof(1, (1,), ()))
    doubts: list[tuple[Flips, Flips]] | None = None if request.strict else []
    try:
        found = yield from solving(
            len(moves.units),
            partial(guided_search, at_most=request.max_changes),
            Limits(request.batch, reasons=request.reasons),
            answer=partial(asking.blocks, moves),
            weights=[unit.weight for unit in moves.units] if weighted else None,
            answered={0: -1.0, **asked},
            at_most=request.max_changes,
            doubts=doubts,
            alone=alone,
        )
    except NotMonotone as error:
        raise blame.of_sets_or_rows(error) from None
    for smaller, larger in doubts or ():
        blame.take(blame.of_sets(smaller, larger))
    return found


def going_through(
    space: Space,
    row: Row,
    threshold: float,
    found: Callable[[tuple[str, ...]], None],
    batch: int,
    max_block: int,
) -> Flow[Cells, None]:
    """Hand all minimal flip sets to `found`, by name, lightest first."""
    row = check_row(space, row)
    asking = Asking(threshold)
    moves = yield from _begin(asking, space, row, max_block)
    blame = Blame(asking, moves, space, row, strict=True)
    checked = 0

    def tell(one: Flips) -> None:
        # Comparing all rows takes as long as there are rows: whenever there are twice as many is often enough.
        nonlocal checked
        if moves.ends is None and len(asking.scores) >= 2 * checked:
            blame.check()
            checked = len(asking.scores)
        found(moves.names(one))

    if moves.units:
        weights = [unit.weight for unit in moves.units] if is_weighted(space) else None
        exact = read_weights(plain_weights(weights, len(moves.units)), len(moves.units))
        search = minimal_in_order(len(moves.units), tell, batch=batch, weights=exact)
        try:
            yield from relay(guard(search), partial(asking.blocks, moves))
        except NotMonotone as error:
            raise blame.of_sets_or_rows(error) from None
        blame.check()


def tracing_frontier(
    space: Space,
    row: Row,
    names: Sequence[str],
    threshold: float,
    batch: int,
) -> Flow[Cells, Frontier]:
    """Find all least pairs of values of two features that flip the decision."""
    row = check_row(space, row)
    asking = Asking(threshold)
    moves = yield from _begin(asking, space, row)
    flips = moves.flips(names)
    blame = Blame(asking, moves, space, row, strict=True)
    choice, points = yield from Advisor(asking, moves, space, row, None, batch, blame).frontier(flips)
    blame.check()
    return Frontier(
        features=tuple(path.feature.name for _, path in choice.paths),
        before=tuple(path.before for _, path in choice.paths),
        points=tuple(
            tuple(path.values[j - 1] if j else path.before for (_, path), j in zip(choice.paths, point, strict=True))
            for point in points
        ),
        queries=len(asking.scores),
    )
