"""Rechecking explanations on file against a model, which may be a new one: what holds, what broke, what repairs it.

The recheck of one explanation is a flow. It asks the row itself first. If the decision is unchanged, it asks the
counterfactuals and replays the proof: as many queries as there are zeros, ones and counterfactuals, and one. If the
decision has changed, the rest of the file is void and is not asked. What the space of today allows is compared without
queries.

A repair goes on from there. The zeros and ones of the old proof, as the model answers them now, are what the search for
the new explanation starts from. Every answer is the model's own, so the new explanation is the one that a fresh search
finds: only the queries differ.

Many explanations are rechecked together, in lock-step or through a pool of calls, like the rows of a table. An
explanation that cannot be rechecked has its error in its place, and costs no other.
"""

from __future__ import annotations

from collections.abc import Sized
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import CHECK_STEPS
from flipset.boundary.step_budget import StepBudget
from flipset.drivers.abandon import PatientCalls
from flipset.errors import FlipsetError, InputError
from flipset.explain.batch_size import MOST_TRIED
from flipset.explain.collecting import fewer_collections
from flipset.explain.explanation import Explanation
from flipset.explain.progress import reporting
from flipset.explain.rechecks import Rechecks
from flipset.explain.request import request_for
from flipset.explain.row import explain_row
from flipset.explain.row_sets import RowSets
from flipset.explain.rows_on_file import RowsOnFile
from flipset.explain.table import MAX_ROWS, WIDTH
from flipset.explain.table_budget import table_budget
from flipset.explain.time_limits import RowClocks
from flipset.layers import Tally, watch
from flipset.models.scores import margins
from flipset.protocol import ask, flips_of, relay
from flipset.results.column_order import in_columns
from flipset.results.from_json import with_words
from flipset.results.rechecks import Recheck, RecheckedCounterfactual
from flipset.results.still_allowed import compare_with_space
from flipset.results.verifying.findings import differences
from flipset.results.verifying.flow import check_file
from flipset.results.verifying.proof_queries import Asked, ask_proof
from flipset.search.solve import read_count
from flipset.sets.known import Known
from flipset.space.feature import is_number
from flipset.space.moves import find_moves
from flipset.space.rows import check_row, read_row
from flipset.space.told_rules import computed_of
from flipset.values.exact import is_exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flipset.explain.request import Request
    from flipset.explain.table import TableJob
    from flipset.layers import WorkClock
    from flipset.protocol import Flips, Flow
    from flipset.results.basis import Basis
    from flipset.results.data import ExplanationData
    from flipset.results.verification import Answer
    from flipset.space import Space
    from flipset.space.cells import Cells
    from flipset.space.moves import Moves
    from flipset.space.reference import Reference
    from flipset.space.row_id import RowId
    from flipset.space.rows import Row
    from flipset.space.told_rules import ToldRules

    Stored = Explanation | FlipsetError

REPAIR_BATCH = 8
"""The default of `batch` for repairs with a local model. A repair starts from a proof and needs few further queries, so
small batches waste the fewest; the rows under way fill the calls."""


@dataclass(frozen=True, slots=True, eq=False)
class _OnFile:
    """An explanation on file with its number; the columns are in the order of the space."""

    number: int
    explanation: ExplanationData
    row: Row


# --- one explanation --------------------------------------------------------------------------------------------------


def recheck_one(
    number: int,
    e: ExplanationData,
    row: Row,
    threshold: float,
    max_block: int,
    repair: Callable[[RowSets], Flow[Cells, Explanation]] | None = None,
    space: Space | None = None,
    basis_of: Callable[[ExplanationData], Basis | None] | None = None,
) -> Flow[Cells, Recheck]:
    """Recheck one explanation; a query of this flow is the cells in which a row differs from `row`.

    `repair` makes the flow that explains the row anew, from what the recheck has learned about it. It is called where
    the promise or the proof does not hold, and where `space`, what may change now, is not as it was. `basis_of` says
    what the directions of a proof that holds rest on in this model.
    """
    budget = StepBudget(CHECK_STEPS)
    problems = check_file(e, max_block, budget).problems
    if problems:
        raise InputError(f"the explanation on file is not consistent: {problems[0]}")
    asked = Asked(len(e.row), budget)
    score = (yield from asked.scores([()]))[()]
    decision = bool(score >= threshold)
    found = Recheck(
        row=number,
        threshold=threshold,
        decision_before=e.decision,
        score_before=e.score,
        threshold_before=e.threshold,
        decision=decision,
        score=score,
        counterfactuals=tuple(RecheckedCounterfactual(one.flipset, one.changes, one.score) for one in e.promised),
        words=e.words,
        id=e.id,
    )
    if decision == e.decision:
        on_file = RowsOnFile(e, space, asked)
        found = yield from _ask_counterfactuals(found, e, on_file)
        found = yield from _ask_proof(found, e, on_file)
        if found.proof_holds and basis_of is not None:
            found = replace(found, basis=basis_of(e))
        if space is not None:
            found = _compare_with_space(found, e, row, space)
    found = replace(found, queries=asked.queries)
    is_as_before = found.holds and found.proof_holds is not False and found.same_moves is not False
    if repair is None or is_as_before:
        return found
    assert space is not None, "a repair needs what may change now"
    try:
        begun = yield from _begin_repair(e, space, row, threshold, max_block, decision, asked)
        repaired = yield from repair(begun)
    except FlipsetError as error:
        return replace(found, error=f"not repaired: {error}", queries=asked.queries)
    return replace(found, repaired=replace(repaired, id=e.id), queries=repaired.queries)


