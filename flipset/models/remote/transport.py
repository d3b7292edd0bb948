"""One request to an endpoint: sent, read, and its failures turned into faults.

Everything here runs in the event loop of the connections.

Invariant: text from outside goes into a message only through `redacted`, which removes the secrets that were sent.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.request import getproxies
from weakref import WeakSet

from flipset.errors import FlipsetError, InputError, Unavailable, first_line
from flipset.models.remote.address import shown
from flipset.models.remote.faults import Refused, Transient, may_pass, seconds_in
from flipset.models.remote.redaction import Redactor

if TYPE_CHECKING:
    import httpx2

    from flipset.models.remote.settings import Settings

SHOWN = 200
"""The most characters of a refusal that a message repeats."""


LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
"""The loggers that write about requests and answers."""


def open_client(settings: Settings, redactor: Redactor) -> httpx2.AsyncClient:
    """Return a client for an endpoint. It has no limit on connections: the sender of requests limits them."""
    import httpx2

    # Timeouts are set for whole requests, in `send`. Redirects are not followed: they would send the headers, and the
    # secrets in them, to another address.
    limits = httpx2.Limits(max_connections=None)
    verify = _trusted(settings)
    with suppress(httpx2.InvalidURL):  # which is said when the first request is sent
        _hide_in_logs(str(httpx2.URL(settings.url)), redactor)
    try:
        return httpx2.AsyncClient(
            timeout=None,
            verify=verify,
            limits=limits,
            follow_redirects=False,
            proxy=settings.proxy,
            trust_env=settings.trust_env,
        )
    except (ValueError, ImportError, httpx2.InvalidURL):  # the message may hold the password of a proxy
        raise InputError(
            "the proxy that the environment names cannot be used: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY"
        ) from None


class _HideSecrets(logging.Filter):
    """Changes records about endpoints: addresses lose the part after "?", and what was sent as a secret is masked.

    httpx2 logs the address of every request and the reason of every answer, and httpcore2 the headers of answers, in
    which an endpoint may repeat what it was sent.
    """

    def __init__(self) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.redactors: WeakSet[Redactor] = WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(shown(str(part)) if str(part) in self.addresses else part for part in record.args)
        text = masked = record.getMessage()
        for redactor in list(self.redactors):
            masked = redactor.masked(masked)
        if masked != text:
            record.msg, record.args = masked, ()
        return True


_hiding = _HideSecrets()


def _hide_in_logs(url: str, redactor: Redactor) -> None:
    """Let the HTTP library log nothing that is a secret."""
    if "?" in url:
        _hiding.addresses.add(url)
    _hiding.redactors.add(redactor)
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_hiding)  # once: a logger knows its filters


def _trusted(settings: Settings) -> ssl.SSLContext | bool:
    if settings.ca is None:
        return True
    try:
        return ssl.create_default_context(cafile=settings.ca)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"{settings.ca} holds no certificates that can be read: {first_line(error)}") from None


class Transport:
    """Sends requests, one or several at a time, and turns failures into faults."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.redactor = Redactor()  # what no message may repeat
        self.redactor.add_address(settings.url)
        if settings.trust_env:
            for proxy in getproxies().values():
                self.redactor.add_address(proxy)

    async def send(
        self, client: httpx2.AsyncClient, method: str, url: str, secret: dict[str, str], body: bytes | None = None
    ) -> bytes:
        """Send one request and return the answer; raise `Transient` if trying again may help, else `Refused`."""
        import httpx2

        headers = {"Accept": "application/json", **secret}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with (
                asyncio.timeout(self.settings.timeout),
                client.stream(method, url, content=body, headers=headers) as response,
            ):
                if response.status_code != 200:
                    self._refuse(response, await self._beginning(response))
                return await self._whole(response)
        except TimeoutError:
            raise Transient(f"{self.settings} did not answer within {self.settings.timeout:g} seconds") from None
        except httpx2.TransportError as error:
            reason = self.redacted(first_line(error))
            # Trying again would meet the same certificate. The library has no error of its own for this.
            if "CERTIFICATE" in reason:
                raise Refused(0, f"{self.settings} is not who it says: {reason}") from None
            raise Transient(f"{self.settings} cannot be reached: {reason}") from None
        except httpx2.DecodingError as error:
            reason = self.redacted(first_line(error))
            raise Transient(f"{self.settings} answered something that cannot be read: {reason}") from None
        except httpx2.InvalidURL as error:
            raise Refused(0, f"{self.settings} is no address: {self.redacted(first_line(error))}") from None

    def headers(self) -> dict[str, str]:
        """Return the headers for one request; `redacted` removes their values from now on."""
        if self.settings.headers is None:
            return {}
        try:
            headers = {str(name): str(value).strip() for name, value in self.settings.headers().items()}
        except FlipsetError:
            raise
        except Exception as error:  # its message is left out, because it may contain the secret
            raise Unavailable(f"the headers for {self.settings} cannot be had: {type(error).__name__}") from None
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise InputError(f"the header {name} for {self.settings} holds letters that cannot be sent")
        # Noted before the request goes out: from its first byte on, an answer may repeat them.
        for value in headers.values():
            self.redactor.add_header(value)
        return headers

    def redacted(self, text: str) -> str:
        """Return the beginning of a text from outside, on one line, without the secrets that were sent."""
        text = self.redactor.masked(" ".join(text[: 100 * SHOWN].split()))
        return "".join(letter if letter.isprintable() else "?" for letter in text[:SHOWN])

    async def _whole(self, response: httpx2.Response) -> bytes:
        """Read an answer of up to `max_bytes`."""
        parts, size = [], 0
        async for part in response.aiter_bytes():
            # Counted as it arrives: the length in the headers need not be true, and a body may be compressed.
            size += len(part)
            if size > self.settings.max_bytes:
                raise Refused(0, f"{self.settings} answered more than {self.settings.max_bytes:,} bytes")
            parts.append(part)
        return b"".join(parts)

    async def _beginning(self, response: httpx2.Response) -> str:
        """Read as much of a refusal as a message repeats."""
        # More is read than is shown, because a secret at the border must be seen whole to be removed.
        body = b""
        async for part in response.aiter_bytes():
            body += part
            if len(body) > 10 * SHOWN:
                break
        return self.redacted(body[: 100 * SHOWN].decode("utf-8", errors="replace"))

    def _refuse(self, response: httpx2.Response, body: str) -> None:
        status = response.status_code
        reason = self.redacted(response.reason_phrase)
        message = f"{self.settings} answered {status} {reason}: {body or 'nothing more'}"
        if not may_pass(status):
            raise Refused(status, message)
        wait = seconds_in(response.headers.get("Retry-After"))
        # Waiting for an hour in silence is worse than an error: the run can be continued later.
        if wait is not None and wait > self.settings.patience:
            patience = f"{wait:,.0f} seconds, and patience is {self.settings.patience:g}"
            raise Refused(status, f"{message}; it asks to wait {patience}")
        raise Transient(message, wait)
