"""Whether two scores are in the order that the directions ask for, apart from rounding."""

from __future__ import annotations

from math import isinf

NOISE = 5e-5
"""The largest difference of two scores, as a share of their size, that may come from adding floats in another order."""

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


def is_clearly_out_of_order(score: float, better_score: float, threshold: float) -> bool:
    """Say whether the better row scores less, by more than models whose answers depend on the batch may be off.

    Single precision is off by some units in the seventh digit. Where a score is a small difference of large numbers,
    the threshold says how large they may be.
    """
    if is_in_order(score, better_score) or isinf(score) or isinf(better_score):
        return not is_in_order(score, better_score)
    return score - better_score > max(NOISE * max(abs(score), abs(better_score)), 1e-9 * abs(threshold))
