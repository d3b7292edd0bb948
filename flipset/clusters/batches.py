"""One batch of a table in, one batch of explanations out: the work of each process of a cluster.

`explain_batch` is a function of a `Job` and a batch. Each process opens the explainer of the job once, and with it the
model: from the job itself, from a file that the process can read, or through an endpoint.

Invariant: every row of a batch has one row in the result, in the same order. A row that cannot be explained has an
error there, and does not stop the others.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from flipset.errors import NOT_MONOTONE, FlipsetError, InputError, OracleError
from flipset.explain.request import request_for
from flipset.explain.threads import one_thread
from flipset.models.tables import kinds_of
from flipset.results.kinds import result_kinds
from flipset.results.summary import Counts, read_sets
from flipset.results.table import further_columns, wide_columns, wide_names
from flipset.space.feature import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flipset.explain.explanation import Explanation
    from flipset.journal import AnswerStore
    from flipset.space import Space

CHANGES = ("fixed", "bounds", "within", "max_rise", "max_fall")
"""The arguments of `Explainer.explain_table` that say what may change."""

TABLE = (*CHANGES, "width", "max_rows", "in_flight", "only")
"""The arguments of `Explainer.explain_table` that are not about single rows, and that a worker can apply."""

ONE_PROCESS = ("progress", "each", "workers", "max_table_queries", "max_table_seconds")
"""Those that a worker cannot apply, because they are about the whole table."""

COUNTED = ("group", "side", "kind", "of", "n")
"""The columns of a table of counts."""


class TableExplainer(Protocol):
    """What a batch needs of an `Explainer`: it explains tables, and it can be pickled.

    `Explainer` imports this package for `explain_spark` and `explain_dask`, so this package cannot import `Explainer`.
    """

    @property
    def space(self) -> Space:
        """The space; its names are the columns that the explainer takes."""

    @property
    def journal(self) -> AnswerStore | None:
        """The journal, if there is one."""

    def explain_table(self, table: Any, **request: Any) -> Iterable[Explanation | FlipsetError]:
        """Explain the rows of a table, in order."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a process needs to explain batches of a table.

    Attributes
    ----------
    parcel
        The pickled explainer.
    digest
        A hash that identifies the parcel.
    names
        The columns that the explainer takes.
    keys
        Columns that identify rows; they are copied to the result.
    request
        The arguments of `Explainer.explain_table`.
    own
        The columns with bounds of each row's own.
    constrained
        Whether the space has constraints between columns.
    """

    parcel: bytes
    digest: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    request: Mapping[str, Any]
    own: tuple[str, ...] = ()
    constrained: bool = False

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that the explainer takes, and those with bounds of each row's own."""
        return tuple(dict.fromkeys((*self.names, *self.own)))

    @property
    def further(self) -> tuple[str, ...]:
        """The columns of the result that only this request or this space asks for."""
        return further_columns(self.request.get("more"), bool(self.request.get("curve")), self.constrained)


