"""Scoring endpoints as models: requests, faults, protocols, prices.

Names are loaded when they are used: event loops and TLS are not part of `import flipset`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipset.models.remote.endpoint import Endpoint, EnvironmentHeaders
    from flipset.models.remote.wire import Column, Wire, mlflow, open_inference

__all__ = ["Column", "Endpoint", "EnvironmentHeaders", "Wire", "mlflow", "open_inference"]

_HOME = {name: "endpoint" if name.startswith("En") else "wire" for name in __all__}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