def _ask_counterfactuals(found: Recheck, e: ExplanationData, on_file: RowsOnFile) -> Flow[Cells, Recheck]:
    rows = [differences(e.row, one.row) for one in e.promised]
    scores = yield from on_file.scores(rows)
    sign = -1 if e.decision else 1
    now = tuple(
        replace(
            one,
            score=scores[cells],
            margin=sign * (scores[cells] - found.threshold),
            holds=bool(scores[cells] >= found.threshold) != e.decision,
        )
        for one, cells in zip(found.counterfactuals, rows, strict=True)
    )
    return replace(found, counterfactuals=now)


def _compare_with_space(found: Recheck, e: ExplanationData, row: Row, space: Space) -> Recheck:
    now = compare_with_space(e, row, space)
    pairs = zip(found.counterfactuals, now.why_not, strict=True)
    return replace(
        found,
        same_moves=now.same_moves,
        counterfactuals=tuple(replace(one, not_allowed=why_not) for one, why_not in pairs),
    )


def _ask_proof(found: Recheck, e: ExplanationData, on_file: RowsOnFile) -> Flow[Cells, Recheck]:
    if e.status == "unproved":
        return found
    answers: list[Answer] = []
    if e.moves.units:  # otherwise nothing can move, and there is nothing to ask
        yield from ask_proof(e, on_file.moves, found.threshold, on_file, answers.append)
    zeros = tuple(one.moved for one in answers if not one.expected and one.flips)
    ones = tuple(one.moved for one in answers if one.expected and not one.flips)
    some_flips = not e.proof.ones or len(ones) < len(e.proof.ones)
    return replace(
        found,
        proof_holds=not zeros and not ones,
        size_holds=not zeros and some_flips,
        changed_zeros=zeros,
        changed_ones=ones,
    )


def _begin_repair(
    e: ExplanationData, space: Space, row: Row, threshold: float, max_block: int, decision: bool, asked: Asked
) -> Flow[Cells, RowSets]:
    """Return what is known about a row before it is explained anew: its score, and the answers to the old proof.

    Where the space has changed, a set of the old proof is the set of the features that still can move, at their best
    values of now; if that makes other rows, they are asked.
    """
    row = check_row(space, row)
    moves = find_moves(space, row, raise_score=not decision)
    moves.check_block(max_block)
    sets = _old_sets(e, moves) if decision == e.decision else []
    blocks = [moves.rows(flips) for flips in sets]
    scores = yield from asked.scores([(), *(cells for block in blocks for cells in block)])
    # Where constraints allow no row of a set, what is left is the row itself.
    scores_of = [[scores[cells] for cells in block or [()]] for block in blocks]
    beyond = [max(margins(one, threshold, rise=not decision)) for one in scores_of]
    answers = dict(zip(sets, beyond, strict=True))
    first_scores = [one[0] for one in scores_of]
    triples = list(zip(sets, first_scores, beyond, strict=True))
    # The counterfactuals on file are evidence about the directions, too: one that flips, in a set that does not.
    rows = [differences(e.row, one.row) for one in e.promised] if decision == e.decision else []
    values = [own for cells in rows if (own := _as_asked(cells, row, moves, space)) is not None]
    scores |= yield from asked.scores(values)
    known = row, moves, scores, None, lambda: triples, _contradiction(answers)
    return RowSets(*known, asked.queries, asked.rounds, has_values=bool(values))


