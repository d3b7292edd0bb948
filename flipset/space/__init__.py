"""Spaces: what may change in a row, and how far."""

from flipset.space.feature import Feature
from flipset.space.group import Group
from flipset.space.space import Space
from flipset.space.words import Decision

__all__ = ["Decision", "Feature", "Group", "Space"]
