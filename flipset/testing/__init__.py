"""Contracts for searches, layers, drivers and scorers, and the random functions that they are checked with.

A contract is a class with `test_…` methods. Subclass it, say what is to be checked, and let pytest or unittest collect
the subclass, or call `run_contract`; CONTRIBUTING.md has an example. flipset checks its own parts by the same classes.
All cases are drawn from seeds, so that a failure can be repeated, and nothing depends on the clock.

| contract | to be defined | what it is |
|---|---|---|
| `SearchContract` | `search(d, batch=...)` | finds all smallest flip sets |
| `LayerContract` | `layer(flow)` | takes a flow and is a flow |
| `DriverContract` | `drive(flow, oracle)` | runs a flow; `OracleDriverContract` for one that calls a model |
| `ScorerContract` | `score(table)`, `space`, `rows` | a model function as `Explainer` takes it |
"""

from flipset.testing.contract import Contract, run_contract
from flipset.testing.drivers import DriverContract, OracleDriverContract
from flipset.testing.functions import (
    DRAWS,
    Predicate,
    asking,
    asking_sets,
    draw_certificates,
    draw_decision_list,
    draw_flip_sets,
    draw_threshold,
    is_minimal_certificate,
    labels,
    margins,
    smallest,
)
from flipset.testing.layers import LayerContract
from flipset.testing.scorers import ScorerContract
from flipset.testing.searches import SearchContract

__all__ = [
    "DRAWS",
    "Contract",
    "DriverContract",
    "LayerContract",
    "OracleDriverContract",
    "Predicate",
    "ScorerContract",
    "SearchContract",
    "asking",
    "asking_sets",
    "draw_certificates",
    "draw_decision_list",
    "draw_flip_sets",
    "draw_threshold",
    "is_minimal_certificate",
    "labels",
    "margins",
    "run_contract",
    "smallest",
]