def _as_asked(cells: Cells, row: Row, moves: Moves, space: Space) -> Cells | None:
    """Return the cells by which a search in this space knows a row on file; None if it is none of its rows."""
    own = cells
    if space.computed is not None:
        computed = {space.computed.place[name] for name in space.computed.names}
        own = tuple(cell for cell in cells if cell[0] not in computed)
        try:
            if space.computed.complete(row, own) != cells:
                return None
        except InputError:  # what was computed when it was made cannot be computed any more
            return None
    if not _can_compare(own, space):
        return None
    return own if moves.rules is None or moves.rules.rows(own) == (own,) else None


def _can_compare(cells: Cells, space: Space) -> bool:
    """Say whether the values of a row have a place in the orders of this space."""
    features = [(space.features[column], value) for column, value in cells]
    return all(
        value in feature.levels if feature.levels else is_number(value)
        for feature, value in features
        if feature.ordered and feature.is_ordinary(value)
    )


def _old_sets(e: ExplanationData, moves: Moves) -> list[Flips]:
    """Return the zeros and ones of a proof as sets of these units; the empty set, which is the row, is left out."""
    number = {unit.name: i for i, unit in enumerate(moves.units)}
    facts = (*e.proof.zeros, *e.proof.ones) if e.moves.units else ()
    sets = [flips_of(number[name] for name in e.moves.names(flips) if name in number) for flips in facts]
    return [flips for flips in dict.fromkeys(sets) if flips]


def _contradiction(answers: Mapping[Flips, float]) -> tuple[Flips, Flips] | None:
    """Return a set that flips and a larger one that does not, if there are such."""
    known = Known()
    for flips, margin in answers.items():
        pair = known.conflict(flips, margin >= 0)
        if pair is not None:
            return pair
        known.learn(flips, margin >= 0)
    return None


# --- many explanations ------------------------------------------------------------------------------------------------


def recheck_table(
    space: Space,
    make_job: Callable[..., TableJob],
    explanations: Iterable[Stored],
    *,
    repair: bool,
    is_local: bool,
    has_space: bool = True,
    basis_of: Callable[[ExplanationData], Basis | None] | None = None,
    each: Callable[[Recheck], None] | None = None,
    progress: bool | Callable[[int, int, int], None] = False,
    fixed: Iterable[str] = (),
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    within: Iterable[str] | None = None,
    max_rise: Mapping[str, Any] | None = None,
    max_fall: Mapping[str, Any] | None = None,
    width: int = WIDTH,
    max_rows: int = MAX_ROWS,
    in_flight: int | None = None,
    max_table_queries: int | None = None,
    max_table_seconds: float | None = None,
    **request: Any,
) -> Rechecks:
    """Recheck explanations together; `Explainer.recheck` documents the arguments.

    `make_job` is called with the space, the request and some of the rows; it returns the job that asks the model.
    Without `has_space`, the space has the columns, and does not say what may change.
    Explanations are read as far as they are needed, unless the progress needs to know how many there are.
    """
    space = space.with_changes(fixed, bounds, within=within, max_rise=max_rise, max_fall=max_fall)
    wanted = request_for(space, **request)
    if wanted.thresholds:
        raise InputError("a recheck is about the threshold of each explanation on file: leave thresholds out")
    if wanted.batch is None and (is_local or not repair):
        wanted = replace(wanted, batch=REPAIR_BATCH)  # without repairs there is no search, and nothing to choose
    how: dict[str, Any] = {"width": read_count("width", width), "max_rows": read_count("max_rows", max_rows)}
    if in_flight is not None:
        how["in_flight"] = read_count("in_flight", in_flight)
    how["budget"] = table_budget(max_table_queries, max_table_seconds)
    if progress and not isinstance(explanations, Sized):
        explanations = list(explanations)
    total = len(explanations) if isinstance(explanations, Sized) else 0
    source = iter(explanations)
    first = list(islice(source, MOST_TRIED))
    rows = [entry.row for entry in map(partial(_readable, space, 0), first) if isinstance(entry, _OnFile)]
    job = make_job(space, wanted, rows, **how)
    from_file = repair and not {"objective", "max_changes"} & request.keys()
    tally = Tally()
    with reporting(progress, total) as report:
        make = partial(_flow, job, repair=repair, from_file=from_file, has_space=has_space, basis_of=basis_of)
        results = _run(chain(first, source), job, tally, each, report, make)
    return Rechecks(tuple(results), tally.queries, tally.rounds)


