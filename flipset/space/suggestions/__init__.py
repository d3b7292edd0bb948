"""Rules between columns that hold in a table, for people to accept or to reject."""

from flipset.space.suggestions.lines import suggestion_lines
from flipset.space.suggestions.suggest import suggest_constraints
from flipset.space.suggestions.suggestion import Suggestion

__all__ = ["Suggestion", "suggest_constraints", "suggestion_lines"]
