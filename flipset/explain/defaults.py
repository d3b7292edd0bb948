"""The space and the threshold of an explainer, read from the model and a table where they are not given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import InputError
from flipset.space import Space
from flipset.space.feature import is_number, plain
from flipset.space.reference import Reference

if TYPE_CHECKING:
    from flipset.models import Scorer


def space_of(table: Any, scorer: Scorer) -> Space:
    """Read a space from a frame, with the directions that the model was fitted with."""
    if not hasattr(table, "columns"):
        raise InputError(f"space must be a flipset.Space or a frame, got {type(table).__name__}")
    if not scorer.directions:
        raise InputError(
            "the model does not say in which direction each column moves its score; "
            "say it yourself: Space.from_frame(table, increasing=[...], decreasing=[...])"
        )
    scorer = scorer.with_names_of([str(column) for column in table.columns])
    # The table may have further columns, such as the label: the space has those that the model was fitted with.
    return Space.from_frame(
        Reference.of(table).only(scorer.names or ()),
        increasing=[name for name, direction in scorer.directions.items() if direction > 0],
        decreasing=[name for name, direction in scorer.directions.items() if direction < 0],
    )


def threshold_of(threshold: Any, scorer: Scorer) -> float:
    """Return the threshold: the one given, or else the model's own."""
    if threshold is None:
        if scorer.threshold is None:
            raise InputError("a model of values needs a threshold: Explainer(..., threshold=...)")
        return scorer.threshold
    # A threshold often comes out of an array, as a NumPy number.
    value = plain(threshold)
    if not is_number(value):
        raise InputError(f"threshold must be a finite number, got {threshold!r}")
    return float(value)
