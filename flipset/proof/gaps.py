"""The search for a gap: a set that meets every reason, within a weight.

The complement of a zero is a reason. A set lies in no zero exactly when it contains a feature of every reason. The
search branches over the features of one reason after another and gives up a branch when its set becomes too heavy. In
the worst case this takes exponential time, so it spends the steps of a budget.

It shares no code with the searches (`flipset.sets.hitting` does something similar for them), so that a mistake there is
not repeated in the check.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import compress
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.boundary.step_budget import StepBudget


@dataclass(slots=True)
class _Branch:
    """A point where the search for a gap branches over the features of one reason."""

    rest: int  # features of the reason that are still to be tried
    chosen: int  # the set so far
    banned: int  # features that no set below this point may contain, because those sets were searched already
    left: int  # the weight that may still be added


def meet_all(
    reasons: Sequence[int], ones: Sequence[int], weights: Sequence[int] | None, left: int, budget: StepBudget
) -> int | None:
    """Return a set of weight at most `left` that meets all reasons and is not one of the ones; None if there is none.

    No one may weigh less than `left`, so that a set within that weight contains a one only if it is that one.
    A branch holds three sets and no list, so memory is depth times d. The budget limits the time.
    """
    excluded = set(ones)
    in_ones = reduce(or_, ones, 0)
    words = words_of(max(map(int.bit_length, reasons), default=0))
    cost = (1 + 2 * len(reasons)) * words
    # With weights, `needed_weight` looks for the lightest feature of each reason, feature by feature.
    needed_cost = 0 if weights is None else len(reasons) * len(weights) // 16
    stack: list[_Branch] = []
    chosen = banned = 0
    # Invariant: if there is a gap, one lies below a branch of `stack`, or contains `chosen` and nothing of `banned`.
    while True:
        budget.spend(cost + needed_cost)
        unmet = [reason & ~banned for reason in reasons if not reason & chosen]
        # A reason with one feature left leaves no choice. Adding such features here keeps the stack short.
        while forced := reduce(or_, (reason for reason in unmet if not reason & (reason - 1)), 0):
            budget.spend(len(unmet) * words)
            chosen |= forced
            left -= forced.bit_count() if weights is None else sum(weights[i] for i in members(forced))
            unmet = [reason for reason in unmet if not reason & forced]
        if left >= 0 and chosen not in excluded:
            if not unmet:
                return chosen
            branch = min(unmet, key=int.bit_count)
            if branch and needed_weight(unmet, weights) <= left:
                stack.append(_Branch(branch, chosen, banned, left))
        while stack and not stack[-1].rest:
            stack.pop()
        if not stack:
            return None
        top = stack[-1]
        bit = top.rest & -top.rest
        # Features that are in the same unmet reasons and in no one are interchangeable: try only one of them.
        alike = bit if weights is not None or bit & in_ones else _alike(bit, top.rest & ~in_ones, top.chosen, reasons)
        chosen, banned = top.chosen | bit, top.banned
        left = top.left - (1 if weights is None else weights[bit.bit_length() - 1])
        top.rest &= ~alike
        top.banned |= alike  # sets with these features have now been searched


def words_of(bits: int) -> int:
    """Return how many steps one operation on sets of this many features counts as."""
    return 1 + bits // 4096


def _alike(bit: int, among: int, chosen: int, reasons: Sequence[int]) -> int:
    """Return the features of `among` that are in the same reasons as `bit`, of those that `chosen` does not meet."""
    for reason in reasons:
        if not reason & chosen:
            among &= reason if reason & bit else ~reason
    return among


def needed_weight(unmet: Sequence[int], weights: Sequence[int] | None) -> int:
    """Return a lower bound on the weight that meets all these reasons: disjoint reasons need one feature each."""
    used = needed = 0
    for reason in unmet:
        if not reason & used:
            used |= reason
            needed += 1 if weights is None else min(weights[i] for i in members(reason))
    return needed


def members(flips: int) -> list[int]:
    """Return the features of a set, ascending."""
    # One pass over the binary digits: removing bits one by one would take quadratic time.
    digits = bin(flips)[:1:-1].encode().translate(_BITS)
    return list(compress(range(len(digits)), digits))


_BITS = bytes.maketrans(b"01", b"\x00\x01")
