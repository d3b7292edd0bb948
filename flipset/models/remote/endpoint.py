"""Scoring endpoints as models: slow, billed by the call, and not always there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flipset.errors import InputError, Unavailable
from flipset.models.remote.faults import Passing, Refused
from flipset.models.remote.requests import Line
from flipset.models.remote.wire import Column, Wire, shown, wire_for
from flipset.models.tables import kinds_of, plain_rows

if TYPE_CHECKING:
    from flipset.models.remote.bill import Bill
    from flipset.models.remote.pace import Pace


@dataclass(frozen=True, slots=True)
class EnvironmentHeaders:
    """Headers whose values are in environment variables, and are read there each time: nothing else keeps them."""

    variables: Mapping[str, str]

    def __call__(self) -> dict[str, str]:
        """Read them."""
        missing = [variable for variable in self.variables.values() if variable not in os.environ]
        if missing:
            raise InputError(f"the environment variable {missing[0]} is not set; a header is to be taken from it")
        return {header: os.environ[variable] for header, variable in self.variables.items()}


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A scoring endpoint, as a model that `Explainer` takes.

    Attributes
    ----------
    url
        Where rows are sent: `.../v2/models/NAME/infer` (Open Inference Protocol, version 2) or `.../invocations`
        (MLflow); another with a `wire` of its own. Passwords do not belong into it.
    wire
        How rows are written and scores are read; by default as the address says.
    output
        For the Open Inference Protocol, the output that is the score, where there are several.
    headers
        A function that returns headers, such as `EnvironmentHeaders({"Authorization": "SCORING_AUTH"})`. It is called
        for each request; what it returns is sent, and written nowhere.
    version
        Which version of the model it is, for journals and reports, where the endpoint does not say so itself.
    in_flight
        How many requests may be under way at a time.
    rows_per_call
        How many rows a request may have.
    rate
        How many requests may go out in a second; None: as many as can be.
    timeout
        Seconds that one request may take.
    attempts
        How often a request is sent before a fault that may pass (no connection, 429, 5xx, an answer that cannot be
        read) counts as one that lasts.
    backoff
        Seconds to wait after the first fault; each further one doubles them, and chance adds up to as much.
    patience
        Seconds to wait at most, also if the endpoint asks for more by `Retry-After`.
    max_sent
        Rows that may be sent in all, those sent again included: no request goes out that would be more.
    price_per_call, price_per_row
        What requests and rows cost, for `bill`.
    max_bytes
        How long an answer may be.
    ca
        A file with certificates to trust; by default those that httpx2 trusts. Certificates are always verified.

    Examples
    --------
    >>> endpoint = Endpoint("https://scores.example/v2/models/loans/infer", price_per_row=0.002)
    >>> print(endpoint, endpoint.bill)
    https://scores.example/v2/models/loans/infer 0 rows answered in 0 requests
    """

    url: str
    _: KW_ONLY
    wire: Wire = field(default=None, repr=False)  # type: ignore[assignment]  # read off the address
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
    _line: Line = field(init=False, repr=False)

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
        object.__setattr__(self, "_line", Line(self))

    def _check_address(self) -> None:
        try:
            parts = urlsplit(self.url)
            _ = parts.port
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

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, ({one.name: getattr(self, one.name) for one in fields(self) if one.init},)

    def __str__(self) -> str:
        return shown(self.url)

    def __repr__(self) -> str:
        return f"Endpoint({shown(self.url)!r})"

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, rows: Any, names: Sequence[str] | None = None) -> list[Any]:
        """Return what the endpoint says to rows, a frame or an array: one number, or list of numbers, each."""
        columns, cells = _as_sent(rows, names)
        return self._line.wait(lambda: self._line.scores(columns, cells))

    async def ask(self, rows: Any, names: Sequence[str] | None = None) -> list[Any]:
        """Return the same to whoever awaits it."""
        columns, cells = _as_sent(rows, names)
        return await self._line.awaited(lambda: self._line.scores(columns, cells))

    @property
    def bill(self) -> Bill:
        """What was asked so far, and what that costs."""
        return self._line.bill

    @property
    def pace(self) -> Pace:
        """How long requests take."""
        return self._line.pace

    def fill(self) -> int:
        """Return how many rows the next request should have: as many as it bears well."""
        return min(self.rows_per_call, self.pace.fill())

    @property
    def answered_as(self) -> str | None:
        """The version of the model that its answers say they are of; None where they do not."""
        return self._line.version

    def drop(self, threads: Iterable[int]) -> None:
        """Give up the requests that these threads wait for."""
        self._line.drop(threads)

    def close(self) -> None:
        """Give up all requests, and close all connections; the next question opens them again."""
        self._line.close()

    def identity(self) -> str:
        """Return name and version, as journals and reports have it: the version as given, or as the endpoint says."""
        version = self.version
        address = self.wire.about(str(self))
        if version is None and address is not None:
            version = self._line.wait(lambda: self._told(address))
        return f"{self} version {version}" if version else str(self)

    async def _told(self, address: str) -> str:
        """Return the versions that the endpoint says it has; nothing where it does not."""
        import json

        try:
            answer = json.loads(await self._line.insist(lambda: self._line.get(address)))
        except Passing as error:
            raise Unavailable(str(error)) from None
        except (Refused, ValueError):
            return ""
        versions = answer.get("versions") if isinstance(answer, Mapping) else None
        return ", ".join(map(str, versions)) if isinstance(versions, list) else ""


def _again(settings: dict[str, Any]) -> Endpoint:
    return Endpoint(**settings)


def _as_sent(rows: Any, names: Sequence[str] | None) -> tuple[tuple[Column, ...], list[list[Any]]]:
    """Return the columns, and the cells as plain values."""
    kinds = kinds_of(rows)
    given = list(rows.columns) if hasattr(rows, "columns") else names
    called = range(len(kinds)) if given is None else given
    return tuple(Column(str(name), kind) for name, kind in zip(called, kinds, strict=True)), plain_rows(rows)
