"""Columns and values as rules have them: names that are no plain names stand in backticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.space.expressions.tokens import REFUSED, VALUES, tokens_of

if TYPE_CHECKING:
    from flipset.space.feature import Value

WORDS_OF_RULES = frozenset({"implies", "if", "then", "moves", "before"})
"""Words with a meaning in rules, beside those of conditions."""


def written(name: str) -> str:
    """Return a column's name as a rule has it; an empty text if no rule can name it.

    Examples
    --------
    >>> written("late_60"), written("60-89 days late"), written("in"), written("`")
    ('late_60', '`60-89 days late`', '`in`', '')
    """
    if not name or not name.isprintable() or "`" in name:
        return ""
    return name if _is_plain(name) else f"`{name}`"


def written_value(value: Value) -> str:
    r"""Return a number or a text as a rule has it.

    Examples
    --------
    >>> written_value(3.0), written_value(0.5), written_value('a "b"')
    ('3', '0.5', '"a \\"b\\""')
    """
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(int(value)) if value == int(value) else repr(float(value))


def _is_plain(name: str) -> bool:
    if name in REFUSED or name in VALUES or name in WORDS_OF_RULES:
        return False
    try:
        first, *_ = tokens_of(name)
    except InputError:
        return False
    return first.kind == "name" and first.text == name
