"""What the page is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipset.explainer import Explainer


@dataclass(frozen=True, slots=True)
class Served:
    """What the page is about: an explainer, the table, and what they are called.

    Where it is `eager`, all rows are explained in the background; else those that somebody looks at.
    """

    explainer: Explainer
    frame: Any
    model: str = "model"
    data: str = "table"
    identity: str = ""
    eager: bool = True
