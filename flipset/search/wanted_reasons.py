"""How many reasons a caller wants: none, at most some, or all that the proof needs. It is read and checked here."""

from __future__ import annotations

from operator import index
from typing import Any, Literal, TypeAlias

import numpy as np

from flipset.errors import InputError

REASONS = 5
"""The default. Making every reason of a proof minimal is often the largest part of the queries, and nobody reads more
than a few."""

Reasons: TypeAlias = int | Literal["all"]
"""At most this many reasons; False, which is 0, for none. "all": those that the proof needs, all of them minimal."""


def read_reasons(wanted: Any) -> Reasons:
    """Return what is wanted as a number, False or "all"; True stands for the default."""
    if isinstance(wanted, (bool, np.bool_)):
        return REASONS if wanted else False
    if isinstance(wanted, str) and wanted == "all":
        return "all"
    try:
        count = index(wanted)
    except TypeError:
        count = 0
    if count < 1:
        expected = 'a whole number of at least 1, "all", True (the default) or False (none)'
        raise InputError(f"reasons must be {expected}; got {wanted!r}")
    return count
