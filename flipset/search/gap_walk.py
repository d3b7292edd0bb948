"""One walk over all gaps of a growing proof.

A gap is a set that lies in no zero of the proof and is not heavier than the ones, but is not one of them. The walk is a
depth-first search over the sets that meet every reason (the complement of every zero). A set that meets all of them is
a gap. Whoever walks adds a zero that contains it, and walks on.

Invariants:

- Reasons are only ever added. So a part of the walk that is finished never has to be visited again.
- If gaps are left, one of them contains the set of a node of `_path`, and nothing that is banned there.
- A node has looked at the first `seen` reasons; it passes those that it does not meet on to its children.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from flipset.protocol import Steps, checkpoint, everything, features_of
from flipset.sets.hitting import tightest
from flipset.sets.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flipset.proof import Proof
    from flipset.protocol import Flips, Search
    from flipset.sets.weights import Weights


@dataclass(slots=True)
class _Node:
    """A node of the walk."""

    chosen: Flips  # the set of this node
    banned: Flips  # features that no set below this node may contain, because those sets were visited already
    left: int  # the weight that may still be added
    unmet: list[Flips]  # among the first `seen` reasons, those that share no feature with `chosen`
    seen: int
    branch: Flips | None = None  # features still to be added, one by one; None before the node is opened
    tried: Flips = 0  # the feature whose child was visited last; 0 if it has been dealt with

    def catch_up(self, reasons: Sequence[Flips]) -> None:
        """Look at the reasons that were added since the last visit."""
        if self.seen < len(reasons):
            self.unmet += [reason for reason in reasons[self.seen :] if not reason & self.chosen]
            self.seen = len(reasons)


class GapWalk:
    """The walk over the gaps of a claim, with the zeros that are added on the way.

    `at_most` is the greatest weight of a gap if the claim has no ones; None for any. Where several features could be
    added next, the walk takes the one with the highest `rank`, or the first column if no ranks are given.
    """

    def __init__(
        self, claim: Proof, at_most: int | None, zeros: Iterable[Flips] = (), rank: Sequence[int] | None = None
    ) -> None:
        self._weights: Weights = read_weights(claim.weights, claim.d)
        self._whole = everything(claim.d)
        self._ones = set(claim.ones)
        self._in_ones = reduce(or_, claim.ones, 0)
        self._rank = rank
        most = self._weights.of(self._whole) if at_most is None else at_most
        self._path = [_Node(0, 0, min(map(self._weights.of, claim.ones), default=most), [], 0)]
        self._reasons: list[Flips] = []
        self._steps = Steps()
        for zero in zeros:
            self.add(zero)

    def add(self, zero: Flips) -> None:
        """Add a zero to the proof."""
        self._reasons.append(self._whole & ~zero)
        if zero == self._whole:  # nothing flips: there is nothing left to cover
            self._path.clear()

    def copy(self) -> GapWalk:
        """Return a walk from here that adds zeros of its own."""
        twin = object.__new__(GapWalk)
        twin._weights, twin._whole, twin._rank = self._weights, self._whole, self._rank
        twin._ones, twin._in_ones = self._ones, self._in_ones
        twin._path = [replace(node, unmet=list(node.unmet)) for node in self._path]
        twin._reasons = list(self._reasons)
        twin._steps = Steps()
        return twin

    def next_gap(self) -> Search[Flips | None]:
        """Walk to the next gap, and return it; None if there is none. It is the same one until a zero contains it."""
        while self._path:
            node = self._path[-1]
            node.catch_up(self._reasons)
            if self._steps.due(len(node.unmet) + 1):
                yield from checkpoint()
            if node.branch is None:
                # No one weighs less than the limit, so a set within the limit contains a one only if it is that one.
                if node.left < 0 or node.chosen in self._ones:
                    self._path.pop()
                    continue
                if not node.unmet:
                    return node.chosen
                node.branch = tightest(node.unmet, node.banned, node.left, self._weights.each)
            elif node.tried:
                self._drop_tried(node)
            if node.branch:
                self._path.append(self._next_child(node))
            else:
                self._path.pop()
        return None

    def _drop_tried(self, node: _Node) -> None:
        """Ban the feature whose child was just finished, and the features that are interchangeable with it."""
        assert node.branch is not None
        bit, node.tried = node.tried, 0
        is_single = self._weights.each or bit & self._in_ones
        same = bit if is_single else _alike(bit, node.branch & ~self._in_ones, node.unmet)
        node.branch &= ~same
        node.banned |= bit | same

    def _next_child(self, node: _Node) -> _Node:
        """Return the child of a node for the next feature of its branch."""
        assert node.branch
        bit = node.branch & -node.branch
        if self._rank is not None:
            bit = 1 << max(features_of(node.branch), key=self._rank.__getitem__)
        node.tried = bit
        node.branch ^= bit
        unmet = [reason for reason in node.unmet if not reason & bit]
        return _Node(node.chosen | bit, node.banned, node.left - self._weights.of(bit), unmet, node.seen)


def _alike(bit: Flips, among: Flips, unmet: Sequence[Flips]) -> Flips:
    """Return the features of `among` that are in the same unmet reasons as `bit`.

    Without weights, and outside the ones, such features are interchangeable: no gap with one means no gap with any.
    """
    for reason in unmet:
        among &= reason if reason & bit else ~reason
        if not among:
            break
    return among
