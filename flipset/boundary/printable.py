r"""Text for a terminal, some of which strangers wrote: names of columns, cells, words of other programs.

A terminal obeys some characters. They can hide a line, move to another one, or reverse the order of letters, so a file
could make a verdict read as its opposite. Such characters, and line breaks within a name, are shown as escapes like
`\u001b`. That form is valid in JSON and TOML strings, so printed data remain data.
"""

from __future__ import annotations

import re
from textwrap import wrap

from flipset.plural import count

OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # controls, with line breaks and the escape character
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the direction of what follows
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff]"  # half surrogate pairs, which no encoding can write
)


def printable(text: str) -> str:
    r"""Return a text as one line without characters that a terminal would obey.

    Examples
    --------
    >>> print(printable("income\n\x1b[31m"))
    income\u000a\u001b[31m
    """
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def wrapped(text: str, width: int, indent: str = "", further: str = "") -> list[str]:
    """Return a text as printable lines of a width: the first begins with `indent`, and the others with `further`."""
    # A number and its percent sign stay on one line: `wrap` does not break at a no-break space.
    kept = printable(text).replace(" %", "\xa0%")
    return [line.replace("\xa0%", " %") for line in wrap(kept, width, initial_indent=indent, subsequent_indent=further)]


def shortened(text: str, most: int) -> str:
    """Return a text of at most about `most` characters, and say how many are left out.

    Examples
    --------
    >>> shortened("a" * 100, 4)
    'aaaa ... (96 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]} ... ({count(len(text) - most, 'more character')})"
