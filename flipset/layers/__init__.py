"""Layers: each takes a flow and returns a flow, so that layers stack in any order and run under any driver.

A layer does no I/O and asks no queries of its own. It passes checkpoints on.
"""

from flipset.layers.budget import (
    Allowance,
    budget,
    deadline,
    limit_queries,
    limit_seconds,
    limit_until,
    stay_interrupted,
    watch,
)
from flipset.layers.consistent import consistent
from flipset.layers.count import Tally, count
from flipset.layers.guard import guard
from flipset.layers.remember import remember
from flipset.layers.trace import Round, Transcript, trace
from flipset.layers.work import WorkClock, clocked

__all__ = [
    "Allowance",
    "Round",
    "Tally",
    "Transcript",
    "WorkClock",
    "budget",
    "clocked",
    "consistent",
    "count",
    "deadline",
    "guard",
    "limit_queries",
    "limit_seconds",
    "limit_until",
    "remember",
    "stay_interrupted",
    "trace",
    "watch",
]
