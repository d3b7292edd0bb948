"""Addresses: read, checked, and shown without what may be a secret.

`shown` is the only way in which an address gets into a message, a report or a journal. It never fails, whatever the
text is, and leaves out user names, passwords, and everything after "?" or "#". It does not parse the text as a client
would, because clients disagree about addresses that are wrong: where it is not clear what is a password and what is a
host, neither is shown.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from flipset.errors import InputError

HIDDEN = "***"

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^:@\[\]\s]+)(:\d{1,5})?")
INSIDE = re.compile(r"//[^/]*@")  # an address with a password in the path of another


def is_address(text: str) -> bool:
    """Say whether a text is meant as an address, rather than as the name of a file."""
    return "://" in text


def shown(url: str) -> str:
    """Return an address without user name and password, and without the part after "?" or "#".

    >>> shown("https://me:secret@scores.example/infer?key=secret")
    'https://scores.example/infer'
    >>> shown("http://me:sec/ret@scores.example/infer")
    'http://***'
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return HIDDEN if "@" in url else _printable(_up_to("?#", url))
    if not SCHEME.fullmatch(scheme):
        return HIDDEN
    place = _up_to("?#", rest)
    authority = _up_to("/\\", place)
    # After the last "@", since a password may hold one.
    host = authority.rpartition("@")[2]
    # What cannot be taken apart for certain is not shown at all: some part of it may be a password.
    if not HOST.fullmatch(host):
        return f"{scheme}://{HIDDEN}"
    path = INSIDE.sub(f"//{HIDDEN}@", place[len(authority) :])
    return _printable(f"{scheme}://{host}{path}")


def read_address(url: str, what: str = "an address") -> SplitResult:
    """Return the parts of an address; refuse one that is none, or that has a name or a password in it."""
    expected = f"{shown(url)!r} is not {what}: expected http://HOST:PORT/... or https://HOST:PORT/..."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # reading the port raises an error if it is not a number up to 65535
    except ValueError:  # its message may repeat a part of a password
        raise InputError(f"{expected}, with a port up to 65535") from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", url) or not url.isprintable():
        raise InputError(expected)
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{what} with a name or a password would be written to reports: use headers")
    return parts


def is_loopback(host: str | None) -> bool:
    """Say whether a host is this machine, so that nothing crosses a network."""
    if host is None:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _up_to(ends: str, text: str) -> str:
    return re.split(f"[{re.escape(ends)}]", text, maxsplit=1)[0]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
