"""The version of flipset, which every explanation carries; before all rooms, so that each of them may import it."""

__version__ = "0.1.0"
