"""Conditions and formulas about the columns of a table, such as `income > 50 and region in ["north", "south"]`.

Nothing is ever executed: `parse` reads a text into a small tree, and `evaluate` computes the tree over columns. There
are no calls, no attributes and no names other than those of columns.
"""

from flipset.space.expressions.evaluate import evaluate, meets
from flipset.space.expressions.syntax import Expression, parse

__all__ = ["Expression", "evaluate", "meets", "parse"]
