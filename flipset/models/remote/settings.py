"""The settings of an endpoint: how it is reached and how much it may be used. They are checked once, at the start."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from flipset.errors import InputError
from flipset.models.remote.address import is_loopback, read_address, shown
from flipset.models.remote.wire import Wire, wire_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MOST_GRACE = 10.0
"""The most seconds for which requests under way are waited for when another one has ended everything."""


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

    url: str = field(repr=False)  # it may hold a secret
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
    proxy: str | None = None
    trust_env: bool = False
    allow_plain_http: bool = False

    def __post_init__(self) -> None:
        self._check_addresses()
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

    @property
    def grace(self) -> float:
        """How many seconds to wait for requests under way, which are paid for, when a fault has ended the run."""
        return min(self.timeout, MOST_GRACE)

    def _check_addresses(self) -> None:
        parts = read_address(self.url)
        if self.proxy is not None:
            _check_proxy(self.proxy)
            if self.trust_env:
                raise InputError("give the proxy once: proxy, or trust_env for the one in the environment")
        # What a request carries beside the rows may be a secret. Without TLS, everyone on the way can read it.
        may_have_secrets = self.headers is not None or parts.query
        stays_here = is_loopback(parts.hostname) and self.proxy is None and not self.trust_env
        if parts.scheme == "http" and may_have_secrets and not stays_here and not self.allow_plain_http:
            what = "headers" if self.headers is not None else "the part of the address after '?'"
            raise InputError(
                f"{self} is plain http, so {what} would cross the network unencrypted, and may hold a secret: use "
                "https, or set allow_plain_http (--allow-plain-http) if everyone on that network may know it"
            )

    def _at_least(self, name: str, least: int, *, whole: bool = False) -> None:
        value = getattr(self, name)
        fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not fits or not least <= value < inf:
            raise InputError(f"{name} must be {'a whole number' if whole else 'a number'} from {least}, got {value!r}")


def _check_proxy(proxy: str) -> None:
    if "@" in proxy:
        raise InputError(
            f"the proxy {shown(proxy)} is given with a name or a password, which would be seen in process lists: put "
            "them into HTTPS_PROXY, and set trust_env (--trust-env)"
        )
    read_address(proxy, "a proxy")