def make_job(
    explainer: TableExplainer, columns: Sequence[str], keys: Sequence[str] | None, request: Mapping[str, Any]
) -> Job:
    """Pack an explainer for tables with these columns; by default, the keys are the columns that it does not take."""
    names = explainer.space.names
    chosen = tuple(column for column in columns if column not in names) if keys is None else tuple(keys)
    own = explainer.space.with_changes(**{name: request[name] for name in CHANGES if name in request}).own_columns
    for name in (*names, *own, *chosen):
        if name not in columns:
            raise InputError(f"the table has no column {name!r}; it has {', '.join(list(columns)[:12])}")
    # Two columns of one name cannot be told apart in the result, and Spark refuses them much later.
    clash = [name for name in chosen if name in wide_names(names, further_columns(1, True, True))]
    if clash:
        raise InputError(f"the key {clash[0]!r} is also a column of the explanations: rename it")
    if explainer.journal is not None:
        raise InputError("a journal is a file of one machine, and workers may be on others: explain without one")
    if request.get("thresholds"):
        raise InputError("a cluster explains one threshold at a time: explain once for each of the thresholds")
    refused = [name for name in ONE_PROCESS if request.get(name) is not None]
    if refused:
        raise InputError(f"{refused[0]} cannot be kept by workers that know nothing of each other: leave it out")
    # Check the request here, before the cluster starts: an error in a worker would be found much later.
    request_for(explainer.space, **{name: value for name, value in request.items() if name not in TABLE})
    constrained = bool(explainer.space.constraints)
    try:
        parcel = pickle.dumps(explainer)
    except Exception as error:
        raise InputError(
            f"workers need a model that can be sent to them, and this one cannot: {error}. Define functions at the top "
            "of a module, or name a file that all workers can read: Explainer('model.ubj', ...)"
        ) from error
    return Job(parcel, hashlib.sha256(parcel).hexdigest(), names, chosen, dict(request), own, constrained)


_opened: dict[str, TableExplainer] = {}  # in a worker: the explainers it has opened, the latest last
KEPT_OPEN = 4


def _open(job: Job) -> TableExplainer:
    if job.digest not in _opened:
        # A worker of a long session sees many jobs. Models may be large, so only the last few stay open.
        while len(_opened) >= KEPT_OPEN:
            del _opened[next(iter(_opened))]
        _opened[job.digest] = pickle.loads(job.parcel)
    return _opened[job.digest]


def explain_batch(job: Job, batch: Any) -> Any:
    """Explain the rows of a pandas frame or an Arrow batch; return one of the same kind, with the keys."""
    explainer = _open(job)
    # Spark gives Arrow batches and Dask pandas frames; neither library is imported to find out.
    arrow = hasattr(batch, "schema")
    table = _read_arrow(batch, job.taken) if arrow else batch[list(job.taken)]
    kinds = result_kinds(explainer.space, dict(zip(job.taken, kinds_of(table), strict=True)))
    with one_thread():  # restored afterwards: Dask may run this in the user's own process
        results = list(_explained(explainer, table, job.request))
    data = _typed(wide_columns(results, job.names, job.further), kinds)
    return _arrow(job, batch, data, kinds) if arrow else _pandas(job, batch, data, kinds)


def _explained(
    explainer: TableExplainer, table: Any, request: Mapping[str, Any]
) -> Iterator[Explanation | FlipsetError]:
    """Explain rows together or, if that raises an unexpected error, one by one."""
    if not len(table):
        return
    try:
        yield from explainer.explain_table(table, **request)
    except Exception as error:  # whatever it is, it must not stop the other rows of the cluster's job
        if len(table) == 1:
            yield error if isinstance(error, FlipsetError) else OracleError(f"{type(error).__name__}: {error}", table)
            return
        # One by one, not in halves: what is unexpected here is rare, and each row must end in a result of its own.
        for i in range(len(table)):
            yield from _explained(explainer, table.iloc[[i]] if hasattr(table, "iloc") else table.slice(i, 1), request)


