"""Whether two scores are in the order that the directions ask for, apart from rounding."""

from __future__ import annotations

from math import isinf

TOLERANCE = 1e-12
"""Scores that fall by less than this share of their size count as equal, because some models score a row slightly
differently in another batch."""


def is_in_order(score: float, better_score: float) -> bool:
    """Say whether the better row scores no less, apart from rounding; equal infinities are in order."""
    if score <= better_score:
        return True
    if isinf(score) or isinf(better_score):  # the tolerance below would be infinite, too
        return False
    return score - better_score <= TOLERANCE * max(abs(score), abs(better_score))
