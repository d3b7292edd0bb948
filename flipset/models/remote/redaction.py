r"""Secrets kept out of messages, in whatever form an endpoint repeats them.

An endpoint may repeat what it was sent: in an error, in the name of a version, as a label. It may escape it on the way
(`%2F`, `+`, `\u002f`, `&#47;`), encode it together with other text (base64, hexadecimal), change its case, cut it short
at either end, or break it over several lines. So texts are read in several ways, in each of which some of that is
undone, and wherever a piece of a secret is in one of them, the letters of the original text that stand for it are
replaced by `***`.

Invariant: `masked` leaves no secret of at least `FEWEST` letters in a text, nor any `STEM` letters in a row of it, nor
its first `FEWEST` letters at the end of a text that was cut short; in capitals or not.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from html import unescape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HIDDEN = "***"

FEWEST = 4
"""Shorter secrets are not looked for: they would be found everywhere."""

STEM = 8
"""The letters in a row of a secret from which on they are hidden, also if the rest is missing."""

KEPT = 256
"""How many different values of headers are remembered."""

SCHEMES = frozenset({"apikey", "api-key", "basic", "bearer", "digest", "key", "negotiate", "token"})
"""Words in front of a credential that are no secret themselves."""

ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))|(&#?\w{1,8};)", re.DOTALL)
CONTROL = dict(zip("bfnrt", "\b\f\n\r\t", strict=True))
MARKS = "".join(letter for letter in map(chr, range(256)) if not (letter.isascii() and letter.isalnum()))
BASE64 = re.compile(r"[A-Za-z0-9+/_=-]")


class Reading(NamedTuple):
    """A text with some escapes undone; `spans` has, for each letter, where it comes from in the original text.

    Letters are bytes of UTF-8, each written as the letter with that number: escapes such as %C3%A9 are of bytes.
    """

    text: str
    spans: list[tuple[int, int]]


class Needles(NamedTuple):
    """What to look for in a `Reading`, in small letters: secrets as they are, and as they are in base64."""

    plain: frozenset[str]
    encoded: frozenset[str]


class Pieces(NamedTuple):
    """Needles, and the pieces of them that must not be left: `STEM` letters in a row, or all where there are fewer."""

    needles: frozenset[str]
    pieces: dict[int, frozenset[str]]  # by their length

    @classmethod
    def of(cls, needles: frozenset[str]) -> Pieces:
        """Cut needles into pieces."""
        pieces: dict[int, set[str]] = {}
        for needle in needles:
            size = min(STEM, len(needle))
            pieces.setdefault(size, set()).update(needle[i : i + size] for i in range(len(needle) - size + 1))
        return cls(needles, {size: frozenset(some) for size, some in pieces.items()})


class Redactor:
    """The secrets of one endpoint: those of its address, and the last `KEPT` values of its headers."""

    def __init__(self) -> None:
        self._needles: dict[str, Needles] = {}  # by what they are made of, oldest first
        self._pieces: tuple[Pieces, Pieces] | None = None  # of all plain and all encoded needles; None if to be made

    def add_header(self, value: str) -> None:
        """Keep the value of a header: all of it, its parts, and what is encoded in it."""
        if value in self._needles:  # the usual case: the same for every request
            return
        words = value.split()
        # "Bearer" itself is no secret: hidden, it would make messages about authorization unreadable.
        if len(words) > 1 and words[0].lower() in SCHEMES:
            words = words[1:]
        secrets = [" ".join(words)]
        for word in words:
            secrets += [word, *re.split(r"[,;=\"']+", word)]
            if decoded := _decoded_base64(word):  # "name:password", as in basic authentication
                secrets += [decoded, decoded.partition(":")[2]]
        self._needles[value], self._pieces = _needles(secrets), None
        if len(self._needles) > KEPT:  # headers may be signed anew for each request
            del self._needles[next(iter(self._needles))]

    def add_address(self, url: str) -> None:
        """Keep what an address has after "?", and its password, if it has one."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return
        pairs = [part.partition("=")[2] for part in parts.query.split("&")]
        secrets = [parts.query, *pairs, *(value for _, value in parse_qsl(parts.query))]
        if parts.password is not None:
            secrets += [parts.password, unquote(parts.password)]
        self._needles[url], self._pieces = _needles(secrets), None

    def masked(self, text: str) -> str:
        """Return a text without the secrets, in any form."""
        if not self._needles or not text:
            return text
        hidden = [False] * len(text)
        plain, encoded = self._all_pieces()
        for reading in _readings(text):
            small = "".join(map(str.lower, reading.text))  # letter by letter, so that spans stay valid
            for start, end in _occurrences(plain, small):
                _hide(hidden, reading, start, end)
            for start, end in _occurrences(encoded, small):
                # The first and last letters of base64 belong to the neighbours of the secret, too.
                _hide(hidden, reading, *_widened(small, start, end))
        return _with_gaps(text, hidden)

    def _all_pieces(self) -> tuple[Pieces, Pieces]:
        """Return what to look for as it is, and as base64."""
        pieces = self._pieces
        if pieces is None:
            known = list(self._needles.values())
            plain = frozenset(needle for needles in known for needle in needles.plain)
            encoded = frozenset(needle for needles in known for needle in needles.encoded)
            pieces = self._pieces = Pieces.of(plain), Pieces.of(encoded)
        return pieces