def _typed(columns: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return columns with cells of the right types; a row with a cell that does not fit becomes an error."""
    typed: dict[str, list[Any]] = {name: [] for name in columns}
    for cells in zip(*columns.values(), strict=True):
        row = dict(zip(columns, cells, strict=True))
        try:
            made = {name: _as(kinds.get(name, "text"), cell) for name, cell in row.items()}
        except (ValueError, TypeError, OverflowError) as error:
            made = dict.fromkeys(columns) | {"error": f"the explanation does not fit the table: {error}"}
        for name, cell in made.items():
            typed[name].append(cell)
    return typed


def _as(kind: str, cell: Any) -> Any:
    value = plain(cell)
    if value is None:
        return None
    made = {"bool": bool, "int": int, "float": float, "text": str}[kind](value)
    # A cell must not change by its type: 1.5 is no integer, and integers of the cluster have 64 bits.
    if kind != "text" and (made != value or (kind == "int" and abs(made) >= 1 << 63)):
        raise ValueError(f"{value!r} is not a {kind} without loss")
    return made


COUNTED_ALWAYS = ("decision", "status", "size", "flipsets", "reasons", "basis", "cost", "cost_at_least", "error")
"""The columns of explanations that every summary needs."""


def counted_columns(columns: Iterable[str], by: str | None) -> list[str]:
    """Return the columns of explanations that a summary needs, including the one to group by.

    `columns` are those that the explanations have; some depend on the space.
    """
    return [*COUNTED_ALWAYS, *(["broken"] if "broken" in columns else []), *([by] if by is not None else [])]


def count_batch(batch: Any, by: str | None = None) -> dict[str, list[Any]]:
    """Count the explanations of a batch, in all or by the values of a column; return the counts as columns."""
    if hasattr(batch, "to_pydict"):
        columns = batch.to_pydict()
        cells = [columns[name] for name in counted_columns(columns, by)]
    else:
        columns = list(batch.columns)
        cells = [batch[name].tolist() for name in counted_columns(columns, by)]
    if "broken" not in columns:
        cells.insert(len(COUNTED_ALWAYS), [None] * len(cells[0]))
    groups: dict[str, Counts] = {}
    for row in zip(*map(_plain, cells), strict=True):
        decision, status, size, flipsets, reasons, basis, cost, cost_at_least, error, broken, *group = row
        # Groups are written as JSON, so that values of any type can be the keys of one column of text.
        counts = groups.setdefault(json.dumps(group[0], default=str) if group else "", Counts())
        if status is None:
            counts.add_error(contradicts=str(error).startswith(NOT_MONOTONE))
        else:
            sets = read_sets(flipsets or ""), read_sets(reasons or "")
            proved = cost if cost is not None and cost_at_least >= cost else None
            rules = [text for (text,) in read_sets(broken or "")]
            counts.add(_as_bool(decision), status, size, *sets, basis=basis, cost=proved, broken=rules)
    rows = [(group, *part) for group, counts in groups.items() for part in counts.parts()]
    return {name: [row[i] for row in rows] for i, name in enumerate(COUNTED)}


def _as_bool(cell: Any) -> bool:
    """Return a decision; a CSV file with empty cells may have given it back as text."""
    return cell if isinstance(cell, bool) else str(cell).lower() in ("true", "1", "1.0")


def _plain(cells: Iterable[Any]) -> list[Any]:
    return [plain(cell) for cell in cells]


# --- frames -----------------------------------------------------------------------------------------------------------


def _read_arrow(batch: Any, names: Sequence[str]) -> Any:
    """Return some columns of an Arrow batch as a table; decimals become floats, and dictionaries are decoded."""
    import pyarrow as pa

    columns = []
    for name in names:
        cells = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        columns.append(cells.cast("float64") if pa.types.is_decimal(cells.type) else cells)
    return pa.table(columns, names=list(names))


def _arrow(job: Job, batch: Any, data: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> Any:
    import pyarrow as pa

    types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    fields = [batch.schema.field(key) for key in job.keys]
    arrays = [batch.column(batch.schema.get_field_index(key)) for key in job.keys]
    for name, cells in data.items():
        fields.append(pa.field(name, types[kinds.get(name, "text")]))
        arrays.append(pa.array(cells, fields[-1].type))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


DTYPES = {"bool": "boolean", "int": "Int64", "float": "float64", "text": "string"}


def _pandas(job: Job, batch: Any, data: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> Any:
    import pandas as pd

    columns = {key: batch[key] for key in job.keys}
    for name, cells in data.items():
        columns[name] = pd.Series(cells, index=batch.index, dtype=DTYPES[kinds.get(name, "text")])
    return pd.DataFrame(columns, index=batch.index)
