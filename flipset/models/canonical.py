"""Values as bytes that depend on nothing but the values: not on the process, the memory, or the order of a dictionary.

`digest` hashes plain data: numbers, text, sequences, dictionaries, sets and NumPy arrays, however deeply nested.
Everything else is an object, and `unfold` says what plain data an object stands for. `unfold` raises `NotCanonical` for
an object that it does not know.

Invariant: two values have the same digest only if they are equal, type by type. Each part is written with its kind and
its length, so no two values are written as the same bytes. Deliberately equal are: NumPy's scalars of 64 bits and
Python's, all integer types of scalars, arrays in any memory or byte order, arrays of text of any width, all NaNs that
are Python floats, and dictionaries and sets in any order.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Unfold: TypeAlias = Callable[[Any], tuple[str, Any]]
"""Takes an object; returns the name of what it is, and its content as data that may have further objects in it."""

Write: TypeAlias = Callable[[bytes], object]


class NotCanonical(Exception):
    """A value holds something whose content cannot be written down, such as a function."""


def unknown(value: Any) -> tuple[str, Any]:
    """Refuse an object: an `Unfold` for data without objects."""
    kind = type(value)
    raise NotCanonical(f"{kind.__module__}.{kind.__qualname__}")


def digest(value: Any, unfold: Unfold = unknown) -> str:
    """Return the SHA-256 of a value in hexadecimal digits; raise `NotCanonical` where there is none.

    Examples
    --------
    >>> digest({"a": 1, "b": [2.0]}) == digest({"b": [2.0], "a": 1}), digest([1]) == digest([1.0])
    (True, False)
    """
    made = hashlib.sha256()
    try:
        _Writer(made.update, unfold).value(value)
    except RecursionError:
        raise NotCanonical("a value that is nested too deeply") from None
    return made.hexdigest()


class _Writer:
    """Writes values. It keeps the objects that it is inside of, because an object in itself has no end."""

    def __init__(self, write: Write, unfold: Unfold, inside: frozenset[int] = frozenset()) -> None:
        self.write = write
        self.unfold = unfold
        self.inside = set(inside)

    def value(self, value: Any) -> None:
        kind = type(value)
        if kind in _SCALARS:
            self.part(*_SCALARS[kind](value))
        elif kind in _COLLECTIONS:
            self.nested(value, self.collection)
        elif kind is slice:
            self.count(b"slice", 3)
            self.value((value.start, value.stop, value.step))
        elif isinstance(value, np.generic):
            self.number(value)
        elif kind is np.ndarray or kind is np.memmap:
            self.array(value)
        else:
            self.nested(value, self.object)

    def part(self, tag: bytes, content: bytes) -> None:
        self.write(tag + len(content).to_bytes(8, "big") + content)

    def count(self, tag: bytes, count: int) -> None:
        self.write(tag + count.to_bytes(8, "big"))

    def nested(self, value: Any, write: Callable[[Any], None]) -> None:
        if id(value) in self.inside:
            raise NotCanonical(f"a {type(value).__qualname__} that is inside of itself")
        self.inside.add(id(value))
        write(value)
        self.inside.remove(id(value))

    def collection(self, value: Any) -> None:
        self.count(_COLLECTIONS[type(value)], len(value))
        if isinstance(value, dict):
            keys = sorted(((self.alone(name), name) for name in value), key=lambda pair: pair[0])
            for written, name in keys:
                self.write(written)
                self.value(value[name])
        elif isinstance(value, (set, frozenset)):
            self.write(b"".join(sorted(map(self.alone, value))))
        else:
            for item in value:
                self.value(item)

    def alone(self, value: Any) -> bytes:
        """Return what is written for a value."""
        written: list[bytes] = []
        _Writer(written.append, self.unfold, frozenset(self.inside)).value(value)
        return b"".join(written)

    def number(self, value: np.generic) -> None:
        plain = value.item()
        if type(plain) in _SCALARS and (value.dtype.kind in "biuUS" or value.dtype == np.float64):
            self.value(plain)
        else:
            self.array(np.asarray(value))

    def array(self, array: NDArray[Any]) -> None:
        self.part(b"shape", repr(array.shape).encode())
        if array.dtype.names is not None:
            # Field by field: the bytes between the fields of a record are not initialised.
            self.count(b"fields", len(array.dtype.names))
            for name in array.dtype.names:
                self.value(name)
                self.array(array[name])
        elif array.dtype.kind in "OUS":
            self.count(b"cells", array.size)
            for cell in array.ravel().tolist():
                self.value(cell)
        elif array.dtype.kind in "biufcmM" and array.dtype.char not in "gG":  # long doubles have bytes without meaning
            self.part(b"dtype", array.dtype.newbyteorder("<").str.encode())
            self.part(b"bytes", array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
        else:
            raise NotCanonical(f"an array of {array.dtype}")

    def object(self, value: Any) -> None:
        name, content = self.unfold(value)
        self.part(b"object", name.encode())
        self.value(content)


def _float(value: float) -> tuple[bytes, bytes]:
    return b"float", b"nan" if isnan(value) else struct.pack("<d", value)


# No tag begins with another one, so it is clear where a tag ends.
_SCALARS: dict[type, Callable[[Any], tuple[bytes, bytes]]] = {
    type(None): lambda value: (b"none", b""),
    bool: lambda value: (b"bool", b"1" if value else b"0"),
    int: lambda value: (b"int", b"%d" % value),
    float: _float,
    complex: lambda value: (b"complex", struct.pack("<dd", value.real, value.imag)),
    str: lambda value: (b"text", value.encode("utf-8", "surrogatepass")),
    bytes: lambda value: (b"data", value),
    range: lambda value: (b"range", repr(value).encode()),
}

_COLLECTIONS: dict[type, bytes] = {list: b"list", tuple: b"tuple", dict: b"dict", set: b"set", frozenset: b"set"}
