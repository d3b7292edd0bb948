"""CPU time of one process on one thread, and how much of it the model alone needs.

Things that are compared are measured in turns, several times, and the median of each is taken: a busy machine then
slows all of them down alike. The model alone is given the same batches again, right after each measurement.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that something takes, and those that the model alone takes for the same batches."""

    seconds: float
    bare: float
    result: Any

    @property
    def ratio(self) -> float:
        """How many times the bare model's time it takes."""
        return self.seconds / self.bare


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of CPU time that something takes, and its result."""
    gc.collect()  # what earlier work left behind is not at the expense of this
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


@contextmanager
def recording(model: Any) -> Iterator[list[Any]]:
    """Inside a `with` block, keep every batch that a classifier is given."""
    batches: list[Any] = []
    predict = model.predict_proba

    def predict_proba(rows: Any) -> Any:
        batches.append(rows)
        return predict(rows)

    model.predict_proba = predict_proba  # on the object: the class is recognised as before
    try:
        yield batches
    finally:
        del model.predict_proba


def against_bare(model: Any, work: Callable[[], Any]) -> Timing:
    """Measure something, and then the model alone on the same rows, as frames where it was fitted on one.

    That is what a user of the model would do. Frames are made before the time begins.
    """
    with recording(model) as batches:
        seconds, result = timed(work)
    batches = [as_frame(model, batch) for batch in batches]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some libraries miss the names of a matrix's columns
        bare, _ = timed(lambda: [model.predict_proba(batch) for batch in batches])
    return Timing(seconds, bare, result)


def as_frame(model: Any, batch: Any) -> Any:
    """Return a batch as a frame with the columns that the model was fitted on; as it is if there are none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or hasattr(batch, "iloc"):
        return batch
    import pandas as pd

    return pd.DataFrame(batch, columns=list(names))


def in_turns(model: Any, works: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Timing]:
    """Measure several things in turns; return the median times of each, and its last result."""
    rounds = [{name: against_bare(model, work) for name, work in works.items()} for _ in range(repeats)]
    return {
        name: Timing(
            statistics.median(one[name].seconds for one in rounds),
            statistics.median(one[name].bare for one in rounds),
            rounds[-1][name].result,
        )
        for name in works
    }


def most_memory() -> float:
    """Return the most memory that this process took so far, in MB.

    Linux counts it from the start of the program; `resource` would count the process from which it was forked, too.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    most = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
    return int(most.split()[1]) / 1024
