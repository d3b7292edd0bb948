"""The values of options: lists, pairs such as income=5, numbers, amounts and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipset.cli.textcells import read_number
from flipset.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def items(given: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Split lists at commas; a known name may itself contain commas."""
    names = set(known)
    parts: list[str] = []
    for text in given:
        # A name with a comma must be given by itself: within a list it could not be told from two names.
        parts += [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]
    return parts


def pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """Read pairs of the form name=value."""
    values = {}
    for text in items(given):
        # The last sign, because a column may have "=" in its name, and a number has none.
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise InputError(f"--{option} {text}: expected COLUMN=VALUE")
        values[name] = value
    return values


def number(option: str, text: str) -> float | None:
    """Read a number; None for an empty text."""
    if not text.strip():
        return None
    for read in (int, float):  # int first, because floats round large integers
        try:
            return read(text)
        except ValueError:
            continue
    raise InputError(f"--{option}: {text!r} is not a number")


def bound(text: str) -> float | str | None:
    """Read a bound: a number, the name of a column with bounds of each row's own, or None for an empty text."""
    try:
        return number("bounds", text)
    except InputError:
        return text


def amount(option: str, text: str) -> float | str:
    """Read an amount, or a share with a percent sign."""
    if "%" in text:
        return text
    read = number(option, text)
    if read is None:
        raise InputError(f"--{option}: expected an amount such as 5000, or a share such as 20%")
    return read


def codes(option: str, given: Iterable[str]) -> dict[str, list[Any]]:
    """Read codes of the form name=code,code; a code that is not a number is a text."""
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, listed = text.rpartition("=")
        if not equals or not name:
            raise InputError(f"--{option} {text}: expected COLUMN=CODE,CODE, or *=CODE,CODE for all columns")
        found[name] = [read_number(code) for code in items([listed])]
    return found
