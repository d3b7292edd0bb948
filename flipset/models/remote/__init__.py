"""Scoring endpoints as models: requests, faults, protocols and prices.

Names are imported when they are first used, so that `import flipset` loads neither event loops nor TLS.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipset.models.remote.call_times import CallTimes
    from flipset.models.remote.endpoint import Endpoint
    from flipset.models.remote.remote_model import RemoteModel
    from flipset.models.remote.settings import EnvironmentHeaders
    from flipset.models.remote.wire import Column, Wire, mlflow, open_inference

__all__ = [
    "CallTimes",
    "Column",
    "Endpoint",
    "EnvironmentHeaders",
    "RemoteModel",
    "Wire",
    "mlflow",
    "open_inference",
]

_HOME = {
    "CallTimes": "call_times",
    "Column": "wire",
    "Endpoint": "endpoint",
    "EnvironmentHeaders": "settings",
    "RemoteModel": "remote_model",
    "Wire": "wire",
    "mlflow": "wire",
    "open_inference": "wire",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
