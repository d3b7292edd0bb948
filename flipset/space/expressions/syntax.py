"""The language: reading a text into a tree.

::

    condition   or:  A or B, A | B      and:  A and B, A & B      not:  not A
    comparison  A == B  A != B  A < B  A <= B  A > B  A >= B, chained as in 0 < A <= B;  A in [..], A not in [..]
    arithmetic  A + B  A - B  A * B  A / B  -A
    value       a column's name, `a name in backticks`, 12, 1.5e3, "text", 'text', true, false, null, (...)
    before      a column's name, a dot and "before": only where a formula may speak of an earlier value

Lines further down bind more tightly. The words and, or, not and in, and the values true, false and null (also True,
False and None) are not names; a column that is called like that is written in backticks.

The parser is written by hand, for two reasons. It has limits: a text has at most `MOST_CHARACTERS`, `MOST_NODES` and
`MOST_DEPTH`, so every text is read or refused at once. And it can say where an error is and what to write instead.
Everything that Python has beyond this is refused by name.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from flipset.errors import InputError
from flipset.space.expressions.tokens import (
    COMPARISONS,
    ESCAPES,
    INSTEAD,
    NUMBER,
    REFUSED,
    VALUES,
    refuse,
    tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flipset.space.expressions.tokens import Token

MOST_CHARACTERS = 10_000
MOST_NODES = 1_000
MOST_DEPTH = 50

# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a text, true or false; None for null."""

    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """The cells of a column."""

    name: str


@dataclass(frozen=True, slots=True)
class Before:
    """The value that a column had before a change."""

    name: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Terms of a sum or factors of a product, from left to right; the first operator belongs to the second part."""

    operators: tuple[str, ...]
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with the other sign."""

    of: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparisons of neighbours, all of which must hold."""

    operators: tuple[str, ...]
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether a value is in a list, or not in it."""

    of: Node
    items: tuple[Node, ...]
    wanted: bool


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions of which all ("and") or some ("or") must hold."""

    operator: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """A condition that must not hold."""

    of: Node


Node: TypeAlias = Literal | Column | Before | Arithmetic | Negative | Comparison | Membership | Junction | Negation


@dataclass(frozen=True, slots=True)
class Expression:
    """A text that was read: its tree, and the columns that it names, in the order in which they first occur."""

    text: str
    tree: Node
    columns: tuple[str, ...]


# --- the parser -------------------------------------------------------------------------------------------------------


def parse(text: str, *, before: bool = False) -> Expression:
    """Read a text; with `before`, it may name values that columns had before a change, as in `years.before`.

    Raises
    ------
    InputError
        The text is not an expression, or it is too long. The message says where, and what to write instead.

    Examples
    --------
    >>> parse("0 < income <= 90 and `home owner` == 'yes'").columns
    ('income', 'home owner')
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"it has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    parser = _Parser(text, before=before)
    tree = parser.disjunction()
    if parser.token.kind != "end":
        parser.expected("an operator or the end")
    return Expression(text, tree, tuple(parser.columns))


