"""Who may speak to the server: those who have the token, from pages of the server itself, and not too much at once.

- A `Host` that is not the server's own is refused, so that no name that was made to point here can be used from a page
  elsewhere (DNS rebinding).
- A request that says it comes from another origin is refused; so is one without the token, which comes with the printed
  address and stays as a cookie that no other site can send and no script can read.
- Bodies have a limit. Pages load nothing from elsewhere, run no script but the server's own, and are not framed.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 4_000_000
"""Bytes that a request may have."""

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
ANSWERING = "Open the address that the command printed: it holds the token."


class Safety:
    """Lets through what may come through, and puts the headers on what goes out."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Sequence[str], cookie: str) -> None:
        self.app = app
        self.token = token
        self.hosts = {host.lower() for host in hosts}
        self.cookie = cookie

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
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and scope["path"] != "/":
            return _error(403, "requests from other sites are refused")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return TOO_LARGE
        return self._identify(scope, headers)

    def _identify(self, scope: Scope, headers: Headers) -> Response | None:
        given = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        offered = dict(given).get("token")
        if scope["path"] == "/" and offered is not None and self._is_token(offered):
            rest = urlencode([(name, value) for name, value in given if name != "token"])
            entered = RedirectResponse("/" + (f"?{rest}" if rest else ""), status_code=303)
            entered.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return entered
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(bearer) or self._is_token(self._from_cookie(headers.get("cookie", ""))):
            return None
        if scope["path"].startswith("/api/"):
            return _error(401, "the token is missing: send it as 'Authorization: Bearer TOKEN'")
        return PlainTextResponse(ANSWERING, status_code=401)

    def _from_cookie(self, text: str) -> str:
        try:
            cookie = SimpleCookie(text).get(self.cookie)
        except CookieError:
            return ""
        return "" if cookie is None else cookie.value

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text, "kind": "Refused"}, status_code=status)


TOO_LARGE = _error(413, f"a request may have {MOST_BYTES:,} bytes")


class _Body:
    """A body that need not say how long it is; one that grows too long ends as if the client had gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0

    @property
    def is_too_large(self) -> bool:
        """Whether there was too much of it."""
        return self._seen > MOST_BYTES

    async def read(self) -> Message:
        """Return the next part."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.is_too_large else message
