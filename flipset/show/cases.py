"""The first cases of a table as text: enough to see what the answers look like, never the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipset.boundary.printable import printable, shortened, wrapped
from flipset.errors import FlipsetError
from flipset.plural import count
from flipset.show.change_lines import consequence_text
from flipset.show.text import headline
from flipset.show.words import score_text
from flipset.space.row_id import row_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flipset.results.table import Results
    from flipset.space.row_id import RowId

CASES_SHOWN = 3
"""Rows of a table that the text lists."""

CHANGES_SHOWN = 6
"""Changes of the cheapest option of a row that the text lists."""

MOST_SHOWN = 300
"""Characters of an error that the text shows."""


def tell_cases(
    results: Results, ids: Sequence[RowId] | None = None, width: int = 80, most: int = CASES_SHOWN
) -> Iterator[str]:
    """Yield the first rows of a table that were asked about, each with its answer and its cheapest option."""
    asked = [i for i, one in enumerate(results) if isinstance(one, FlipsetError) or one.status != "not asked"]
    if not asked:
        return
    which = "" if len(asked) == len(results) else " that were asked about"
    all_of = f"The first {most:,} of {count(len(asked), 'row')}" if len(asked) > most else "All rows"
    yield f"{all_of}{which}:"
    for i in asked[:most]:
        result = results[i]
        name = row_text(i, None if ids is None else ids[i])
        if isinstance(result, FlipsetError):
            yield from wrapped(f"{name}: {shortened(printable(str(result)), MOST_SHOWN)}", width, "  ", "    ")
            continue
        label = result.words.decision.score_label
        answer = headline(result)
        about = f"{result.outcome} ({label} {score_text(result.score, result)}). {answer}."
        yield from wrapped(f"{name}: {about}", width, "  ", "    ")
        if not result.counterfactuals:
            continue
        changes = result.counterfactuals[0].changes
        if len(result.counterfactuals) > 1:
            yield f"    The {'closest' if result.is_favorable else 'cheapest'}:"
        for change in changes[:CHANGES_SHOWN]:
            yield from wrapped(str(change), width, " " * 6, " " * 8)
        if len(changes) > CHANGES_SHOWN:
            yield f"      ... and {count(len(changes) - CHANGES_SHOWN, 'more change')}"
        for consequence in result.counterfactuals[0].consequences[:CHANGES_SHOWN]:
            yield from wrapped(consequence_text(consequence), width, " " * 6, " " * 8)
