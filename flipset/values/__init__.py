"""Values: the cheapest values inside a flip set that are enough to flip the decision."""

from flipset.values.costs import range_share, share_passed

__all__ = ["range_share", "share_passed"]
