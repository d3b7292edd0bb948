"""What drivers accept from a model: one real number per query, and an error that says whose fault it was."""

from __future__ import annotations

import math
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any

from flipset.errors import FlipsetError, OracleError, StorageError, Unavailable, is_disk_fault
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized


@contextmanager
def as_model_errors(batch: Sized) -> Iterator[None]:
    """Turn what the model raises into an `OracleError` with the batch it was asked.

    A lost connection, a timeout and a full disk are not about the batch. They become a `Fault`: asking the same queries
    again in smaller calls would only repeat, and pay for, what the network or the disk has lost.
    """
    try:
        yield
    # Errors of flipset say already whose fault they are, as those of an endpoint or a journal do.
    except FlipsetError:
        raise
    except Exception as error:
        message = f"the model raised {type(error).__name__} when asked {count(len(batch), 'query')}: {error}"
        if isinstance(error, (ConnectionError, TimeoutError)):
            raise Unavailable(message) from error
        if is_disk_fault(error):
            raise StorageError(message) from error
        raise OracleError(message, batch) from error


def read_margins(batch: Sized, given: Iterable[Any]) -> Sequence[float]:
    """Return the answers as floats; True is +1 and False is -1. A batch that has `read_answers` reads them itself.

    Raises
    ------
    OracleError
        When the count is wrong, an answer is not a number, or it is NaN or the integer 0 (which could be meant as a
        label "does not flip" or as a margin "just flips").
    """
    if (read := getattr(batch, "read_answers", None)) is not None:
        own: Sequence[float] = read(given)
        return own
    try:
        answers = list(given)
    except TypeError:
        raise OracleError(
            f"the model must return a sequence of answers, one per query; it returned {type(given).__name__}",
            batch,
        ) from None
    if len(answers) != len(batch):
        raise OracleError(f"the model returned {count(len(answers), 'answer')} to {count(len(batch), 'query')}", batch)
    return [_margin(answer, batch) for answer in answers]


def _margin(answer: Any, batch: Sized) -> float:
    # The commonest case first: this runs once per query.
    if type(answer) is float and answer == answer:
        return answer
    if isinstance(answer, bool) or type(answer).__name__ in {
        "bool",
        "bool_",
    }:  # NumPy's, without importing it
        return 1.0 if answer else -1.0
    if not isinstance(answer, Real):
        raise OracleError(
            f"the model answered {answer!r} ({type(answer).__name__}); expected a bool or a float margin",
            batch,
        )
    margin = float(answer)
    if math.isnan(margin):
        raise OracleError("the model answered NaN; a margin must be a number (at or above 0 flips)", batch)
    if margin == 0 and hasattr(answer, "denominator") and not isinstance(answer, float):
        raise OracleError(
            "the model answered the integer 0, which may mean 'does not flip' or a margin of 0, 'just flips'; "
            "return bool(...) for labels or float(...) for margins",
            batch,
        )
    return margin
