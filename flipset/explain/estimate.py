"""What a table will take, from a sample of its rows that is explained.

The sample are the rows with the least hashes, of their cells and types. So it is the same in every run, whatever the
order of the table, and as good as drawn by chance: no content of a row decides whether it is in the sample, other than
through a hash. Rows of the sample are asked exactly what they are asked in a run over the table, and a journal keeps
the answers for that run.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from flipset.errors import Fault, FlipsetError, InputError, Interrupted
from flipset.explain.explanations import reserved_names
from flipset.explain.pace import Pace, RowCounts
from flipset.results.estimates import Figure, Spent, TableEstimate, most_of
from flipset.results.statistics import total_interval
from flipset.search.solve import read_count
from flipset.space.identity import row_key
from flipset.space.ids import read_ids
from flipset.space.reference import read_frame
from flipset.space.table_rows import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flipset.explain.explanation import Explanation
    from flipset.explain.explanations import Explanations
    from flipset.journal import AnswerStore
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.space import Space
    from flipset.space.rows import Row
    from flipset.space.table_rows import TableRows

SAMPLE = 200
"""The default number of rows in a sample. On six tables, the interval of the queries then is about a tenth of the total
to each side where no few rows take most of the queries."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks that time is read from: the one on the wall, and that of the processor."""

    wall: Callable[[], float] = time.monotonic
    processor: Callable[[], float] = time.process_time