def _needles(secrets: Iterable[str]) -> Needles:
    """Return what to look for, so that none of these secrets is left in a text."""
    plain: set[str] = set()
    encoded: set[str] = set()
    for secret in (" ".join(secret.split()) for secret in secrets):  # as in messages
        if len(secret) >= FEWEST:
            plain |= {reading.text.lower() for reading in _readings(secret) if len(reading.text) >= FEWEST}
            raw = secret.encode("utf-8", "surrogatepass")
            plain.add(raw.hex())
            encoded |= {letters.lower() for letters in _in_base64(raw)}
    return Needles(frozenset(plain), frozenset(encoded))


def _readings(text: str) -> Iterator[Reading]:
    """Yield the text as it is and with escapes undone, once and twice, where "+" is itself and where it is a space."""
    plain = _read(text)
    for reading in (plain, Reading(plain.text.replace("+", " "), plain.spans)):
        # Twice, because texts are escaped again when they are put into others, such as JSON in JSON.
        once = _unescaped(reading)
        yield from (reading, once, _unescaped(once))


def _read(text: str) -> Reading:
    letters: list[str] = []
    spans: list[tuple[int, int]] = []
    for i, letter in enumerate(text):
        made = _as_bytes(letter)
        letters.append(made)
        spans += [(i, i + 1)] * len(made)
    return Reading("".join(letters), spans)


def _unescaped(reading: Reading) -> Reading:
    letters: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for match in ESCAPE.finditer(reading.text):
        letters.append(reading.text[at : match.start()])
        spans += reading.spans[at : match.start()]
        made = _meaning(match)
        letters.append(made)
        spans += [(reading.spans[match.start()][0], reading.spans[match.end() - 1][1])] * len(made)
        at = match.end()
    letters.append(reading.text[at:])
    spans += reading.spans[at:]
    return Reading("".join(letters), spans)


def _meaning(match: re.Match[str]) -> str:
    percent, four, two, other, entity = match.groups()
    if percent is not None:
        return chr(int(percent, 16))
    if four is not None or two is not None:
        return _as_bytes(chr(int(four or two, 16)))
    return CONTROL.get(other, other) if other is not None else _as_bytes(unescape(entity))


def _as_bytes(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _occurrences(wanted: Pieces, text: str) -> Iterator[tuple[int, int]]:
    """Yield where pieces of secrets are in a text, and the beginnings of secrets at its end."""
    for size, pieces in wanted.pieces.items():
        for at in range(len(text) - size + 1):
            if text[at : at + size] in pieces:
                yield at, at + size
    # A text that was cut short ends in a few letters of the secret, or in these and marks such as "...".
    last = len(text.rstrip(MARKS))
    for needle in wanted.needles:
        at = text.find(needle[:FEWEST], max(0, last - len(needle)))
        while at >= 0:
            end = at + FEWEST
            while end < len(text) and end - at < len(needle) and text[end] == needle[end - at]:
                end += 1
            if end >= last:
                yield at, end
            at = text.find(needle[:FEWEST], at + 1)


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and BASE64.match(text[start - 1]):
        start -= 1
    while end < len(text) and BASE64.match(text[end]):
        end += 1
    return start, end


def _in_base64(secret: bytes) -> Iterable[str]:
    """Yield the letters of base64 that a secret has for certain, at each of the three places where it may begin."""
    for offset in range(3):
        whole = b64encode(bytes(offset) + secret).decode()
        first = -(-8 * offset // 6)  # letters before this one depend on what is in front of the secret
        last = 8 * (offset + len(secret)) // 6  # letters from this one on, on what follows it
        core = whole[first:last]
        if len(core) >= FEWEST:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _decoded_base64(word: str) -> str | None:
    """Return the text that a word encodes; None if it does not."""
    padded = word.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        text = b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except ValueError:
        return None
    return text if text.isprintable() else None


def _hide(hidden: list[bool], reading: Reading, start: int, end: int) -> None:
    for first, last in reading.spans[start:end]:
        hidden[first:last] = [True] * (last - first)


def _with_gaps(text: str, hidden: list[bool]) -> str:
    parts: list[str] = []
    for i, letter in enumerate(text):
        if not hidden[i]:
            parts.append(letter)
        elif i == 0 or not hidden[i - 1]:
            parts.append(HIDDEN)
    return "".join(parts)
