"""The changes of an option as lines of text, with what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.printable import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flipset.values.change import Consequence, Counterfactual


def change_lines(one: Counterfactual, width: int) -> Iterator[str]:
    """Yield the changes of an option, and the computed columns that change with them, one on a line."""
    for change in one.changes:
        yield from wrapped(str(change), width, " " * 6, " " * 8)
    for consequence in one.consequences:
        yield from wrapped(consequence_text(consequence), width, " " * 6, " " * 8)


def consequence_text(one: Consequence) -> str:
    """Say what else changes.

    Examples
    --------
    >>> from flipset.values.change import Consequence
    >>> consequence_text(Consequence("dti", 0.5, 0.25))
    '(then dti: 0.5 → 0.25)'
    """
    return f"(then {one})"
