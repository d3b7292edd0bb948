"""Searches for all smallest flip sets, and the proof of their results.

`guided` asks few queries about one function. `table` searches many rows at once, in arrays. `proving` turns answers
into a small proof, `few_reasons` and `reasons` choose the reasons that are reported, and `solve` puts these steps
together.
"""

from flipset.search.guided import guided_search, minimal_in_order, worst_case

__all__ = ["guided_search", "minimal_in_order", "worst_case"]
