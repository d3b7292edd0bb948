"""Rules about single columns: `has_mortgage == 0 implies mortgage_balance == 0`, and `if income moves then job moves`.

A condition compares one column with numbers or texts. An implication has two of them: where the first holds, the second
must hold, too. A rule about moves says that a column may differ from the row explained only if another one does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from flipset.errors import InputError
from flipset.space.constraints.inequalities import read_tree, refuse
from flipset.space.expressions.evaluate import COMPARE
from flipset.space.expressions.syntax import Column, Comparison, Literal, Membership
from flipset.space.expressions.tokens import Token, Unreadable, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.space.expressions.syntax import Node
    from flipset.space.feature import Value

EXAMPLE = 'a condition compares one column with a number or a text, as in "has_mortgage == 0 implies balance == 0"'

TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Condition:
    """What a column is compared with: it holds if the column's value stands in this relation to one of the values.

    Examples
    --------
    >>> read_implication("a > 3 implies b in [0, 1]").if_.holds(4)
    True
    """

    column: str
    operator: str
    values: tuple[Value, ...]

    def holds(self, value: Value) -> bool:
        """Say whether the condition holds for a value, which is not missing."""
        try:
            found = any(COMPARE[self.operator](value, other) for other in self.values)
        except TypeError:  # a text and a number have no order
            return False
        return found


@dataclass(frozen=True, slots=True)
class Implication:
    """Where the first condition holds, the second must hold, too."""

    if_: Condition
    then: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of both conditions."""
        return self.if_.column, self.then.column


@dataclass(frozen=True, slots=True)
class Together:
    """One column may differ from the row explained only if another one does."""

    mover: str
    needs: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return self.mover, self.needs


def read_implication(text: str) -> Implication:
    """Read two conditions with the word "implies" between them."""
    words = [token for token in _tokens(text) if token.kind == "name" and token.text == "implies"]
    if len(words) != 1:
        refuse(text, "the word implies stands in it twice; a column of that name is written `implies`", words[1].start)
    at = words[0].start
    left, right = _condition(text, 0, at), _condition(text, at + len("implies"), len(text))
    if left.column == right.column:
        refuse(text, f"both conditions are about {left.column!r}; give the column bounds or options instead")
    return Implication(left, right)


def read_together(text: str) -> Together:
    """Read "if A moves then B moves"; the last word may be left out."""
    expected = 'a rule about moves has the form "if income moves then job moves"'
    tokens = [token for token in _tokens(text) if token.kind != "end"]
    shape = ["if", None, "moves", "then", None, "moves"][: max(5, len(tokens))]
    for token, word in zip(tokens, shape, strict=False):
        is_column = token.kind in ("name", "quoted")
        if not is_column if word is None else token.text != word:
            refuse(text, expected, token.start)
    if len(tokens) != len(shape):
        refuse(text, expected, tokens[6].start if len(tokens) > 6 else len(text))
    mover, needs = (token.text[1:-1] if token.kind == "quoted" else token.text for token in (tokens[1], tokens[4]))
    if mover == needs:
        refuse(text, f"it names {mover!r} twice")
    return Together(mover, needs)


def is_implication(text: str) -> bool:
    """Say whether a text has the word "implies", as a word of the rule."""
    return _has_word(text, "implies")


def is_about_moves(text: str) -> bool:
    """Say whether a text begins with "if"."""
    return text.split(maxsplit=1)[:1] == ["if"]


def _has_word(text: str, word: str) -> bool:
    return word in text and any(token.kind == "name" and token.text == word for token in _tokens(text))


def _tokens(text: str) -> Sequence[Token]:
    try:
        return list(tokens_of(text))
    except Unreadable as error:
        refuse(text, str(error), error.at)


def _condition(text: str, start: int, stop: int) -> Condition:
    """Read the condition between two places of a text."""
    # Blanks in place of the rest, so that a caret stands under the right place of the whole text.
    part = " " * start + text[start:stop]
    try:
        tree = read_tree(part.rstrip())
    except InputError as error:
        reason = str(error).split("cannot be read: ", 1)[-1].split("\n", 1)
        caret = reason[1].splitlines()[-1].index("^") - 4 if len(reason) > 1 else None
        refuse(text, reason[0], caret)
    at = start + len(text[start:stop]) - len(text[start:stop].lstrip())
    return _read(text, tree, at)


def _read(text: str, tree: Node, at: int) -> Condition:
    if isinstance(tree, Membership) and isinstance(tree.of, Column):
        values = tuple(_literal(text, item, at) for item in tree.items)
        if not tree.wanted:
            refuse(text, "not in leaves a gap; list the values that are meant", at)
        return Condition(tree.of.name, "==", values)
    if isinstance(tree, Comparison) and len(tree.operators) == 1:
        left, right = tree.parts
        if isinstance(left, Column) and isinstance(right, Literal):
            return Condition(left.name, tree.operators[0], (_literal(text, right, at),))
        if isinstance(left, Literal) and isinstance(right, Column):
            return Condition(right.name, TURNED[tree.operators[0]], (_literal(text, left, at),))
    return _refuse(text, at)


def _literal(text: str, node: Node, at: int) -> Value:
    if not isinstance(node, Literal) or node.value is None:
        _refuse(text, at)
    return node.value


def _refuse(text: str, at: int) -> NoReturn:
    refuse(text, EXAMPLE, at)
