"""Drivers: each runs a search to its result by answering its batches."""

from flipset.drivers.aio import arun
from flipset.drivers.many import calling, run_many
from flipset.drivers.replay import replay
from flipset.drivers.stream import stream
from flipset.drivers.sync import run

__all__ = ["arun", "calling", "replay", "run", "run_many", "stream"]
