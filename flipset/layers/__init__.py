"""Layers: each takes a flow and is a flow, so they stack in any order and run under any driver."""

from flipset.layers.budget import Allowance, budget, deadline, limit_queries, limit_seconds, stay_interrupted
from flipset.layers.consistent import consistent
from flipset.layers.count import Tally, count
from flipset.layers.guard import guard
from flipset.layers.remember import remember
from flipset.layers.trace import Round, Transcript, trace

__all__ = [
    "Allowance",
    "Round",
    "Tally",
    "Transcript",
    "budget",
    "consistent",
    "count",
    "deadline",
    "guard",
    "limit_queries",
    "limit_seconds",
    "remember",
    "stay_interrupted",
    "trace",
]
