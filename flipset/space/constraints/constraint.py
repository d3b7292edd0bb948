"""A constraint between columns: a text, and the rules that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from flipset.boundary.reading import shown
from flipset.errors import InputError
from flipset.space.constraints.conditions import (
    Implication,
    Together,
    is_about_moves,
    is_implication,
    read_implication,
    read_together,
)
from flipset.space.constraints.inequalities import EXAMPLE, Inequality, read_inequalities

Rule: TypeAlias = Inequality | Implication | Together
"""What a constraint stands for. All of its rules must be kept."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint as a person writes it, and the rules that it stands for.

    Examples
    --------
    >>> len(read_constraint("late_90 <= late_60 <= late_30").rules)
    2
    """

    text: str
    rules: tuple[Rule, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.columns))


def read_constraint(text: str) -> Constraint:
    """Read a constraint.

    Raises
    ------
    InputError
        The text is not a constraint. The message says why, and shows where.

    Examples
    --------
    >>> read_constraint("has_mortgage == 0 implies balance == 0").columns
    ('has_mortgage', 'balance')
    >>> read_constraint("if income moves then job moves").columns
    ('income', 'job')
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{EXAMPLE}; got {shown(text)}")
    if is_about_moves(text):
        return Constraint(text, (read_together(text),))
    if is_implication(text):
        return Constraint(text, (read_implication(text),))
    return Constraint(text, read_inequalities(text))
