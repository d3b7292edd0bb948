"""The default engine: exact like the paper's search, with far fewer questions."""

from flipset.engine.bound import worst_case
from flipset.engine.search import guided_search, minimal_in_order

__all__ = ["guided_search", "minimal_in_order", "worst_case"]
