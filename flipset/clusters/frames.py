"""Tables in Spark and Dask: explained and summarized on the cluster, as frames of its own kind."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from flipset.clusters.batches import COUNTED, count_batch, counted_columns, explain_batch, make_job
from flipset.clusters.texts import change_texts
from flipset.results.groups import GroupSummaries
from flipset.results.kinds import result_kinds
from flipset.results.summary import Counts
from flipset.results.table import wide_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flipset.clusters.batches import Job, TableExplainer
    from flipset.results.summary import Part, TableSummary
    from flipset.space.words import Decision


# --- Spark ------------------------------------------------------------------------------------------------------------


def explain_spark(explainer: TableExplainer, frame: Any, keys: Sequence[str] | None, request: Mapping[str, Any]) -> Any:
    """Return explanations as a Spark frame."""
    # Only the DataFrame interface is used, which Spark Connect has as well.
    from pyspark.sql import types

    job = make_job(explainer, frame.columns, keys, request)
    given = {field.name: field for field in frame.schema.fields}
    kinds = result_kinds(explainer.space, {name: _kind(given[name].dataType) for name in job.names})
    kind = {
        "bool": types.BooleanType(),
        "int": types.LongType(),
        "float": types.DoubleType(),
        "text": types.StringType(),
    }
    fields = [given[key] for key in job.keys]
    fields += [types.StructField(name, kind[kinds.get(name, "text")]) for name in wide_names(job.names, job.further)]
    # Only columns that are used travel to the workers. A key may be a column of the model, too.
    wanted = frame.select(*dict.fromkeys((*job.keys, *job.taken)))
    return wanted.mapInArrow(partial(_each, partial(explain_batch, job)), types.StructType(fields))


def _kind(given: Any) -> str:
    """Return what a column of a Spark type holds."""
    from pyspark.sql import types

    if isinstance(given, types.BooleanType):
        return "bool"
    if isinstance(given, types.IntegralType):
        return "int"
    return "float" if isinstance(given, types.NumericType) else "text"


def summarize_spark(
    found: Any, by: str | None = None, *, reference: Any = None, decision: Decision | None = None
) -> Any:
    """Summarize explanations on the cluster: return a `TableSummary`, or `GroupSummaries` by the column `by`.

    Groups are compared with the group `reference`, by default with the largest. Give `decision=space.decision` if low
    scores are favorable, or if the outcomes have words of their own: a frame of explanations does not say.
    """
    schema = ", ".join(f"{name} {'bigint' if name == 'n' else 'string'}" for name in COUNTED)
    columns = counted_columns(found.columns, by)
    counted = found.select(*columns).mapInArrow(partial(_each, partial(_count_arrow, by)), schema)
    # Each batch sends a few counts. Only their sums come back to the driver, not the explanations.
    rows = counted.groupBy(*COUNTED[:-1]).sum("n").collect()
    return _summaries(map(tuple, rows), by, reference, decision)


def change_texts_spark(frame: Any, change: Callable[[Any], Any]) -> Any:
    """Return a Spark frame with every text changed, names of columns included."""
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(change(one.name), one.dataType, one.nullable) for one in frame.schema.fields]
    return frame.mapInArrow(partial(_each, partial(change_texts, change)), StructType(fields))


def _each(work: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Apply a function to every batch of a partition, as Spark's `mapInArrow` requires."""
    for batch in batches:
        yield work(batch)


def _count_arrow(by: str | None, batch: Any) -> Any:
    import pyarrow as pa

    counts = count_batch(batch, by)
    types = [pa.int64() if name == "n" else pa.string() for name in COUNTED]
    arrays = [pa.array(counts[name], kind) for name, kind in zip(COUNTED, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(COUNTED))


# --- Dask -------------------------------------------------------------------------------------------------------------


def explain_dask(explainer: TableExplainer, frame: Any, keys: Sequence[str] | None, request: Mapping[str, Any]) -> Any:
    """Return explanations as a Dask frame, with the same partitions and the same index."""
    job = make_job(explainer, [str(column) for column in frame.columns], keys, request)
    wanted = frame[list(dict.fromkeys((*job.keys, *job.taken)))]
    return wanted.map_partitions(partial(explain_batch, job), meta=_none_of(job, wanted))


def _none_of(job: Job, frame: Any) -> Any:
    """Return an empty frame of explanations, from which Dask reads the types of the columns."""
    # Running it on no rows cannot disagree with what it returns for some.
    return explain_batch(job, frame._meta)


def summarize_dask(
    found: Any, by: str | None = None, *, reference: Any = None, decision: Decision | None = None
) -> Any:
    """Summarize explanations on the cluster: return a `TableSummary`, or `GroupSummaries` by the column `by`.

    Groups are compared with the group `reference`, by default with the largest. Give `decision=space.decision` if low
    scores are favorable, or if the outcomes have words of their own: a frame of explanations does not say.
    """
    columns = counted_columns(found.columns, by)
    meta = {name: "int64" if name == "n" else "object" for name in COUNTED}
    counted = found[columns].map_partitions(partial(_count_pandas, by), meta=meta)
    summed = counted.groupby(list(COUNTED[:-1]))["n"].sum().compute()
    return _summaries(((*key, int(n)) for key, n in summed.items()), by, reference, decision)


def change_texts_dask(frame: Any, change: Callable[[Any], Any]) -> Any:
    """Return a Dask frame with every text changed, names of columns included."""
    work = partial(change_texts, change)
    return frame.map_partitions(work, meta=work(frame._meta))


def _count_pandas(by: str | None, batch: Any) -> Any:
    import pandas as pd

    counts = pd.DataFrame(count_batch(batch, by), columns=list(COUNTED))
    return counts.astype({name: "int64" if name == "n" else "object" for name in COUNTED})


# --- both -------------------------------------------------------------------------------------------------------------


def _summaries(
    parts: Iterable[tuple[Any, ...]], by: str | None, reference: Any, decision: Decision | None
) -> TableSummary | GroupSummaries:
    groups: dict[str, list[Part]] = {}
    for group, *part in parts:
        groups.setdefault(group, []).append(tuple(part))
    if by is None:
        return Counts.from_parts(groups.get("", ())).summary(decision)
    # The values were written as JSON in `count_batch`, to pass through a column of texts.
    summaries = {json.loads(group): Counts.from_parts(own).summary(decision) for group, own in groups.items()}
    return GroupSummaries.compared(summaries, reference)
