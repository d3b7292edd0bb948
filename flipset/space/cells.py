"""The cells in which a row differs from the row that is explained: how rows are named everywhere."""

from typing import Any, TypeAlias

Cells: TypeAlias = tuple[tuple[int, Any], ...]
"""The cells in which a row differs from the row explained, as (column, value), in the order of the columns."""
