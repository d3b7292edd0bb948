"""Faults of an endpoint, by whether they may pass, and answers that are not what they should be."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from flipset.plural import count

ABOUT_ROWS = (400, 413, 422)
"""Statuses that other rows may not meet with."""

MAY_PASS = (408, 425, 429)
"""Statuses that later requests may not meet with; so are all from 500 on, but 501 and 505."""


class Transient(Exception):
    """A fault that may be gone the next time; `wait` says when, if the endpoint did."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Refused(Exception):
    """An answer that will be the same the next time; `status` is 0 where no HTTP status says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Malformed(Exception):
    """An answer is not what the protocol says."""


def may_pass(status: int) -> bool:
    """Say whether a later request may be answered."""
    return status in MAY_PASS or (status >= 500 and status not in (501, 505))


def form_of(answers: Any, rows: int) -> tuple[str, int]:
    """Return what answers are, "numbers" or "texts", and how many for each row (0: not even a list).

    Refuses answers that are not one for each row, or not finite numbers or texts throughout.
    """
    if not isinstance(answers, (list, tuple)):
        raise Malformed(f"expected one score for each row, got {type(answers).__name__}")
    if len(answers) != rows:
        raise Malformed(f"{count(len(answers), 'score')} to {count(rows, 'row')}")
    widths = {len(one) if isinstance(one, (list, tuple)) else 0 for one in answers}
    if len(widths) > 1:
        raise Malformed("rows of different lengths")
    cells = [cell for one in answers for cell in (one if isinstance(one, (list, tuple)) else [one])]
    if all(isinstance(cell, str) for cell in cells):
        return "texts", min(widths)
    for cell in cells:
        if not isinstance(cell, (int, float)) or not isfinite(cell):
            raise Malformed(f"expected finite numbers, got {cell!r}")
    return "numbers", min(widths)


def seconds_in(text: str | None) -> float | None:
    """Read Retry-After: seconds, or a date."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
