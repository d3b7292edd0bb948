"""Suggestions as commented lines of a space file, to be accepted by removing the comment signs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flipset.boundary.printable import printable
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space.suggestions.suggestion import Suggestion


def suggestion_lines(suggestions: Sequence[Suggestion]) -> list[str]:
    """Return lines for a space file: the constraints as a list that is commented out, and the notes below it.

    Examples
    --------
    >>> from flipset.space.suggestions import Suggestion
    >>> for line in suggestion_lines([Suggestion("late_90 <= late_60", "order", 10_461, 2, (17, 402))]):
    ...     print(line)
    # Rules that hold in the table. To accept some, uncomment the list and delete the others.
    # constraints = [
    #   "late_90 <= late_60",  # holds in 10,459 rows; 2 break it: 17, 402
    # ]
    """
    rules = [one for one in suggestions if one.is_constraint]
    notes = [one for one in suggestions if not one.is_constraint]
    lines = ["# No rules between columns were found in the table."]
    if rules:
        lines = ["# Rules that hold in the table. To accept some, uncomment the list and delete the others."]
        listed = [f"{_toml(one.text)},  # holds in {_tested(one)}" for one in rules]
        lines += ["# constraints = [", *(f"#   {line}" for line in listed), "# ]"]
    if notes:
        lines += ["#", "# Also seen in the table:"]
        lines += [f"#   {printable(one.text)}; in {_tested(one)}" for one in notes]
    return lines


def _toml(text: str) -> str:
    """Return a text as a string of TOML; one with quotation marks stands between single ones, where it is legible."""
    quoted = printable(json.dumps(text, ensure_ascii=False))
    return f"'{text}'" if "\\" in quoted and text.isprintable() and not {"'", "\\"} & set(text) else quoted


def _tested(one: Suggestion) -> str:
    """Return in how many rows a rule holds, and which rows break it."""
    kept = count(one.support - one.broken, "row")
    if not one.broken:
        return kept
    verb = "breaks" if one.broken == 1 else "break"
    more = ", ..." if one.broken > len(one.rows) else ""
    return f"{kept}; {one.broken:,} {verb} it: {', '.join(f'{row:,}' for row in one.rows)}{more}"
