"""The explanation of one row as a flow: it asks rows and returns an `Explanation`. It knows no model.

So the same code explains one row, a whole table in lock-step, or a row of a slow endpoint.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.answers.monotonicity import Blame
from flipset.answers.row_scores import RowScores
from flipset.errors import NotMonotone
from flipset.explain.choice import fits_arrays
from flipset.explain.explanation import Explanation
from flipset.explain.request import is_weighted
from flipset.layers import Allowance, Tally, count, guard, limit_queries, limit_seconds, remember, stay_interrupted
from flipset.models.scores import margins
from flipset.proof import Proof
from flipset.protocol import flips_of, relay
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.result import Flipsets
from flipset.search.solve import Limits, solving
from flipset.search.table.one import conclude_search, search_one
from flipset.sets.weights import plain_weights, read_weights
from flipset.space.moves import Moves, find_moves
from flipset.space.rows import check_row
from flipset.values.change import Frontier
from flipset.values.counterfactuals import Advisor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.explain.request import Request
    from flipset.explain.table_sets import RowSets
    from flipset.protocol import Flips, Flow
    from flipset.space import Space
    from flipset.space.moves import Cells
    from flipset.space.rows import Row
    from flipset.values.costs import Measure

VALUE_BATCH = 8
"""Of these, questions about values: several on one path halve it no faster than one does, for what they cost."""


def explaining(
    space: Space,
    row: Row,
    threshold: float,
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None,
    request: Request,
    *,
    in_arrays: bool = False,
    alone: bool = True,
    begun: RowSets | None = None,
) -> Flow[Cells, Explanation]:
    """Explain the decision on one row; `request_for` has checked the request for the space.

    With `in_arrays` the table search is used if the row fits. An interrupt ends in what is proved by then, unless the
    row is not `alone`. What was found out about it among others, `begun`, is not asked again.
    """
    scores, tally = RowScores(threshold), Tally()
    given = space, row, cost, request, scores, tally, begun
    flow: Flow[Cells, Explanation] = _explaining(*given, in_arrays=in_arrays, alone=alone)
    flow = remember(flow, scores.scores)
    if request.max_queries is not None:
        flow = limit_queries(flow, Allowance(request.max_queries))
    if request.max_seconds is not None:
        flow = limit_seconds(flow, request.max_seconds, time.monotonic, grace=1)
    if alone:
        flow = stay_interrupted(flow)
    return (yield from count(flow, tally))


def _explaining(
    space: Space,
    row: Row,
    cost: Measure | Mapping[str, Callable[[Any, Any], float]] | None,
    request: Request,
    scores: RowScores,
    tally: Tally,
    begun: RowSets | None,
    *,
    in_arrays: bool,
    alone: bool,
) -> Flow[Cells, Explanation]:
    """Explain one row inside the layers: `scores` is what they remember, `tally` what they count."""
    row = check_row(space, row) if begun is None else begun.row
    if begun is None:
        moves = yield from _begin(scores, space, row, request.max_block)
    else:
        moves = _go_on(scores, tally, begun, request)
    blame = Blame(scores, moves, space, row, request.strict)
    if begun is not None and begun.contradiction is not None:
        blame.take(blame.of_sets(*begun.contradiction))
    found = None if begun is None else begun.found
    if found is None:
        asked = {} if begun is None else {flips: margin for flips, _, margin in begun.asked()}
        if begun is None and in_arrays and fits_arrays(space, row, moves):
            found, asked = yield from _search_in_arrays(scores, moves, request, blame)
        if found is None:
            weighted = is_weighted(space)
            found = yield from _find_sets(scores, moves, request, blame, asked, weighted=weighted, alone=alone)
    advisor = Advisor(scores, moves, space, row, cost, min(request.batch, VALUE_BATCH), blame)
    minimal = found.status == "optimal"
    flipsets = [flips_of(flipset) for flipset in found.flipsets]
    if request.values:
        advice = yield from advisor.for_flipsets(flipsets, request.value_queries, minimal=minimal)
    else:
        advice = advisor.at_the_ends(flipsets, minimal=minimal)
    most = request.max_changes
    if request.objective == "cost" and minimal and advice:
        most = most or min(map(len, found.flipsets)) + 1
        advice = [(yield from advisor.cheapest(most, advice, is_limited=request.is_limited))]
    if scores.was_cut or not _is_settled_by_sets(moves, found, request):
        blame.check()
    return Explanation(
        decision=scores.decision,
        score=scores.score,
        threshold=scores.threshold,
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
        queries=scores.queries,
        rounds=tally.rounds,
        proof=found.proof,
        moves=moves,
        max_changes=most,
        objective=request.objective,
    )


def _go_on(scores: RowScores, tally: Tally, begun: RowSets, request: Request) -> Moves:
    """Take over what was found out about a row; return what it may do."""
    moves = begun.moves
    moves.check_block(request.max_block)
    again = dict(begun.scores)
    if begun.found is None or request.objective == "cost":  # all answers are needed, to go on or to compare
        again |= {moves.rows(flips)[0]: score for flips, score, _ in begun.asked()}
    scores.take_over(again, begun.queries)
    tally.rounds = begun.rounds
    return moves


def _is_settled_by_sets(moves: Moves, found: Flipsets, request: Request) -> bool:
    """Say whether answers that agree as answers about sets, and along each grid of values, agree altogether.

    They do where every unit is one ordered column and values are sought within smallest flip sets only. Take a row with
    values of a flip set T and a set S that was asked about. The row is no further than S only if S holds T; then S not
    flipping contradicts T. It is no nearer than S only if S lies within T; then S is T, or lies in a zero of the proof,
    and S flipping contradicts that. And of two smallest flip sets none lies within the other.
    """
    return moves.ends is not None and found.status in ("optimal", "none") and request.objective == "size"


def _begin(scores: RowScores, space: Space, row: Row, max_block: int | None = None) -> Flow[Cells, Moves]:
    """Ask about the row itself, and return what it may do for the other decision."""
    yield from scores.begin()
    moves = find_moves(space, row, raise_score=not scores.decision)
    if max_block is not None:
        moves.check_block(max_block)
    return moves


def _search_in_arrays(
    scores: RowScores, moves: Moves, request: Request, blame: Blame
) -> Flow[Cells, tuple[Flipsets | None, dict[Flips, float]]]:
    """Run the table search; return what it found, if it did, and what was asked."""
    d = len(moves.units)
    (margin,) = margins([scores.score], scores.threshold, rise=not scores.decision)
    search = search_one(d, margin, batch=request.batch, reasons=request.reasons)
    outcome = yield from relay(search, partial(scores.blocks, moves))
    pair = outcome.contradiction()
    if pair is not None:
        blame.take(blame.of_sets(*pair))
    elif outcome.ones is not None:
        return conclude_search(outcome, d, int, scores.queries, outcome.rounds + 1), {}
    return None, dict(zip(outcome.flips.tolist(), outcome.margins.tolist(), strict=True))


def _find_sets(
    scores: RowScores,
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
    # Answers that contradict each other are sorted out by the layers around the search: it hears of them from there.
    learned = None if blame.errors else asked
    try:
        found = yield from solving(
            len(moves.units),
            partial(guided_search, at_most=request.max_changes, answered=learned),
            Limits(request.batch, reasons=request.reasons),
            answer=partial(scores.blocks, moves),
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
    scores = RowScores(threshold)
    yield from remember(_going_through(space, row, scores, found, batch, max_block), scores.scores)


def _going_through(
    space: Space,
    row: Row,
    scores: RowScores,
    found: Callable[[tuple[str, ...]], None],
    batch: int,
    max_block: int,
) -> Flow[Cells, None]:
    row = check_row(space, row)
    moves = yield from _begin(scores, space, row, max_block)
    blame = Blame(scores, moves, space, row, strict=True)
    checked = 0

    def tell(one: Flips) -> None:
        # Comparing all rows takes as long as there are rows: whenever there are twice as many is often enough.
        nonlocal checked
        if moves.ends is None and len(scores.scores) >= 2 * checked:
            blame.check()
            checked = len(scores.scores)
        found(moves.names(one))

    if moves.units:
        weights = [unit.weight for unit in moves.units] if is_weighted(space) else None
        exact = read_weights(plain_weights(weights, len(moves.units)), len(moves.units))
        search = minimal_in_order(len(moves.units), tell, batch=batch, weights=exact)
        try:
            yield from relay(guard(search), partial(scores.blocks, moves))
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
    scores = RowScores(threshold)
    return (yield from remember(_tracing_frontier(space, row, names, scores, batch), scores.scores))


def _tracing_frontier(
    space: Space, row: Row, names: Sequence[str], scores: RowScores, batch: int
) -> Flow[Cells, Frontier]:
    row = check_row(space, row)
    moves = yield from _begin(scores, space, row)
    flips = moves.flips(names)
    blame = Blame(scores, moves, space, row, strict=True)
    choice, points = yield from Advisor(scores, moves, space, row, None, batch, blame).frontier(flips)
    blame.check()
    return Frontier(
        features=tuple(path.feature.name for _, path in choice.paths),
        before=tuple(path.before for _, path in choice.paths),
        points=tuple(
            tuple(path.values[j - 1] if j else path.before for (_, path), j in zip(choice.paths, point, strict=True))
            for point in points
        ),
        queries=len(scores.scores),
    )
