"""Rows of leaves that are in the wrong order, to be put to the whole model.

No tree of the forest can tell two numbers of one cell apart (see `boxes`). So a number from the middle of a common cell
stands for all of them, a whole number if there is one. In the input in which the rows differ, the two cells that are
nearest to each other are taken, so that few other trees see a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, floor, inf
from typing import TYPE_CHECKING

import numpy as np

from flipset.models.monotone.boxes import LARGEST, Boxes, cuts_of
from flipset.models.monotone.shown import Cell, Suspect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.models.monotone.inputs import Input
    from flipset.models.monotone.pairs import Disorder
    from flipset.models.monotone.trees import Floats, Forest


Cuts = Callable[["Forest", int], "Floats"]


def suspects_of(disorders: Sequence[Disorder], inputs: Sequence[Input], names: Sequence[str]) -> tuple[Suspect, ...]:
    """Return pairs of rows for pairs of leaves that usual numbers reach.

    Those that need a step undone in the column that moves are left out.
    """
    cuts = cache(cuts_of)
    made = (_suspect(one, inputs, names, cuts) for one in disorders if one.is_usual)
    return tuple(one for one in made if one is not None)


def _suspect(disorder: Disorder, inputs: Sequence[Input], names: Sequence[str], cuts: Cuts) -> Suspect | None:
    boxes = disorder.boxes
    tree = int(boxes.tree[disorder.worse])
    worse: dict[str, Cell] = {}
    better: dict[str, Cell] = {}
    unset: set[str] = set()
    moved = inputs[disorder.input].columns
    for slot, one in enumerate(boxes.inputs[tree].tolist()):
        if one < 0 or _is_free(boxes, disorder, slot):
            continue
        values = _values(disorder, slot, one, cuts)
        source = inputs[one]
        if (values is None or source.undo is None) and moved.isdisjoint(source.columns):
            # A certain category, or a value behind an encoder: which one is found out by trying those of the space.
            unset |= {names[column] for column in source.columns}
            continue
        if values is None or source.undo is None or len(source.columns) != 1:
            return None
        (column,) = source.columns
        if names[column] in worse:
            return None  # two inputs of one column need not have a value in common
        low, high = values
        if any(number is not None and abs(number) > LARGEST for number in values):
            return None
        worse[names[column]] = None if low is None else source.undo(low)
        better[names[column]] = None if high is None else source.undo(high)
    (column,) = moved
    return Suspect(names[column], worse, better, disorder.tree + 1, tuple(sorted(unset - worse.keys())))


def _is_free(boxes: Boxes, disorder: Disorder, slot: int) -> bool:
    """Say whether both leaves take every value in a slot."""
    root = int(boxes.roots[boxes.tree[disorder.worse]])
    return all(
        bool(boxes.lower[one, slot] == boxes.lower[root, slot])
        and bool(boxes.upper[one, slot] == boxes.upper[root, slot])
        and bool(boxes.missing[one, slot] == boxes.missing[root, slot])
        and not (boxes.slot_words[boxes.tree[root], slot] & (boxes.words[one] ^ boxes.words[root])).any()
        for one in (disorder.worse, disorder.better)
    )


def _values(disorder: Disorder, slot: int, one: int, cuts_of_input: Cuts) -> tuple[Cell, Cell] | None:
    """Return the values of the worse and the better row in a slot; None if it takes a certain category."""
    boxes, worse, better = disorder.boxes, disorder.worse, disorder.better
    if one in boxes.forest.category_inputs:
        return None
    cuts, is_narrow = cuts_of_input(boxes.forest, one), boxes.forest.is_narrow
    if one == disorder.input:
        if boxes.lower[worse, slot] < boxes.lower[better, slot]:
            cells = int(boxes.upper[worse, slot]) - 1, int(boxes.lower[better, slot])
        else:
            cells = int(boxes.lower[worse, slot]), int(boxes.upper[better, slot]) - 1
        return number_in(cuts, cells[0], is_narrow), number_in(cuts, cells[1], is_narrow)
    lower = int(max(boxes.lower[worse, slot], boxes.lower[better, slot], boxes.first_usual[one]))
    upper = int(min(boxes.upper[worse, slot], boxes.upper[better, slot], boxes.end_usual[one]))
    if lower >= upper:
        return None, None  # the boxes have the missing value in common, and at most numbers that no column has
    same = number_in(cuts, (lower + upper - 1) // 2, is_narrow)
    return same, same


def number_in(cuts: Floats, cell: int, is_narrow: bool) -> float:
    """Return a number in a cell: above the cut before it, and at most the cut at its end; ∞ if no other is known."""
    after = float(cuts[cell - 1]) if cell else -inf
    end = float(cuts[cell]) if cell < len(cuts) else inf
    for number in _candidates(after, end):
        with np.errstate(over="ignore"):
            rounded = float(np.float32(number)) if is_narrow else number
        if after < rounded <= end:
            return rounded
    return end  # the cell has few numbers, or none that is finite


def _candidates(after: float, end: float) -> list[float]:
    """Return numbers that may lie in a cell, the best first."""
    is_open_below, is_open_above = after < -LARGEST, end > LARGEST
    if is_open_below and is_open_above:
        return [0.0]
    if is_open_above:
        return [float(floor(after) + 1), after + abs(after) / 8]
    if is_open_below:
        return [float(floor(end))]  # of those below every ordinary number, the end is as good as any
    middle = after / 2 + end / 2
    return [float(floor(middle)), float(ceil(middle)), middle]
