"""The explanation of one row as a flow: it yields rows to query and returns an `Explanation`. It does no I/O.

So the same code explains one row, a whole table in lock-step, or a row through a slow endpoint.

An explanation has three phases. First the smallest flip sets are found, by the table search or the guided search
(`flipset.explain.choice` says which). Then values are found inside these sets (`flipset.explain.options`). Last, the
answers are compared with the directions, and everything is put together. The layers around the flow keep to the limits
of the request and make sure that no row is queried twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.answers.monotonicity import MonotonicityCheck
from flipset.answers.row_scores import RowScores
from flipset.errors import NotMonotone
from flipset.explain.choice import fits_arrays, reasons_in_arrays
from flipset.explain.explanation import Explanation
from flipset.explain.options import Options, find_options, option_fields
from flipset.explain.request import is_weighted
from flipset.layers import Allowance, Tally, count, guard, limit_queries, limit_seconds, remember, stay_interrupted
from flipset.models.scores import margins
from flipset.proof import Proof
from flipset.protocol import compute, flips_of, relay
from flipset.results.basis import Grounds
from flipset.search.guided import guided_search, minimal_in_order
from flipset.search.result import Flipsets
from flipset.search.solve import Limits, solving
from flipset.search.table.one import search_one
from flipset.sets.weights import plain_weights, read_weights
from flipset.space.moves import Moves, find_moves
from flipset.space.rows import check_row
from flipset.space.shared import Shared
from flipset.space.told_rules import tell_rules
from flipset.values.change import Frontier
from flipset.values.counterfactuals import ValueSearch
from flipset.values.space_costs import SpaceCosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flipset.explain.request import Request
    from flipset.explain.row_sets import RowSets
    from flipset.protocol import Flips, Flow
    from flipset.results.data import Status
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.rows import Row

VALUE_BATCH = 8
"""The most queries about values in one call. Probing more points of one path rarely saves a call and always costs
queries."""


@dataclass(frozen=True, slots=True)
class _Task:
    """The row that is explained, what is wanted, and what is known so far."""

    space: Space
    row: Row
    moves: Moves
    request: Request
    scores: RowScores
    monotonicity: MonotonicityCheck
    shared: Shared


def explain_row(
    space: Space,
    row: Row,
    threshold: float,
    costs: SpaceCosts,
    request: Request,
    *,
    in_arrays: bool = False,
    alone: bool = True,
    begun: RowSets | None = None,
    shared: Shared | None = None,
    clock: Callable[[], float] | None = None,
    grounds: Callable[[], Grounds] = Grounds,
) -> Flow[Cells, Explanation]:
    """Explain the decision on one row; `request_for` has checked the request for the space.

    With `in_arrays` the table search is used if the row fits. If the row is explained `alone`, an interrupt from the
    keyboard ends in what is proved by then; among other rows it ends them all. `begun` is what was learned about the
    row before, by the table search or by a recheck of an older explanation; it is not queried again. Explanations with
    the same `shared` have equal parts in common. `clock` counts the seconds of `max_seconds`; by default, all time is
    this row's. `grounds` says what the answer rests on. It is called when the answer is there: an endpoint may name its
    version only with its answers.
    """
    scores, tally = RowScores(threshold), Tally()
    given = space, row, costs, request, scores, tally, begun, shared or Shared(), grounds
    flow: Flow[Cells, Explanation] = _explain_row(*given, in_arrays=in_arrays, alone=alone)
    # The limits go around `remember`: a row whose score is already known does not count against them.
    flow = remember(flow, scores.scores)
    if request.max_queries is not None:
        flow = limit_queries(flow, Allowance(request.max_queries, 0 if begun is None else begun.queries))
    if request.max_seconds is not None:
        flow = limit_seconds(flow, request.max_seconds, clock or time.monotonic, grace=1)
    if alone:
        flow = stay_interrupted(flow)
    # The count is outermost: it sees exactly the queries that reach the model.
    return (yield from count(flow, tally))


def _explain_row(
    space: Space,
    row: Row,
    costs: SpaceCosts,
    request: Request,
    scores: RowScores,
    tally: Tally,
    begun: RowSets | None,
    shared: Shared,
    grounds: Callable[[], Grounds],
    *,
    in_arrays: bool,
    alone: bool,
) -> Flow[Cells, Explanation]:
    """Explain one row inside the layers: they keep their answers in `scores` and count in `tally`."""
    row = check_row(space, row) if begun is None else begun.row
    if begun is None:
        moves = yield from _begin(scores, space, row)
    else:
        moves = _take_over(scores, tally, begun, request)
    monotonicity = MonotonicityCheck(scores, moves, space, row, request.strict)
    task = _Task(space, row, moves, request, scores, monotonicity, shared)
    if request.only_decision not in (None, scores.decision):
        return _not_asked(task, tally.rounds, grounds())
    moves.check_block(request.max_block)
    sets = yield from _find_sets(task, begun, in_arrays=in_arrays, alone=alone)
    if sets.status == "none":
        monotonicity.check_best_values(_scores_of_sets(scores, begun))
    values = ValueSearch(scores, moves, space, row, costs, min(request.batch, VALUE_BATCH), monotonicity)
    options = yield from find_options(values, sets, request)
    # The check compares all pairs of rows. It is skipped where the searches would have noticed every contradiction.
    has_values = begun is not None and begun.has_values
    if scores.was_cut or has_values or not _is_settled_by_sets(moves, sets, request):
        yield from monotonicity.check()
    told = option_fields(options, values, request, shared)
    return _put_together(task, sets, told, tally.rounds, grounds())


def _begin(scores: RowScores, space: Space, row: Row, max_block: int | None = None) -> Flow[Cells, Moves]:
    """Query the row itself, and return what may change in it for the other decision."""
    yield from scores.begin()
    moves = find_moves(space, row, raise_score=not scores.decision)
    scores.rules = moves.rules
    if max_block is not None:
        moves.check_block(max_block)
    return moves


def _take_over(scores: RowScores, tally: Tally, begun: RowSets, request: Request) -> Moves:
    """Continue from what the table search learned about a row; return what may change in it."""
    moves = begun.moves
    scores.rules = moves.rules
    kept = dict(begun.scores)
    # All answers are needed to continue an unfinished search. They are compared at the end if the search for values
    # leaves the smallest flip sets.
    if begun.result is None or request.leaves_smallest or request.reasons == "all":
        kept |= begun.scores_of_sets()
    scores.take_over(kept, begun.queries)
    tally.rounds = begun.rounds
    return moves


# --- phase 1: the smallest flip sets ----------------------------------------------------------------------------------


def _find_sets(task: _Task, begun: RowSets | None, *, in_arrays: bool, alone: bool) -> Flow[Cells, Flipsets]:
    """Return the smallest flip sets, as sets of numbers of units."""
    answered: Mapping[Flips, float] = {}
    if begun is not None:
        if begun.contradiction is not None:
            task.monotonicity.raise_or_record(task.monotonicity.error_for_sets(*begun.contradiction))
        # Where all reasons are wanted, the guided search goes on from the sets that were found.
        if begun.result is not None and task.request.reasons != "all":
            return begun.result
        answered = begun.learned()
    elif in_arrays and fits_arrays(task.space, task.row, task.moves):
        result, answered = yield from _search_in_arrays(task)
        if result is not None:
            return result
    return (yield from _search_guided(task, answered, alone=alone))


def _scores_of_sets(scores: RowScores, begun: RowSets | None) -> Mapping[Cells, float]:
    """Return the scores of all sets that were asked about, those of the table search included."""
    if begun is None:
        return scores.scores
    return scores.scores | begun.scores_of_sets()


def _search_in_arrays(task: _Task) -> Flow[Cells, tuple[Flipsets | None, dict[Flips, float]]]:
    """Run the table search; return its result, if it has one, and otherwise the margins of the sets it asked about."""
    scores, moves, request = task.scores, task.moves, task.request
    d = len(moves.units)
    (margin,) = margins([scores.score], scores.threshold, rise=not scores.decision)
    search = search_one(d, margin, reasons=reasons_in_arrays(request), most=request.max_changes)
    outcome = yield from relay(search, partial(scores.blocks, moves))
    pair = outcome.contradiction()
    if pair is not None:
        task.monotonicity.raise_or_record(task.monotonicity.error_for_sets(*pair))
    elif outcome.ones is not None and request.lists_all(len(outcome.ones)) and request.reasons != "all":
        return outcome.conclude(d, scores.queries, 0), {}
    return None, outcome.answers


def _search_guided(task: _Task, asked: Mapping[Flips, float], *, alone: bool) -> Flow[Cells, Flipsets]:
    """Run the guided search; `asked` holds the margins of sets that were asked about before."""
    scores, moves, request, monotonicity = task.scores, task.moves, task.request, task.monotonicity
    if not moves.units:
        # Nothing may change, so nothing flips. A proof needs at least one feature: this one stands for the row itself.
        return Flipsets("none", None, None, None, (), queries=1, rounds=1, proof=Proof(1, (1,), ()))
    doubts: list[tuple[Flips, Flips]] | None = None if request.strict else []
    # The search must not learn from answers that contradict each other. The layers around it sort these out and answer
    # from them when it asks.
    learned = None if monotonicity.errors else asked
    try:
        sets = yield from solving(
            len(moves.units),
            partial(guided_search, at_most=request.max_changes, answered=learned),
            Limits(request.batch, reasons=request.reasons, max_flipsets=request.max_flipsets),
            answer=partial(scores.blocks, moves),
            weights=[unit.weight for unit in moves.units] if is_weighted(task.space) else None,
            answered={0: -1.0, **asked},
            at_most=request.max_changes,
            doubts=doubts,
            alone=alone,
        )
    except NotMonotone as error:
        raise monotonicity.about_rows(error) from None
    for smaller, larger in doubts or ():
        monotonicity.raise_or_record(monotonicity.error_for_sets(smaller, larger))
    return sets


# --- phase 3: the result ----------------------------------------------------------------------------------------------


def _is_settled_by_sets(moves: Moves, sets: Flipsets, request: Request) -> bool:
    """Say whether answers that agree as answers about sets, and along each grid of values, agree altogether.

    They do where every unit is one ordered column and values are sought within smallest flip sets only. Take a row with
    values of a flip set T, and a set S that was asked about. The row is no further than S only if S contains T; then S
    not flipping contradicts T. The row is no nearer than S only if S lies within T; then S is T, or S lies in a zero of
    the proof, and S flipping contradicts that zero. And no smallest flip set lies within another.
    """
    is_proved = sets.status in ("optimal", "incomplete", "none")
    # With exact values, rows off the grid were asked, which no grid compares.
    on_grids = not request.leaves_smallest and not request.exact
    return on_grids and is_proved and moves.ends is not None


def _not_asked(task: _Task, rounds: int, grounds: Grounds) -> Explanation:
    """Return what is known about a row that was scored only: its decision, and what might change in it."""
    nothing = Proof(max(1, len(task.moves.units)), (), ())
    sets = Flipsets("stopped", None, None, None, (), queries=1, rounds=rounds, proof=nothing)
    told: dict[str, Any] = {"counterfactuals": (), "grids": {}, "max_changes": task.request.max_changes}
    return _put_together(task, sets, told, rounds, grounds, status="not asked")


def _put_together(
    task: _Task,
    sets: Flipsets,
    told: Mapping[str, Any],
    rounds: int,
    grounds: Grounds,
    status: Status | None = None,
) -> Explanation:
    """Return the explanation of a row from its flip sets, and the fields that tell its options."""
    scores, moves, monotonicity, shared = task.scores, task.moves, task.monotonicity, task.shared
    # A model that contradicts the directions leaves nothing proved. The flip sets that were scored flip all the same.
    unproved = bool(monotonicity.errors)
    basis = shared.texts(grounds.basis(moves, task.space.names))
    return Explanation(
        decision=scores.decision,
        score=scores.score,
        threshold=scores.threshold,
        status=status or ("unproved" if unproved else sets.status),
        size=None if unproved else sets.size,
        lower=None if unproved else sets.lower,
        upper=sets.upper,
        flipsets=_names(task, sets.flipsets),
        reasons=_names(task, sets.certificates if moves.units else ()),
        contradictions=tuple(error.rows for error in monotonicity.errors if error.rows is not None),
        held_fixed=shared.names(moves.held_fixed),
        row=monotonicity.row,
        queries=scores.queries,
        rounds=rounds,
        proof=shared.proof(sets.proof),
        moves=shared.moves(moves),
        objective=task.request.objective,
        basis=basis,
        audited_pairs=grounds.audited_pairs if "audited" in basis.values() else None,
        contradicted=shared.names(grounds.contradicted_units(moves, task.space.names)),
        fingerprints=shared.equal(grounds.fingerprints),
        held_because=shared.texts(dict(moves.held_because)),
        own_bounds=task.row.own_bounds or shared.texts({}),
        words=task.space.words,
        rules=tell_rules(task.space, moves),
        **told,
    )


def tell_row(
    space: Space,
    row: Row,
    moves: Moves,
    threshold: float,
    costs: SpaceCosts,
    request: Request,
    shared: Shared,
    grounds: Grounds,
    score: float,
    sets: Flipsets,
    positions: Sequence[Sequence[int]] | None,
    flipset_scores: Sequence[float],
) -> Explanation:
    """Return the explanation of a row whose answer is known; nothing is asked.

    For each flip set, `positions` says where its counterfactual stands on the paths of its units, and `flipset_scores`
    what the model said about it. Without positions, counterfactuals are at the best values of their units. Every unit
    is one ordered column; where there are positions, there are no constraints.
    """
    scores = RowScores(threshold)
    scores.rules = moves.rules
    scores.take_over({(): score}, sets.queries)
    monotonicity = MonotonicityCheck(scores, moves, space, row, request.strict)
    values = ValueSearch(scores, moves, space, row, costs, 1, monotonicity)
    flipsets = [flips_of(flipset) for flipset in sets.flipsets]
    if positions is None:
        for flips, own in zip(flipsets, flipset_scores, strict=True):
            scores.scores[moves.rows(flips)[0]] = own
        rows = values.at_best_values(flipsets, minimal=True)
    else:
        rows = [values.at_positions(*pair) for pair in zip(flipsets, positions, strict=True)]
        scores.scores.update((one.cells, own) for one, own in zip(rows, flipset_scores, strict=True))
    scores.take_over({}, sets.queries)
    told = option_fields(Options(rows, request.max_changes), values, request, shared)
    task = _Task(space, row, moves, request, scores, monotonicity, shared)
    return _put_together(task, sets, told, sets.rounds, grounds)


def _names(task: _Task, sets: Iterable[Iterable[int]]) -> tuple[tuple[str, ...], ...]:
    """Return sets of units by name."""
    shared, names = task.shared, [unit.name for unit in task.moves.units]
    return shared.names(tuple([shared.names(tuple([names[i] for i in sorted(one)])) for one in sets]))


# --- other queries about one row --------------------------------------------------------------------------------------


def list_flipsets(
    space: Space,
    row: Row,
    threshold: float,
    report: Callable[[tuple[str, ...]], None],
    batch: int,
    max_block: int,
) -> Flow[Cells, None]:
    """Pass all minimal flip sets to `report`, by name, lightest first."""
    scores = RowScores(threshold)
    yield from remember(_list_flipsets(space, row, scores, report, batch, max_block), scores.scores)


def _list_flipsets(
    space: Space,
    row: Row,
    scores: RowScores,
    report: Callable[[tuple[str, ...]], None],
    batch: int,
    max_block: int,
) -> Flow[Cells, None]:
    row = check_row(space, row)
    moves = yield from _begin(scores, space, row, max_block)
    monotonicity = MonotonicityCheck(scores, moves, space, row, strict=True)
    checked = 0
    anything = False

    def check_and_report(flips: Flips) -> None:
        # A check takes time in proportion to the rows scored. Repeating it whenever their number has doubled keeps the
        # total in proportion, too.
        nonlocal checked, anything
        if moves.ends is None and len(scores.scores) >= 2 * checked:
            compute(monotonicity.check())
            checked = len(scores.scores)
        anything = True
        report(moves.names(flips))

    if moves.units:
        weights = [unit.weight for unit in moves.units] if is_weighted(space) else None
        exact = read_weights(plain_weights(weights, len(moves.units)), len(moves.units))
        search = minimal_in_order(len(moves.units), check_and_report, batch=batch, weights=exact)
        try:
            yield from relay(guard(search), partial(scores.blocks, moves))
        except NotMonotone as error:
            raise monotonicity.about_rows(error) from None
        if not anything:
            monotonicity.check_best_values(scores.scores)
        yield from monotonicity.check()


def trace_frontier(
    space: Space,
    row: Row,
    names: Sequence[str],
    threshold: float,
    batch: int,
) -> Flow[Cells, Frontier]:
    """Find all least pairs of values of two features that flip the decision."""
    scores = RowScores(threshold)
    return (yield from remember(_trace_frontier(space, row, names, scores, batch), scores.scores))


def _trace_frontier(
    space: Space, row: Row, names: Sequence[str], scores: RowScores, batch: int
) -> Flow[Cells, Frontier]:
    row = check_row(space, row)
    moves = yield from _begin(scores, space, row)
    flips = moves.flips(names)
    monotonicity = MonotonicityCheck(scores, moves, space, row, strict=True)
    values = ValueSearch(scores, moves, space, row, SpaceCosts(space, None), batch, monotonicity)
    choice, points = yield from values.frontier(flips)
    yield from monotonicity.check()
    return Frontier(
        features=tuple(path.feature.name for _, path in choice.paths),
        before=tuple(path.before for _, path in choice.paths),
        points=tuple(
            tuple(path.values[j - 1] if j else path.before for (_, path), j in zip(choice.paths, point, strict=True))
            for point in points
        ),
        queries=len(scores.scores),
        words=tuple(path.feature.words for _, path in choice.paths),
    )
