"""Layers: each takes a search and is a search, so they stack in any order and run under any driver."""

from flipset.layers.budget import budget, deadline
from flipset.layers.consistent import consistent
from flipset.layers.count import Tally, count
from flipset.layers.guard import guard
from flipset.layers.remember import remember
from flipset.layers.trace import Round, Transcript, trace

__all__ = [
    "Round",
    "Tally",
    "Transcript",
    "budget",
    "consistent",
    "count",
    "deadline",
    "guard",
    "remember",
    "trace",
]
