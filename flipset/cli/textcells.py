"""Columns of numbers in which a few cells are text.

In a CSV file, one such cell turns the whole column into text. Rows with such cells are left out of the population, so
that the column keeps its numeric type. They are still explained, each with an error that names the cell, so that a bad
cell affects one row only.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def numbers_of(table: Any, names: Iterable[str]) -> Any:
    """Return the rows that have numbers or missing values in these columns; columns of text alone are kept."""
    import pandas as pd

    read = {name: table[name].map(read_number, na_action="ignore") for name in names if _is_text(table[name])}
    read = {name: cells for name, cells in read.items() if _has_numbers_and_words(cells.dropna())}
    if not read:
        return table
    # A row with one bad cell is left out as a whole, so that all columns of the population have the same rows.
    good = ~pd.concat([cells.map(_is_word) for cells in read.values()], axis=1).any(axis=1)
    made = table[good].assign(**{name: pd.to_numeric(cells[good]) for name, cells in read.items()})
    # If every row has a word somewhere, these are columns of text after all.
    return made if len(made) else table


def as_rows(frame: Any, population: Any) -> Any:
    """Return a frame with texts read as numbers in columns that are numeric in the population."""
    both = [name for name in population.columns if _is_text(frame[name]) and not _is_text(population[name])]
    if not both:
        return frame
    return frame.assign(**{name: frame[name].astype(object).map(read_number, na_action="ignore") for name in both})


def read_number(cell: Any) -> Any:
    """Return the number that a text represents, or the text itself.

    Examples
    --------
    >>> read_number("12"), read_number(" 0.5"), read_number("1,200"), read_number("inf")
    (12, 0.5, '1,200', 'inf')
    """
    if isinstance(cell, str):
        for read in (int, float):  # int first, because floats round large integers
            try:
                number = read(cell)
                return number if isfinite(number) else cell
            except (ValueError, OverflowError):  # no number, or one that is too large for a float
                continue
    return cell


def _is_text(column: Any) -> bool:
    return column.dtype == object or str(column.dtype) in ("str", "string")


def _has_numbers_and_words(cells: Any) -> bool:
    """Say whether a column has only numbers and texts, and at least one number."""
    return all(isinstance(cell, (str, int, float)) for cell in cells) and not cells.map(_is_word).all()


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str)
