"""Flows to put layers around."""

from flipset import Search, ask
from flipset.protocol import Flips


def questions(*batches: tuple[Flips, ...]) -> Search[list[float]]:
    """Ask these batches, whatever the answers."""
    heard: list[float] = []
    for batch in batches:
        heard += yield from ask(batch)
    return heard
