"""Columns of numbers in which a few cells hold text: in a file of text, one such cell makes text of its whole column.

The rows with such cells are left out of the population, so that the column has the type that it has without them. They
are still explained, each with an error that names the cell: a bad row costs one row.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def numbers_of(table: Any, names: Iterable[str]) -> Any:
    """Return the rows of a frame that hold numbers, or nothing, in these columns; columns without a number stay."""
    import pandas as pd

    read = {name: table[name].map(read_number, na_action="ignore") for name in names if _is_text(table[name])}
    read = {name: cells for name, cells in read.items() if _has_numbers_and_words(cells.dropna())}
    if not read:
        return table
    good = ~pd.concat([cells.map(_is_word) for cells in read.values()], axis=1).any(axis=1)
    made = table[good].assign(**{name: pd.to_numeric(cells[good]) for name, cells in read.items()})
    return made if len(made) else table


def as_rows(frame: Any, population: Any) -> Any:
    """Return a frame with its numbers read where the population has a column of numbers and the frame one of text."""
    both = [name for name in population.columns if _is_text(frame[name]) and not _is_text(population[name])]
    if not both:
        return frame
    return frame.assign(**{name: frame[name].astype(object).map(read_number, na_action="ignore") for name in both})


def read_number(cell: Any) -> Any:
    """Return the number that a text says, or the text.

    Examples
    --------
    >>> read_number("12"), read_number(" 0.5"), read_number("1,200"), read_number("inf")
    (12, 0.5, '1,200', 'inf')
    """
    if isinstance(cell, str):
        for read in (int, float):  # whole numbers first: floats round large ones
            try:
                number = read(cell)
            except ValueError:
                continue
            return number if isfinite(number) else cell
    return cell


def _is_text(column: Any) -> bool:
    return column.dtype == object or str(column.dtype) in ("str", "string")


def _has_numbers_and_words(cells: Any) -> bool:
    """Say whether a column is made of numbers and text alone, and not only of text."""
    return all(isinstance(cell, (str, int, float)) for cell in cells) and not cells.map(_is_word).all()


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str)