CLOCKS = Clocks()


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of a sample by their places, and how many different rows it is a sample of."""

    places: tuple[int, ...]
    distinct: int

    def of_table(self, table: Any) -> Any:
        """Return the rows of the sample as a table of the same kind."""
        places = list(self.places)
        if hasattr(table, "columns"):
            return read_frame(table)[places].to_native()
        return table[places] if isinstance(table, np.ndarray) else [table[i] for i in places]


class TableExplainer(Protocol):
    """What an estimate needs of an explainer."""

    @property
    def space(self) -> Space:
        """The space of the rows."""

    @property
    def endpoint(self) -> RemoteModel | None:
        """The endpoint that answers; None for other models."""

    @property
    def journal(self) -> AnswerStore | None:
        """The journal that keeps the answers."""

    def for_sample_of(self, rows: int) -> TableExplainer:
        """Return a copy that explains a sample of a table of so many rows as it would explain the table."""

    def explain_table(self, table: Any, **how: Any) -> Any:
        """Explain all rows of a table."""


def estimate_table(
    model: TableExplainer,
    table: Any,
    sample: int,
    each: Callable[[int, Explanation | FlipsetError], None] | None,
    how: dict[str, Any],
    clocks: Clocks = CLOCKS,
) -> TableEstimate:
    """Return what explaining a table takes, from a sample of it; `Explainer.estimate_table` documents the arguments."""
    check_arguments(how)
    size = read_sample_size(sample)
    limits = {name: how[name] for name in ("fixed", "bounds", "within", "max_rise", "max_fall") if name in how}
    space = model.space.with_changes(**limits)
    rows = read_table(table, space.names, space.own_columns, space.reference)
    ids = read_ids(table, how.get("id"), space.names, reserved_names(space.names), len(rows))
    drawn = draw_sample(rows, size)
    how = how | {"id": None if ids is None else ids.part(drawn.places)}
    if each is not None:
        how["each"] = partial(_pass_on, each, drawn, equal_places(rows, drawn))
    explain = partial(model.for_sample_of(drawn.distinct).explain_table, drawn.of_table(table), **how)
    return estimate_from(
        model, len(rows), drawn, explain, width=how["width"], in_flight=how["in_flight"], clocks=clocks
    )


def _pass_on(
    each: Callable[[int, Any], None], sample: Sample, equal: Mapping[int, Sequence[int]], j: int, result: Any
) -> None:
    """Pass on the result of a row of the sample, once for each row of the table that is equal to it."""
    for place in equal[sample.places[j]]:
        each(place, result)


def draw_sample(rows: TableRows, size: int) -> Sample:
    """Return the different rows of a table with the least hashes, in the order of the table."""
    readable = rows.readable()
    first = rows.first_of_equal()[readable]
    distinct = readable[first == readable].tolist()
    if not distinct:
        raise InputError("no row of the table can be read, so there is nothing to estimate: check its columns")
    if len(distinct) <= size:
        return Sample(tuple(distinct), len(distinct))
    least = sorted(distinct, key=lambda i: _hash(rows.row(i)))[:size]
    return Sample(tuple(sorted(least)), len(distinct))


def _hash(row: Row) -> bytes:
    key = row_key(row.raw), row_key(tuple(row.own_bounds.values()))
    return hashlib.blake2b(repr(key).encode(), digest_size=16).digest()


def estimate_from(
    model: TableExplainer,
    rows: int,
    sample: Sample,
    explain: Callable[[], Explanations],
    *,
    width: int,
    in_flight: int | None,
    clocks: Clocks = CLOCKS,
) -> TableEstimate:
    """Explain a sample and return what the whole table of so many rows is expected to take.

    `explain` explains the sample. A fault of the network or the disk is raised, and so is an interrupt: what a table
    takes cannot be told from a sample that ended early.
    """
    endpoint = model.endpoint
    bill = getattr(endpoint, "bill", None)  # an endpoint of another kind may not have one
    before = None if bill is None else (bill.calls, bill.sent, bill.price)
    started, computed = clocks.wall(), clocks.processor()
    found = explain()
    seconds, computing = clocks.wall() - started, clocks.processor() - computed
    if (fault := next((one for one in found if isinstance(one, Fault)), None)) is not None:
        raise fault
    if any(isinstance(one, Interrupted) for one in found):
        raise KeyboardInterrupt
    calls, sent, price = found.rounds, found.queries, None
    if bill is not None and before is not None:
        calls, sent, price = bill.calls - before[0], bill.sent - before[1], bill.price - before[2]
    counts = _counts(found)
    pace = Pace(
        counts,
        calls or found.rounds,  # nothing is sent where a journal has all answers
        seconds,
        computing,
        width,
        _fill(model),
        in_flight or (1 if endpoint is None else endpoint.in_flight),
        () if endpoint is None else tuple(took for _, took in tuple(endpoint.call_times.calls)),
        getattr(endpoint, "rate", None),
        is_local=endpoint is None,
    )
    queries = _total(counts.queries, sample.distinct)
    return TableEstimate(
        rows=rows,
        distinct=sample.distinct,
        places=sample.places,
        queries=queries,
        calls=_figure(queries, lambda n, full: pace.calls_for(n, sample.distinct, full)),
        seconds=_seconds(pace, queries, sample.distinct),
        price=_price(model, pace, queries, sample.distinct, sent),
        spent=Spent(found.queries, calls, seconds, price if _has_prices(endpoint) else None),
        errors=sum(isinstance(one, FlipsetError) for one in found),
        heaviest=most_of(list(counts.queries)),
        kept_in=_kept_in(model),
    )


def _counts(found: Explanations) -> RowCounts:
    """Return the queries and rounds of each row. Rows with an error share the queries that no other row has."""
    known = [(one.queries, one.rounds) for one in found if not isinstance(one, FlipsetError)]
    failed = len(found) - len(known)
    left = max(0, found.queries - sum(queries for queries, _ in known))
    each = left / failed if failed else 0.0
    return RowCounts(
        [*(float(queries) for queries, _ in known), *[each] * failed], [*(rounds for _, rounds in known), *[0] * failed]
    )


def _total(queries: Sequence[float], distinct: int) -> Figure:
    """Return the queries of all rows. At the least, the other rows take one query each: for the row as it is."""
    low, high = total_interval(Counter(queries), distinct)
    least = sum(queries) + distinct - len(queries)
    value = sum(queries) / len(queries) * distinct
    return Figure(max(value, least), max(low, least), max(high, least))


def _figure(queries: Figure, follows: Callable[[float, float], float]) -> Figure:
    """Return what follows from queries and from how full calls are: the fullest calls for the fewest queries."""
    return Figure(follows(queries.value, 0.5), follows(queries.low, 1.0), follows(queries.high, 0.0))


def _seconds(pace: Pace, queries: Figure, rows: int) -> Figure | None:
    """Return the time for all rows; None if no call was measured."""
    if pace.seconds_for(queries.value, rows) is None:
        return None
    return _figure(queries, lambda n, full: pace.seconds_for(n, rows, full) or 0.0)


def _has_prices(endpoint: Any) -> bool:
    return bool(getattr(endpoint, "price_per_row", 0) or getattr(endpoint, "price_per_call", 0))


def _price(model: TableExplainer, pace: Pace, queries: Figure, rows: int, sent: int) -> Figure | None:
    """Return the price of all rows; None for a model without prices.

    Of queries that are the same in a call, one is sent, and those that fail are sent again: rows sent are taken to be
    in proportion to the queries. Behind a journal they may be fewer in the sample than in the table, if it had answers
    of the sample before. Each query then counts as sent.
    """
    endpoint = model.endpoint
    if endpoint is None or not _has_prices(endpoint):
        return None
    asked = sum(pace.counts.queries)
    share = 1.0 if model.journal is not None or not asked else sent / asked
    per_call = getattr(endpoint, "price_per_call", 0.0)
    per_row = share * endpoint.price_per_row
    return _figure(queries, lambda n, full: per_call * pace.calls_for(n, rows, full) + per_row * n)


def _fill(model: TableExplainer) -> float:
    return float("inf") if model.endpoint is None else model.endpoint.fill()


def _kept_in(model: TableExplainer) -> str | None:
    if model.journal is None:
        return None
    return f"the journal {getattr(model.journal, 'path', type(model.journal).__name__)}"


def equal_places(rows: TableRows, sample: Sample) -> dict[int, list[int]]:
    """Return for each row of a sample the places of all rows of the table that are equal to it."""
    chosen = set(sample.places)
    places: dict[int, list[int]] = {place: [] for place in sample.places}
    for i, first in enumerate(rows.first_of_equal().tolist()):
        if first in chosen:
            places[first].append(i)
    return places


NOT_OF_SAMPLES = {
    "thresholds": "estimate one threshold at a time",
    "max_table_queries": "an estimate says what the table takes without a limit",
    "max_table_seconds": "an estimate says what the table takes without a limit",
    "audit": "an audit takes the queries that it is given, whatever the table takes",
}
"""Arguments of `explain_table` that an estimate does not take, and why."""


def check_arguments(how: Mapping[str, Any]) -> None:
    """Refuse arguments of `explain_table` that an estimate does not take."""
    for name, why in NOT_OF_SAMPLES.items():
        if how.get(name) is not None:
            raise InputError(f"an estimate does not take {name}: {why}")


def read_sample_size(sample: Any) -> int:
    """Return how many rows a sample shall have; refuse what is no number of at least 2."""
    size = read_count("sample", sample)
    if size < 2:
        raise InputError(f"sample must be at least 2, so that rows can differ; got {size}: the default is {SAMPLE}")
    return size
