"""Spaces: what may change in a row, and how far."""

from flipset.space.feature import Feature
from flipset.space.space import Group, Space

__all__ = ["Feature", "Group", "Space"]
