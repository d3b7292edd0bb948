"""One thread for the model: for calls of a few rows, waking a second thread takes longer than scoring the rows.

A limit on threads changes the process, so it matters whose process it is:

- A library call runs in the caller's process. `one_thread` is a `with` block that restores everything at its end.
- A command and a spawned worker are processes of flipset's own, and the page has threads of its own.
  `keep_process_on_one_thread` and `keep_thread_on_one_thread` limit these permanently.

All except `keep_process_on_one_thread` limit OpenMP and leave BLAS alone. OpenMP has a limit for each thread, so blocks
in several threads do not interfere. BLAS has one limit for the process. If two `with` blocks in different threads
overlapped, the second would see the limit of the first as the original value and restore it at its end, and the process
would stay limited. On Windows, OpenMP has one limit for the process as well; there `one_thread` and
`keep_thread_on_one_thread` do nothing.

Only libraries that are already loaded can be limited, so open the model first.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_LIMITS_OF_THREADS = sys.platform != "win32"
"""Whether OpenMP has a limit for each thread."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside a `with` block, keep OpenMP computations of this thread on one thread, where that can be set."""
    libraries = _openmp()
    if libraries is None:
        yield
    else:
        # Looked up anew for each block: a library that was loaded since the last one has its own threads.
        with libraries.limit(limits=1):
            yield


def keep_thread_on_one_thread() -> None:
    """Permanently keep OpenMP computations of this thread on one thread: for flipset's own threads."""
    if (libraries := _openmp()) is not None:
        libraries.limit(limits=1)


def keep_process_on_one_thread() -> None:
    """Permanently keep OpenMP and BLAS on one thread, where that can be set: for flipset's own processes."""
    if (libraries := _loaded()) is not None:
        libraries.limit(limits=1)


def _openmp() -> Any:
    libraries = _loaded() if HAS_LIMITS_OF_THREADS else None
    return None if libraries is None else libraries.select(user_api="openmp")


def _loaded() -> Any:
    """Return the loaded libraries whose threads can be limited; None where threadpoolctl is not installed."""
    try:
        from threadpoolctl import ThreadpoolController  # comes with scikit-learn
    except ImportError:
        return None
    return ThreadpoolController()
