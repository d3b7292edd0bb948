"""What the page serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.explainer import Explainer
    from flipset.space.row_id import RowId


@dataclass(frozen=True, slots=True)
class Served:
    """An explainer, a table, and their names.

    If `eager`, all rows are explained in the background; otherwise only the rows that are viewed. `ids` are the
    identifiers of the rows, if they have any.
    """

    explainer: Explainer
    frame: Any
    model: str = "model"
    data: str = "table"
    identity: str = ""
    eager: bool = True
    ids: Sequence[RowId] | None = None
