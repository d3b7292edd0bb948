"""What the columns of explanations hold, known before any row is explained: "bool", "int", "float" or "text".

So the types of a frame do not depend on which rows failed, and a cluster can announce them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flipset.space import Space

NUMBERS = {
    "score": "float",
    "cost": "float",
    "cost_at_least": "float",
    "ways": "int",
    "queries": "int",
    "decision": "bool",
}
"""The columns of a wide table that are not text, apart from sizes and new values."""

TIDY_NUMBERS = {
    "row": "int", "option": "int", "changes": "int", "cost": "float", "cost_at_least": "float", "score": "float",
    "before_number": "float", "after_number": "float",
}  # fmt: skip
"""The columns of tables of options and changes that are not text."""


def result_kinds(space: Space, given: Mapping[str, str]) -> dict[str, str]:
    """Return what each column of explanations holds that is not text, and what new values are.

    `given` says the same of the columns of the table; without it, nothing is said about new values.
    """
    is_weighted = any(feature.weight != 1 for feature in space.features)
    size = "float" if is_weighted else "int"
    kinds = {**NUMBERS, "size": size, "lower": size, "upper": size}
    computed = () if space.computed is None else space.computed.names
    for feature in space.features if given else ():
        kind = given[feature.name]
        # A numeric feature may move to a fraction, even if its column holds integers.
        moves = feature.kind == "numeric" and (not feature.fixed or feature.name in computed)
        kinds[f"new_{feature.name}"] = "float" if moves and kind in ("bool", "int") else kind
    return kinds
