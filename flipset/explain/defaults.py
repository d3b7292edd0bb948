"""The space and the threshold of an explainer, read from the model and a table where they are not given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.errors import FlipsetError, InputError
from flipset.models.monotone.show import kept_constraints
from flipset.space import Space
from flipset.space.feature import is_number, plain
from flipset.space.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flipset.models import Scorer
    from flipset.results.data import ExplanationData


def space_of(table: Any, scorer: Scorer) -> Space:
    """Read a space from a frame, with the directions that the model was fitted with."""
    if not hasattr(table, "columns"):
        raise InputError(f"space must be a flipset.Space or a frame, got {type(table).__name__}")
    columns = [str(column) for column in table.columns]
    scorer = scorer.with_names_of(columns)
    directions = kept_constraints(scorer, columns)
    if not directions:
        raise InputError(
            "the model does not say in which direction each column moves its score; "
            "say it yourself: Space.from_frame(table, increasing=[...], decreasing=[...])"
        )
    # The table may have further columns, such as the label: the space has those that the model was fitted with.
    return Space.from_frame(
        Reference.of(table).only(scorer.names or columns),
        increasing=[name for name, direction in directions.items() if direction > 0],
        decreasing=[name for name, direction in directions.items() if direction < 0],
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
    if scorer.gives_probabilities and not 0 < value <= 1:
        raise InputError(_out_of_reach(float(value), "the scores of this model are probabilities, from 0 to 1"))
    return float(value)


def check_reach(results: Iterable[ExplanationData | FlipsetError], threshold: float) -> None:
    """Refuse a threshold that no score of a table can reach, where scores look like shares.

    Nothing flips in such a table. Other tables in which nothing flips are possible, so only scores between 0 and 1 with
    a threshold above 1 are taken for a mistake.
    """
    if threshold <= 1:
        return
    found = [one for one in results if not isinstance(one, FlipsetError) and one.status != "not asked"]
    # With `max_changes`, a row may have the status "none" although more changes flip it: then it has a lower bound.
    if found and all(one.status == "none" and one.lower is None and 0 <= one.score <= 1 for one in found):
        low, high = min(one.score for one in found), max(one.score for one in found)
        scores = (
            f"the scores of this table lie between {low:.3g} and {high:.3g}, and no allowed change flips a decision"
        )
        raise InputError(_out_of_reach(threshold, scores))


def _out_of_reach(threshold: float, why: str) -> str:
    reached = "no score reaches it" if threshold > 0 else "every score reaches it"
    return f"threshold={threshold:g}: {reached}, because {why}; give the threshold on the scale of the scores"
