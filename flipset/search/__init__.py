"""Searches for all smallest flip sets, and the proof of what they found.

`guided` asks few queries about one function, `table` searches many rows at once in arrays, and `proving` turns answers
into a small proof.
"""

from flipset.search.guided import guided_search, minimal_in_order, worst_case

__all__ = ["guided_search", "minimal_in_order", "worst_case"]