def _run(
    explanations: Iterable[Stored],
    job: TableJob,
    tally: Tally,
    each: Callable[[Recheck], None] | None,
    report: Callable[[int, int], None],
    make: Callable[[_OnFile, WorkClock | None], Flow[Cells, Recheck]],
) -> list[Recheck]:
    results: dict[int, Recheck] = {}
    ids: dict[int, RowId | None] = {}  # of those under way

    def finish(number: int, result: Recheck | FlipsetError) -> None:
        own = ids.pop(number, None)
        if isinstance(result, FlipsetError):
            result = Recheck(row=number, threshold=job.threshold, error=str(result), id=own)
        results[number] = result
        if each is not None:
            each(result)
        report(len(results), tally.queries)

    def entries() -> Iterator[_OnFile]:
        for number, stored in enumerate(explanations):
            entry = _readable(job.space, number, stored)
            ids[number] = getattr(stored, "id", None)  # an error that ends its recheck does not have it
            if isinstance(entry, _OnFile):
                yield entry
            else:
                finish(number, entry)

    clocks = RowClocks(job.request.max_seconds)
    flows = ((entry, job.until_deadline(clocks.start(entry, partial(make, entry)))) for entry in entries())
    with (
        fewer_collections,
        PatientCalls("flipset-call") as patient,
        closing(job.run_flows(flows, tally, clocks, patient, lambda entry: entry.row)) as ended,
    ):
        for entry, result in ended:
            finish(entry.number, result)
    return [results[number] for number in sorted(results)]


def _readable(space: Space, number: int, stored: Any) -> _OnFile | FlipsetError:
    """Return an explanation in the columns of the space, or the error that says why that cannot be."""
    if isinstance(stored, FlipsetError):
        return stored
    if not isinstance(stored, Explanation):
        return InputError(f"recheck takes explanations, got {type(stored).__name__}")
    odd = next((name for name in (*stored.row, *space.names) if (name in stored.row) != (name in space.names)), None)
    if odd is not None:
        where = "the explanation" if odd in stored.row else "the space"
        return InputError(f"its columns are not those of the space: only {where} has {odd!r}")
    e: ExplanationData = with_words(stored, space.words)
    try:
        e = e if tuple(e.row) == space.names else in_columns(e, space.names)
        return _OnFile(number, e, read_row({**e.own_bounds, **e.row}, space.names, space.own_columns))
    except InputError as error:
        return error


def _flow(
    job: TableJob,
    entry: _OnFile,
    clock: WorkClock | None,
    *,
    repair: bool,
    from_file: bool,
    has_space: bool,
    basis_of: Callable[[ExplanationData], Basis | None] | None,
) -> Flow[Cells, Recheck]:
    """Return the flow that rechecks one explanation among others."""
    e = entry.explanation

    def explain(begun: RowSets) -> Flow[Cells, Explanation]:
        request = _request_of(e, job.space, job.request) if from_file else job.request
        given = job.space, entry.row, job.threshold, job.costs, request
        return explain_row(*given, alone=False, begun=begun, shared=job.shared, clock=clock, grounds=job.grounds)

    given = entry.number, e, entry.row, job.threshold, job.request.max_block
    space = job.space if has_space else None
    flow = recheck_one(*given, repair=explain if repair else None, space=space, basis_of=basis_of)
    if space is None and e.rules is not None and e.rules.computed:
        flow = relay(flow, partial(_ask_completed, e, e.rules, job.space.reference))
    return flow if job.look is None else watch(flow, job.look)


def _ask_completed(
    e: ExplanationData, rules: ToldRules, reference: Reference | None, rows: Sequence[Cells]
) -> Flow[Cells, Sequence[float]]:
    """Ask rows with the computed columns as a file tells them."""
    if rules.functions and any(rows):
        names = ", ".join(map(repr, rules.functions))
        raise InputError(f"{names} is computed by a function, which is not in the file: a recheck needs the space")
    computed = computed_of(rules, e.row, reference)
    row = list(e.row.values())
    return (yield from ask(rows if computed is None else [computed.complete(row, cells) for cells in rows]))


def _request_of(e: ExplanationData, space: Space, request: Request) -> Request:
    """Return a request with the objective of an explanation on file, its limit on changes, and values as exact as its.

    With the objective "cost", the limit on file may be one that followed from the size of the old answer, so it is not
    taken over.
    """
    objective = e.objective or "size"
    most = e.max_changes if objective == "size" else None
    exact = request.exact or (request.values and is_exact(e.grids))
    changed: dict[str, Any] = {"objective": objective, "max_changes": most, "exact": exact}
    # A recheck has one threshold, the explainer's own: `thresholds` is empty, as `request_for` has seen before.
    return request_for(space, **asdict(request) | changed | {"thresholds": None})
