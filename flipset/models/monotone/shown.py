"""What is shown of a model's monotonicity, as data, and the function by which an adapter offers it.

A model is monotone in a column if the score never falls when the value moves in the column's direction and all other
columns stay as they are. A model that is monotone in several columns, each by itself, is monotone in all of them
together: rows form a product, so the columns can be moved one after the other.

A missing value is neither above nor below another value. So it stays missing in both rows of every comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Cell = float | None
"""A value of a column; None is a missing value."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """Two rows that one tree of the model puts in the wrong order; the whole model may still have them in order.

    Attributes
    ----------
    feature
        The column in which the rows differ.
    worse, better
        The rows: `better` has the value that the direction calls better, and this tree gives it less. Columns that are
        not mentioned may have any value, the same in both rows.
    tree
        The number of the tree, from 1; 0 for a linear model.
    unset
        Columns whose value matters and is not known, such as a category: it must be the same in both rows.
    """

    feature: str
    worse: Mapping[str, Cell]
    better: Mapping[str, Cell]
    tree: int
    unset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model's own structure shows about declared directions.

    Attributes
    ----------
    proved
        The columns in whose directions the model is monotone.
    why_not
        For each of the other columns, why this is not shown: a clause such as "tree 17 of 200 is out of order".
    suspects
        Pairs of rows that a tree has in the wrong order.
    notes
        What the proof takes for granted, each a sentence without a full stop.
    out_of_order
        The columns, among those of `why_not`, in whose direction a tree or a coefficient is out of order. The model may
        be in order as a whole, but a library that kept this direction as a constraint would not have made it so.
    """

    proved: frozenset[str]
    why_not: Mapping[str, str]
    suspects: tuple[Suspect, ...] = ()
    notes: tuple[str, ...] = ()
    out_of_order: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Suggested:
    """Directions that a model's own structure shows, where none were declared.

    Attributes
    ----------
    directions
        +1 for columns with which the score never falls, -1 for columns with which it never rises.
    unused
        Columns that change no score: the model does not use them.
    why_not
        For each of the other columns, why neither direction is shown.
    notes
        As in `Shown`.
    """

    directions: Mapping[str, int]
    unused: frozenset[str]
    why_not: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What is to be shown.

    Attributes
    ----------
    names
        The names of the columns, in the order in which the model takes them.
    directions
        +1 or -1 for each column with a direction.
    levels
        The values of columns that hold no numbers but have an order, from the lowest to the highest.
    """

    names: Sequence[str]
    directions: Mapping[str, int]
    levels: Mapping[str, Sequence[object]] = field(default_factory=dict)


Structure = Callable[[Declared], Shown]
"""Shows what a model's own structure allows. Nothing is read from the model before the call."""


class NotRead(Exception):
    """The structure of a model is not read, for the reason given: nothing is shown."""


def nothing_shown(declared: Declared, reason: str) -> Shown:
    """Return that no direction is shown."""
    return Shown(frozenset(), dict.fromkeys(declared.directions, reason))


def unread(reason: str) -> Structure:
    """Return the structure of a model that is never read."""
    return lambda declared: nothing_shown(declared, reason)
