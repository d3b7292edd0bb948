"""The table search: the smallest flip sets of many rows at once, in arrays."""
