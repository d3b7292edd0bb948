"""Texts that a spreadsheet would run as formulas, and how to write them so that it shows them instead.

A spreadsheet that opens a CSV file runs a cell such as `=HYPERLINK(...)`, whoever wrote it into the table. Such texts
get an apostrophe in front, as OWASP advises: https://owasp.org/www-community/attacks/CSV_Injection. Numbers are left as
they are, also where they are text: `-5` is not a formula.

Invariant: `unquote(quote(text)) == text` for every text. So a text that has apostrophes before a formula gets one more.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def write_csv(out: BinaryIO, names: Iterable[str], rows: Iterable[Iterable[Any]], *, raw_text: bool = False) -> None:
    """Write a table as CSV, row by row; with `raw_text`, texts are left as they are."""
    text = _unchanged if raw_text else quote
    writer = csv.writer(_Utf8(out))
    writer.writerow(map(text, names))
    writer.writerows(map(text, row) for row in rows)


@dataclass(frozen=True, slots=True)
class _Utf8:
    """A binary file as `csv.writer` takes it. `TextIOWrapper` would try to write once more after a disk is full."""

    out: BinaryIO

    def write(self, text: str) -> int:
        return self.out.write(text.encode("utf-8"))


def _unchanged(cell: Any) -> Any:
    return cell
