"""One thread for the model: a few rows at a time, waking a second one costs more than answering them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Keep numeric libraries on one thread from now on, where that can be set; as a context, until it is left."""
    try:
        from threadpoolctl import threadpool_limits  # comes with scikit-learn
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1)
    return limits
