"""Scoring endpoints as models: slow, billed by the call, and not always there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from flipset.drivers.loop_thread import awaited, result_of
from flipset.errors import Unavailable
from flipset.models.remote.faults import Refused, Transient
from flipset.models.remote.requests import Requests
from flipset.models.remote.settings import EnvironmentHeaders, Settings
from flipset.models.remote.wire import Column
from flipset.models.tables import kinds_of, plain_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.models.remote.bill import Bill
    from flipset.models.remote.call_times import CallTimes

__all__ = ["Endpoint", "EnvironmentHeaders"]


@dataclass(frozen=True, eq=False, repr=False)
class Endpoint(Settings):
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
    proxy
        The address of a proxy to send everything through, such as `http://proxy.example:3128`. It must not hold a
        password. For an endpoint with plain http, the proxy sees the rows and the headers.
    trust_env
        Use the proxies that the environment names (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) and the certificates
        of SSL_CERT_FILE and SSL_CERT_DIR. By default, the environment has no say in where rows are sent.
    allow_plain_http
        Send headers, or an address with "?", to another machine without encryption.

    Examples
    --------
    >>> endpoint = Endpoint("https://scores.example/v2/models/loans/infer", price_per_row=0.002)
    >>> print(endpoint, endpoint.bill)
    https://scores.example/v2/models/loans/infer 0 rows answered in 0 requests
    """

    _requests: Requests = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_requests", Requests(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), {one.name: getattr(self, one.name) for one in fields(self) if one.init})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, rows: Any, names: Sequence[str] | None = None) -> list[Any]:
        """Return what the endpoint says to rows, a frame or an array: one number, or list of numbers, each."""
        columns, cells = _as_sent(rows, names)
        return result_of(self._requests.submit(lambda: self._requests.scores(columns, cells)))

    async def ask(self, rows: Any, names: Sequence[str] | None = None) -> list[Any]:
        """Return the same to a coroutine, in any event loop; cancelling it gives the requests up."""
        columns, cells = _as_sent(rows, names)
        return await awaited(self._requests.submit(lambda: self._requests.scores(columns, cells)))

    @property
    def bill(self) -> Bill:
        """What was asked so far, and what that costs."""
        return self._requests.bill

    @property
    def call_times(self) -> CallTimes:
        """How long requests take."""
        return self._requests.call_times

    def fill(self) -> int:
        """Return how many rows the next request should have: as many as it bears well."""
        return min(self.rows_per_call, self.call_times.rows_per_call())

    @property
    def answered_as(self) -> str | None:
        """The version of the model that its answers say they are of; None where they do not."""
        return self._requests.version

    def close(self) -> None:
        """Give up all requests, and close all connections; the next call opens them again."""
        self._requests.close()

    def identity(self) -> str:
        """Return name and version, as journals and reports have it: the version as given, or as the endpoint says."""
        version = self.version
        address = self.wire.about(str(self))
        # What the user says wins. Only otherwise is the endpoint asked, which costs a request.
        if version is None and address is not None:
            version = result_of(self._requests.submit(lambda: self._versions_at(address)))
        return f"{self} version {version}" if version else str(self)

    async def _versions_at(self, address: str) -> str:
        """Return the versions that the endpoint says it has; nothing where it does not."""
        import json

        try:
            answer = json.loads(await self._requests.get(address))
        except Transient as error:
            raise Unavailable(str(error)) from None
        except (Refused, ValueError):
            return ""
        versions = answer.get("versions") if isinstance(answer, Mapping) else None
        named = ", ".join(map(str, versions)) if isinstance(versions, list) else ""
        return self._requests.redactor.masked(named)  # it will be in journals and reports


def _again(kind: type[Endpoint], settings: dict[str, Any]) -> Endpoint:
    return kind(**settings)


def _as_sent(rows: Any, names: Sequence[str] | None) -> tuple[tuple[Column, ...], list[list[Any]]]:
    """Return the columns, and the cells as plain values."""
    kinds = kinds_of(rows)
    given = list(rows.columns) if hasattr(rows, "columns") else names
    called = range(len(kinds)) if given is None else given
    return tuple(Column(str(name), kind) for name, kind in zip(called, kinds, strict=True)), plain_rows(rows)
