"""Faults of an endpoint, sorted by whether trying again may help, and the check of its answers."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from flipset.plural import count

ABOUT_ROWS = (400, 413, 422)
"""Statuses that may be about the rows sent; other rows may be answered."""

MAY_PASS = (408, 425, 429)
"""Statuses after which the same request may succeed later. So are all from 500 on, except 501 and 505."""


class Transient(Exception):
    """A fault that may be gone at the next attempt; `wait` is the time to wait, in seconds, if known."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Refused(Exception):
    """A fault that another attempt would meet again; `status` is 0 if it is not an HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Malformed(Exception):
    """An answer that does not follow the protocol."""


def may_pass(status: int) -> bool:
    """Say whether the same request may succeed later."""
    # 501 and 505 say that the server cannot do this at all. Everything else from 500 on may be gone a moment later.
    return status in MAY_PASS or (status >= 500 and status not in (501, 505))


def form_of(answers: Any, rows: int) -> tuple[str, int]:
    """Return what the answers are, "numbers" or "texts", and how many there are for each row (0 for a bare value).

    Refuses answers that are not one for each row, or that are neither all finite numbers nor all texts.
    """
    if not isinstance(answers, (list, tuple)):
        raise Malformed(f"expected one score for each row, got {type(answers).__name__}")
    if len(answers) != rows:
        raise Malformed(f"{count(len(answers), 'score')} to {count(rows, 'row')}")
    # A model may answer a bare score, or a list of scores such as one for each class; but the same for every row.
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
    """Return the seconds in a Retry-After header, which holds seconds or a date."""
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
