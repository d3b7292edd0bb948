"""The default engine: exact like the paper's search, with far fewer questions."""

from flipset.search.guided.bound import worst_case
from flipset.search.guided.search import guided_search, minimal_in_order

__all__ = ["guided_search", "minimal_in_order", "worst_case"]
