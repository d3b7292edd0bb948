"""The guided search: exact like the paper's search, with far fewer queries.

`search` runs the whole and `level` the work on one set of features in play. `plan` chooses queries with the help of
`beliefs` and `record`. `plain` and `bound` guarantee the worst case.
"""

from flipset.search.guided.bound import worst_case
from flipset.search.guided.search import guided_search, minimal_in_order

__all__ = ["guided_search", "minimal_in_order", "worst_case"]
