"""Tables on Spark and Dask clusters, explained batch by batch."""

from flipset.clusters.batches import explain_batch, make_job
from flipset.clusters.frames import summarize_dask, summarize_spark

__all__ = ["explain_batch", "make_job", "summarize_dask", "summarize_spark"]
