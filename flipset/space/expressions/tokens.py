"""The words of the language, where they are in the text, and what Python has that is not among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Unreadable(InputError):
    """A text is not an expression; `at` is the position of the first character that does not fit."""

    at: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text: what kind it is, its text, and where it starts."""

    kind: str  # "number", "text", "name", "quoted", "operator", "word", "end"
    text: str
    start: int


_TOKEN = re.compile(
    r"""(?P<number>(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<quoted>`[^`\n]+`)
      | (?P<operator>\*\*|//|:=|==|!=|<>|<=|>=|<<|>>|->|[-+*/<>=()\[\],&|~@.%^:;!{}?$\#\\])
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*")
NUMBER = re.compile(r"(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?")

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
WORDS = frozenset({"and", "or", "not", "in"})
VALUES = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r"}

REFUSED = {
    "@": "@ (Python variables)",
    "**": "** (powers)",
    "//": "// (division without remainder)",
    "%": "% (remainders)",
    ":=": ":= (assignments)",
    ".": "attributes (a dot after a value)",
    "{": "sets and dictionaries",
    ":": "slices and types",
    "<<": "shifts",
    ">>": "shifts",
    "^": "^ (exclusive or)",
    ";": "several statements",
    "lambda": "lambda (functions)",
    **{word: word for word in ("if", "else", "for", "is", "await", "async", "yield", "import", "from", "def")},
    **{word: word for word in ("class", "return", "del", "global", "with", "while", "try", "raise", "assert")},
}
INSTEAD = {
    "=": "write == to compare",
    "<>": "write !=",
    "~": "write not",
    "!": "write not, or != to compare",
    "is": "write == null for missing values",
}
LIKE = {"≤": "<=", "≥": ">=", "≠": "!=", "−": "-", "×": "*", "÷": "/", "“": '"', "”": '"', "‘": "'", "’": "'"}


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a text, the last of kind "end"."""
    at = 0
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches the empty text, too
        if at == len(text):
            yield Token("end", "", at)
            return
        # The pattern has operators that the language lacks, so that they are refused by name and not as odd characters.
        found = _TOKEN.match(text, at)
        if found is None:
            _unknown(text, at)
        kind, word = str(found.lastgroup), found[0]
        if kind == "name" and word in WORDS:
            kind = "word"
        yield Token(kind, word, at)
        at = found.end()


def _unknown(text: str, at: int) -> NoReturn:
    letter = text[at]
    if letter in "\"'`":
        refuse(text, at, f"the {letter} is not closed on its line")
    instead = f"; write {LIKE[letter]}" if letter in LIKE else ""
    refuse(text, at, f"the character {letter!a} (U+{ord(letter):04X}) has no meaning here{instead}")


def refuse(text: str, at: int, problem: str) -> NoReturn:
    """Raise the error about a problem at a position of a text."""
    where = "at the end" if at >= len(text) else f"at position {at + 1}: {text[at : at + 20]!r}"
    error = Unreadable(f"{problem} ({where})")
    error.at = at
    raise error
