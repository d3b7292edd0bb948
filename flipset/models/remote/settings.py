"""The settings of an endpoint: how it is reached and how much it may be used. They are checked once, at the start."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flipset.errors import InputError
from flipset.models.remote.wire import Wire, shown, wire_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class EnvironmentHeaders:
    """Headers whose values are read from environment variables for each request, and kept nowhere else."""

    variables: Mapping[str, str]

    def __call__(self) -> dict[str, str]:
        """Return the headers with their present values."""
        missing = [variable for variable in self.variables.values() if variable not in os.environ]
        if missing:
            raise InputError(f"the environment variable {missing[0]} is not set; a header is to be taken from it")
        return {header: os.environ[variable] for header, variable in self.variables.items()}


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of an `Endpoint`; its docstring describes each of them.

    They are a class of their own so that the modules that make requests need not import `Endpoint`.
    """

    url: str
    _: KW_ONLY
    wire: Wire = field(default=None, repr=False)  # type: ignore[assignment]  # set from the address
    output: str | None = None
    headers: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)
    version: str | None = None
    in_flight: int = 8
    rows_per_call: int = 256
    rate: float | None = None
    timeout: float = 10.0
    attempts: int = 6
    backoff: float = 0.1
    patience: float = 60.0
    max_sent: int | None = None
    price_per_call: float = 0.0
    price_per_row: float = 0.0
    max_bytes: int = 64 * 1024 * 1024
    ca: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        self._check_address()
        for name in ("in_flight", "rows_per_call", "attempts", "max_bytes"):
            self._at_least(name, 1, whole=True)
        for name in ("timeout", "patience", "backoff", "price_per_call", "price_per_row"):
            self._at_least(name, 0)
        for name in ("rate", "max_sent"):
            if getattr(self, name) is not None:
                self._at_least(name, 0, whole=name == "max_sent")
        if self.rate == 0 or self.timeout == 0:
            raise InputError("rate and timeout must be more than 0")
        if self.ca is not None and not Path(self.ca).is_file():
            raise InputError(f"there is no file {self.ca} with certificates")
        if self.wire is None:
            object.__setattr__(self, "wire", wire_for(self.url, self.output))

    def __str__(self) -> str:
        return shown(self.url)

    def _check_address(self) -> None:
        try:
            parts = urlsplit(self.url)
            _ = parts.port  # reading it raises an error if it is not a number
        except ValueError as error:
            raise InputError(f"{shown(self.url)!r} is not an address: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{shown(self.url)!r} is not an address: expected http://... or https://...")
        if parts.username is not None or parts.password is not None:
            raise InputError("an address with a name or a password would be written to reports: use headers")

    def _at_least(self, name: str, least: int, *, whole: bool = False) -> None:
        value = getattr(self, name)
        fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not fits or not least <= value < inf:
            raise InputError(f"{name} must be {'a whole number' if whole else 'a number'} from {least}, got {value!r}")
