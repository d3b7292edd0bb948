"""The pieces that every report in HTML is made of: the page, its style, tables and lists of facts.

Everything that is passed in is escaped here, except the body of a page or a fragment, which is HTML already.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Blue and orange can be told apart with any colour vision, and by their shades in print.
STYLE = """
.flipset{font:15px/1.5 system-ui,sans-serif;color:#1c2430;max-width:60rem;margin:0 auto}
.flipset h1{font-size:1.6rem;margin:.2em 0}.flipset h2{font-size:1.15rem;margin:1.6em 0 .4em}
.flipset table{border-collapse:collapse;margin:.4em 0}.flipset td,.flipset th{padding:.25em .7em;text-align:left;
border-bottom:1px solid #d5dbe3;vertical-align:top}.flipset th{font-weight:600}
.flipset .decision{font-size:1.25rem;margin:1em 0 0}.flipset .approved{color:#0b5c9e}.flipset .declined{color:#a34700}
.flipset .option{border:1px solid #d5dbe3;border-radius:6px;padding:.5em .9em;margin:.6em 0;break-inside:avoid}
.flipset .option h3{font-size:1rem;margin:0 0 .3em}.flipset .muted{color:#5a6675}.flipset code{font-size:.9em}
.flipset pre{white-space:pre-wrap;word-break:break-all;background:#f4f6f9;padding:.8em;font-size:.8em}
.flipset .numbers td+td,.flipset .numbers th+th{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.flipset svg{display:block;max-width:100%;height:auto}
@media print{.flipset{max-width:none;font-size:11pt}.flipset details{display:block}}
"""


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>body{{margin:1.5rem}}{STYLE}</style></head>"
        f'<body><main class="flipset">\n{chr(10).join(body)}\n</main></body></html>\n'
    )


def fragment(body: Iterable[str]) -> str:
    """Return a piece of HTML for a notebook."""
    return f'<div class="flipset"><style>{STYLE}</style>{"".join(body)}</div>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in pairs)
    return f"<table>{rows}</table>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> str:
    """Return a table with a head; with `numbers`, all columns but the first are aligned to the right."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    css = ' class="numbers"' if numbers else ""
    return f"<table{css}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    # A percentage is not broken across lines, and a line of the text is one of the cell.
    return escape(text).replace(" %", "&nbsp;%").replace("\n", "<br>")
