"""Which requests are admitted: those with the token, from pages of the server itself, and of limited size.

- A `Host` that is not the server's own is refused, so that no name that was made to point here can be used from a page
  elsewhere (DNS rebinding).
- A request that says it comes from another origin is refused.
- A request without the token in its `Authorization` header is refused. There is no cookie: a browser sends cookies to
  every port of a host, and by itself. A header is sent only by a script that has the token. The page takes the token
  from the fragment of the printed address, which browsers do not send, and keeps it for its tab.
- The files of the page itself are the same for everybody and need no token.
- Bodies have a limit. Pages load nothing from elsewhere, run no script but the server's own, and are not framed.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response

from flipset.boundary.limits import MOST_REQUEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Safety:
    """Lets through what may come through, and puts the headers on what goes out."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Sequence[str]) -> None:
        self.app = app
        self.token = token
        self.hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        body = _Body(receive)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        async def send_unless_too_large(message: Message) -> None:
            if not body.is_too_large:
                await send_safely(message)

        if refusal is not None:
            await refusal(scope, receive, send_safely)
            return
        # The application sees a client that has gone. What it says to that is dropped, for the answer below.
        await self.app(scope, body.read, send_unless_too_large)
        if body.is_too_large:
            await TOO_LARGE(scope, receive, send_safely)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return what to say instead, if the request may not come through."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return _error(421, f"this server is not {host!r}")
        origin = headers.get("origin")
        if origin is not None and origin.lower().removeprefix("https://").removeprefix("http://") not in self.hosts:
            return _error(403, "requests from other sites are refused")
        # The start page may be opened from a link on another site: it is the same for everybody, and has no token.
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and scope["path"] != "/":
            return _error(403, "requests from other sites are refused")
        length = headers.get("content-length", "0")
        # The number of digits comes first: Python refuses to convert thousands of them.
        if not (length.isascii() and length.isdecimal() and len(length) < 20) or int(length) > MOST_REQUEST_BYTES:
            return TOO_LARGE
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or _is_page(scope):
            return None
        return _error(401, "the token is missing: send it as 'Authorization: Bearer TOKEN'")

    def _is_token(self, given: str) -> bool:
        # In a time that does not depend on how much of it is right.
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _is_page(scope: Scope) -> bool:
    """Say whether a request is for a file of the page itself."""
    path = scope["path"]
    return scope["method"] in ("GET", "HEAD") and (path == "/" or path.startswith("/page/"))


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text, "kind": "Refused"}, status_code=status)


TOO_LARGE = _error(413, f"a request may have {MOST_REQUEST_BYTES:,} bytes")


class _Body:
    """A body that need not say how long it is; one that grows too long ends as if the client had gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0

    @property
    def is_too_large(self) -> bool:
        """Whether there was too much of it."""
        return self._seen > MOST_REQUEST_BYTES

    async def read(self) -> Message:
        """Return the next part."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_too_large else message
