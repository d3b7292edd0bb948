"""Texts that a spreadsheet would run as formulas, and how to write them so that it shows them instead.

A spreadsheet that opens a CSV file runs a cell such as `=HYPERLINK(...)`, whoever wrote it into the table. Such texts
get an apostrophe in front, as OWASP advises: https://owasp.org/www-community/attacks/CSV_Injection. Numbers are left as
they are, also where they are text: `-5` is not a formula.

Invariant: `unquote(quote(text)) == text` for every text. So a text that has apostrophes before a formula gets one more.
"""

from __future__ import annotations

import re
from typing import Any

_BLANK = r"[ \u00a0\u200b\u2060\u3000\ufeff]*"  # some programs drop them before they look at the cell
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\s\S])"
FORMULA = re.compile(rf"(?!{_NUMBER})'*{_BLANK}[=+\-@＝＋－＠\t\r\n]")
"""How a text starts that may be run: with an operator, its full-width form, a tab or the end of a line."""

_QUOTED = re.compile(rf"'(?={FORMULA.pattern})")


def quote(cell: Any) -> Any:
    """Return a cell as a spreadsheet may read it; only texts change.

    Examples
    --------
    >>> quote("=1+1"), quote("@SUM(A1)"), quote("-5"), quote(-5.0), quote("a-b")
    ("'=1+1", "'@SUM(A1)", '-5', -5.0, 'a-b')
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unquote(cell: Any) -> Any:
    """Return a cell as it was before `quote`.

    Examples
    --------
    >>> unquote("'=1+1"), unquote("'tis"), unquote(quote("'=1"))
    ('=1+1', "'tis", "'=1")
    """
    return cell[1:] if isinstance(cell, str) and _QUOTED.match(cell) else cell