class _Parser:
    """One token of look-ahead, and the limits of nodes and depth."""

    def __init__(self, text: str, *, before: bool) -> None:
        self.text = text
        self.before = before
        self.tokens = tokens_of(text)
        self.token = next(self.tokens)
        self.columns: dict[str, None] = {}
        self.nodes = 0
        self.depth = 0

    def disjunction(self) -> Node:
        return self.junction("or", ("or", "|"), self.conjunction)

    def conjunction(self) -> Node:
        return self.junction("and", ("and", "&"), self.negation)

    def junction(self, operator: str, words: tuple[str, ...], part: Callable[[], Node]) -> Node:
        parts = [part()]
        # In a loop, not by recursion: a long chain of terms is flat, so only parentheses and signs count as depth.
        while self.token.kind in ("word", "operator") and self.token.text in words:
            self.advance()
            parts.append(part())
        return parts[0] if len(parts) == 1 else self.node(Junction(operator, tuple(parts)))

    def negation(self) -> Node:
        if self.is_next("not"):
            self.advance()
            with self.deeper():
                return self.node(Negation(self.negation()))
        return self.comparison()

    def comparison(self) -> Node:
        parts: list[Node] = [self.sum()]
        operators: list[str] = []
        while self.token.kind in ("word", "operator") and self.token.text in (*COMPARISONS, "in", "not"):
            if self.token.text in ("in", "not"):
                # Python would read `0 < x in [1]` as a chain. Hardly anybody means that.
                if operators:
                    self.refuse("'in' cannot be chained with other comparisons: use parentheses")
                return self.membership(parts[0])
            operators.append(self.advance().text)
            parts.append(self.sum())
        return parts[0] if not operators else self.node(Comparison(tuple(operators), tuple(parts)))

    def membership(self, of: Node) -> Node:
        wanted = self.advance().text == "in"
        if not wanted:
            if not self.is_next("in"):
                self.expected("'in' after 'not'")
            self.advance()
        if not (self.is_next("[") or self.is_next("(")):
            self.expected('a list after in, such as ["north", "south"]')
        end = {"[": "]", "(": ")"}[self.advance().text]
        items = []
        while not self.is_next(end):
            items.append(self.sum())
            if not self.is_next(","):
                break
            self.advance()
        self.close(end)
        return self.node(Membership(of, tuple(items), wanted))

    def sum(self) -> Node:
        return self.arithmetic(("+", "-"), self.product)

    def product(self) -> Node:
        return self.arithmetic(("*", "/"), self.sign)

    def arithmetic(self, words: tuple[str, ...], part: Callable[[], Node]) -> Node:
        parts, operators = [part()], []
        while self.token.kind == "operator" and self.token.text in words:
            operators.append(self.advance().text)
            parts.append(part())
        return parts[0] if not operators else self.node(Arithmetic(tuple(operators), tuple(parts)))

    def sign(self) -> Node:
        if self.is_next("-") or self.is_next("+"):
            negative = self.advance().text == "-"
            with self.deeper():
                of = self.sign()
            # A plus sign changes nothing, so it is no node. But it counts as depth, since it calls itself.
            if not negative:
                return of
            if isinstance(of, Literal) and isinstance(of.value, (int, float)) and not isinstance(of.value, bool):
                # A negative number is one value, so that messages can show it as it was written.
                return Literal(-of.value)
            return self.node(Negative(of))
        value = self.value()
        if self.is_next("("):
            self.refuse("calls: not allowed")
        if self.is_next("["):
            self.refuse("subscripts: not allowed")
        return value

    def value(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.advance()
            return self.node(Literal(self.number(token)))
        if token.kind == "text":
            self.advance()
            return self.node(Literal(self.unescaped(token)))
        if token.kind == "quoted":
            self.advance()
            return self.column(token.text[1:-1])
        if token.kind == "name" and token.text not in REFUSED:
            self.advance()
            if token.text in VALUES:
                return self.node(Literal(VALUES[token.text]))
            if self.token.kind == "text" and self.token.start == token.start + len(token.text):
                self.refuse("letters before a text, such as f'...': not allowed", token)
            return self.column(token.text)
        if self.is_next("("):
            self.advance()
            with self.deeper():
                inside = self.disjunction()
            self.close(")")
            return inside
        if self.is_next("["):
            self.refuse("a list is allowed only after in")
        return self.expected("a column, a number or a text")

    def number(self, token: Token) -> int | float:
        # `12abc` and `1.2.3` are several tokens without a space between. One by one, they would mislead.
        glued = self.token.kind in ("name", "number", "word") and self.token.start == token.start + len(token.text)
        if glued or not NUMBER.fullmatch(token.text):
            self.refuse(f"{token.text + self.token.text * glued!r} is not a number", token)
        # Whole numbers are exact. Longer ones are beyond every float, and Python would take long to read them.
        whole = token.text.replace("_", "").isdigit()
        value = int(token.text) if whole and len(token.text) <= 400 else float(token.text)
        if isinf(float(token.text)):
            self.refuse("the number is too large", token)
        return value

    def unescaped(self, token: Token) -> str:
        def one(match: re.Match[str]) -> str:
            if match[1] not in ESCAPES:
                self.refuse(f"\\{match[1]} has no meaning in a text; write \\\\ for a backslash", token)
            return ESCAPES[match[1]]

        return re.sub(r"\\(.)", one, token.text[1:-1])

    def column(self, name: str) -> Node:
        self.columns[name] = None
        if self.before and self.is_next("."):
            self.advance()
            if self.token.text != "before":
                self.expected("the word before after a dot, as in years.before")
            self.advance()
            return self.node(Before(name))
        return self.node(Column(name))

    # --- helpers --------------------------------------------------------------------------------------------------

    def advance(self) -> Token:
        token, self.token = self.token, next(self.tokens)
        return token

    def is_next(self, text: str) -> bool:
        return self.token.kind in ("word", "operator") and self.token.text == text

    def close(self, end: str) -> None:
        if not self.is_next(end):
            self.expected(f"an operator or {end}")
        self.advance()

    def node(self, node: Node) -> Node:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise InputError(f"it has too many parts; at most {MOST_NODES:,} are read")
        return node

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise InputError(f"its parentheses are nested too deeply; at most {MOST_DEPTH} levels are read")
        yield
        self.depth -= 1

    def refuse(self, problem: str, token: Token | None = None) -> NoReturn:
        refuse(self.text, (token or self.token).start, problem)

    def expected(self, what: str) -> NoReturn:
        """Refuse the next token: by its own name if it is one of Python's, otherwise with what was expected."""
        text = self.token.text if self.token.kind in ("operator", "name") else ""
        if text in INSTEAD:
            self.refuse(f"{text} is not an operator here: {INSTEAD[text]}")
        if text in REFUSED:
            column = f"; a column of that name is written `{text}`" if text.isidentifier() else ""
            self.refuse(f"{REFUSED[text]}: not allowed{column}")
        self.refuse(f"expected {what}")
