"""Tables on clusters: one batch in, one batch out, on Spark and Dask."""

from flipset.clusters.batches import explain_batch, make_job
from flipset.clusters.frames import summarize_dask, summarize_spark

__all__ = ["explain_batch", "make_job", "summarize_dask", "summarize_spark"]
