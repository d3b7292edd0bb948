"""Tables on clusters: one batch in, one batch out, on Spark and Dask."""

from flipset.clusters.batches import explain_batch
from flipset.clusters.frames import summarize_dask, summarize_spark

__all__ = ["explain_batch", "summarize_dask", "summarize_spark"]
