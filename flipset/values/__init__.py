"""Values: inside a flip set, the least that is enough."""

from flipset.values.costs import range_share, share_passed

__all__ = ["range_share", "share_passed"]
