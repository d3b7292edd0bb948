"""Errors about a text that cannot be read: the message, the text, and a caret under the place.

Such a message ends with two lines, the text and the caret, both indented. A terminal shows them as they are, and
everything else of a message on one line.
"""

from __future__ import annotations

from flipset.boundary.printable import printable

MARGIN = " " * 4
"""What the lines with the text and the caret begin with."""


def split_caret(message: str) -> tuple[str, str, int] | None:
    r"""Return a message without its last two lines, the text in them, and the place of the caret; None if it has none.

    Examples
    --------
    >>> split_caret("cannot be read\n    a <= <= b\n         ^")
    ('cannot be read', 'a <= <= b', 5)
    """
    *first, text, caret = ["", *message.split("\n")]
    if not first or caret.strip(" ") != "^" or not (text.startswith(MARGIN) and caret.startswith(MARGIN)):
        return None
    return "\n".join(first[1:]), text[len(MARGIN) :], len(caret.rstrip()) - 1 - len(MARGIN)


def caret_lines(message: str, width: int) -> list[str]:
    """Return the lines with the text and the caret; a long text is cut so that neither is wider than `width`."""
    found = split_caret(message)
    if found is None:
        return []
    _, text, place = found
    room = width - len(MARGIN)
    # A terminal that breaks a line would put the caret under another place.
    start = max(0, min(place - room // 2, len(text) - room))
    return [f"{MARGIN}{printable(text[start : start + room])}", f"{MARGIN}{' ' * (place - start)}^"]
