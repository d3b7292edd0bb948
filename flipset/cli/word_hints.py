"""Commented lines of a space file, ready to be filled in: what people call a column, its values and the decision.

`flipset space` writes them, because nobody remembers the names of all attributes, and because the categories and codes
that a column holds are in the table, not in anybody's head.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flipset.space.feature import is_number, plain
from flipset.space.words import Decision, label_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flipset.space import Feature, Space

MOST_VALUES = 12
"""The most values of a column that are listed for labels; a column with more is one of numbers or names."""

DECISION_HINTS = (
    'favorable = "below"               # low scores are good, as with a probability of default; else "above"',
    "threshold = 0.1                   # instead of the model's own",
    'outcomes = ["declined", "approved"]',
    'outcome_nouns = ["refusal", "approval"]',
    'score_label = "probability of default"',
    'score_format = "percent"          # or "plain", "thousands"',
)


def decision_hints(decision: Decision) -> Iterator[str]:
    """Yield comments to go below the decision of a space file, or in its place where it says nothing yet."""
    default = Decision()
    if decision == default:
        yield ""
        yield "# [decision]"
    for line in DECISION_HINTS:
        name = line.split(" = ")[0]
        if getattr(decision, name) == getattr(default, name):
            yield f"# {line}"


def hints_for(space: Space) -> dict[str, list[str]]:
    """Return the lines for each column that has no words yet."""
    return {feature.name: list(_hints(feature, space)) for feature in space.features}


def _hints(feature: Feature, space: Space) -> Iterator[str]:
    if not feature.label:
        yield f"label = {json.dumps(feature.name, ensure_ascii=False)}"
    is_scale = feature.kind in ("numeric", "integer")
    if is_scale and not feature.unit:
        yield 'unit = ""'
    if is_scale and feature.number_format == "plain":
        yield 'number_format = "thousands"  # or "percent", for shares'
    seen = _few_values(feature, space)
    if seen and not feature.value_labels:
        pairs = ", ".join(
            f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(key, ensure_ascii=False)}" for key in seen
        )
        yield f"value_labels = {{{pairs}}}"
    if not feature.description:
        yield 'description = ""'


def _few_values(feature: Feature, space: Space) -> list[str]:
    """Return the values that could have labels: categories, levels and codes, or the few numbers that a column has."""
    values = list(feature.levels or feature.options)
    if not values and space.reference is not None:
        cells = {plain(cell) for cell in space.reference.cells(feature.name)} - {None, *feature.special}
        are_labels = not all(map(is_number, cells)) or all(float(cell).is_integer() for cell in cells)
        values = sorted(cells, key=lambda cell: (str(type(cell)), cell)) if are_labels else []
    # Codes need labels most, so they are listed even where the other values are too many.
    listed = [*(values if len(values) <= MOST_VALUES else []), *feature.special]
    return [label_key(value) for value in listed]
