"""Reading data from untrusted sources: limits on its size, and errors that name the field.

`parse` and `parse_toml` turn texts into Python values. `Field` reads each value as what it must be: a number, a name, a
list of a limited length. Every size is checked before any work is done on the value. A wrong value raises an
`InputError` with its path, such as `counterfactuals[2].changes[0].how`, the value in a short form, and what was
expected. This module raises no other error.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from flipset.boundary.limits import (
    MOST_CHARACTERS,
    MOST_DIGITS,
    MOST_TEXT,
    MOST_TOML_CHARACTERS,
    MOST_TOML_DOTS,
    MOST_VALUES,
    MOST_WEIGHT_EXPONENT,
)
from flipset.errors import InputError, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from flipset.boundary.step_budget import StepBudget

T = TypeVar("T")

MOST_WHOLE: int = 10**MOST_DIGITS
"""The largest absolute value of a whole number; it can still be converted to a float."""

WEIGHTS = f"between 1e-{MOST_WEIGHT_EXPONENT} and 1e{MOST_WEIGHT_EXPONENT}"
"""The limits of a weight, in words."""


def is_weight(number: float | Decimal) -> bool:
    """Say whether a number may be a weight: positive, and neither too small nor too large to add exactly."""
    try:
        return bool(10.0**-MOST_WEIGHT_EXPONENT <= number <= 10.0**MOST_WEIGHT_EXPONENT)
    except ArithmeticError:  # a decimal that is not a number
        return False


def read_file(path: Path, most: int = MOST_CHARACTERS) -> str:
    """Return the text of a file of at most `most` bytes; a device or a pipe is read no further than that."""
    try:
        with path.open("rb") as file:
            # One byte more than allowed tells a file that is too large from one that just fits, without reading it all.
            content = file.read(most + 1)
        text = content.decode("utf-8") if len(content) <= most else None
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError, and so is what is no UTF-8
        raise InputError(f"{path} cannot be read: {reason_of(error)}") from None
    if text is None:
        raise InputError(f"{path} may have {most:,} bytes, and has more")
    return text


def parse(text: Any, what: str, *, infinite: bool = False) -> Any:
    """Return the value of a JSON text. Error messages begin with `what`, such as "an explanation".

    JSON has no infinite numbers, but Python writes them; with `infinite` they are read.
    """
    check_size(text, what)

    def constant(name: str) -> float:
        if infinite and name != "NaN":
            return float(name)
        raise InputError(f"{what} must be JSON, which has no {name}")

    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # JSON leaves open which of two equal names counts. Two readers could understand two different proofs.
        members = dict(pairs)
        if len(members) < len(pairs):
            (repeated, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            raise InputError(f"{what} has an object with the name {shown(repeated)} twice")
        return members

    with _naming_faults(what, "JSON"):
        return json.loads(text, parse_constant=constant, object_pairs_hook=without_repeats)


def parse_toml(text: Any, what: str) -> Any:
    """Return the tables of a TOML text. Error messages begin with `what`, such as "a space"."""
    if not isinstance(text, str):
        raise InputError(f"{what} must be TOML, got {type(text).__name__}")
    if len(text) > MOST_TOML_CHARACTERS:
        raise InputError(f"{what} may have {MOST_TOML_CHARACTERS:,} characters as TOML, got {len(text):,}")
    if any(piece[0].count(".") > MOST_TOML_DOTS for piece in re.finditer(r"[^,=\[\]{}\n]+", text)):
        raise InputError(f"{what} may have {MOST_TOML_DOTS} dots in a part of a line, and has more")
    with _naming_faults(what, "TOML"):
        return tomllib.loads(text)


@contextmanager
def _naming_faults(what: str, form: str) -> Iterator[None]:
    """Turn the errors of a parser into one that says what was to be read, and in which form."""
    try:
        yield
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{what} must be {form} that is not nested so deeply") from None
    except ValueError as error:  # another form, or a whole number with more digits than Python converts
        raise InputError(f"{what} must be {form}: {error}") from None


def check_size(text: Any, what: str) -> None:
    """Refuse a JSON text of too many characters or values, before it is parsed or after it was written."""
    if not isinstance(text, str):
        raise InputError(f"{what} must be JSON, got {type(text).__name__}")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{what} may have {MOST_CHARACTERS:,} characters, got {len(text):,}")
    # Every value but the first of its list or object follows a comma. Commas within strings count too: it is a bound.
    if len(text) > MOST_VALUES and sum(map(text.count, ",[{")) > MOST_VALUES:
        raise InputError(f"{what} may have {MOST_VALUES:,} values, and has more")


def shown(value: Any) -> str:
    """Return a short form of a value for an error message, without unprintable characters."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) > MOST_WHOLE:
        return f"a whole number of more than {MOST_DIGITS} digits"
    # A string is cut before it is written: it may have millions of characters.
    text = repr(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


STEPS_PER_ENTRY = 8
"""Steps of a `StepBudget` that reading one entry of a list or an object counts as."""


class Field:
    """A value and the path to it. Each method reads it as one kind of value, or raises an `InputError`.

    With a budget, reading can be stopped: the method that reads a list or an object then raises `NotDecided`.
    """

    # The path is put together when an error needs it: a file may have millions of fields. `_where` is the path, or the
    # field that this one is part of; then `_key` is its number in a list, its name in an object of any names, or a
    # tuple with its name in an object whose names are known.
    __slots__ = ("_key", "_where", "budget", "value")

    def __init__(
        self, value: Any, where: str | Field, key: int | str | tuple[str] = "", budget: StepBudget | None = None
    ) -> None:
        self.value = value
        self._where = where
        self._key = key
        self.budget = budget

    @property
    def path(self) -> str:
        """Where the value is, such as "counterfactuals[2].changes[0].how"."""
        if isinstance(self._where, str):
            return self._where
        before = self._where.path
        if not isinstance(self._key, tuple):
            return f"{before}[{self._key if isinstance(self._key, int) else shown(self._key)}]"
        # The path of a whole file is a phrase such as "the explanation". Its fields go by their own names.
        return self._key[0] if " " in before and "[" not in before else f"{before}.{self._key[0]}"

    def part(self, value: Any, key: int | str | tuple[str]) -> Field:
        """Return a value that is part of this one, as a field."""
        return Field(value, self, key, self.budget)

    def _spend(self) -> None:
        if self.budget is not None:
            self.budget.spend(STEPS_PER_ENTRY * (1 + len(self.value)))

    def refuse(self, expected: str) -> NoReturn:
        """Raise an error that says what was expected here."""
        raise InputError(f"{self.path} must be {expected}, got {shown(self.value)}")

    def members(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Field]:
        """Read an object with exactly these fields; optional fields may be missing."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        required = tuple(required)
        allowed = dict.fromkeys((*required, *optional))
        for name in self.value:
            if name not in allowed:
                fields = ", ".join(allowed)
                raise InputError(f"{self.path} has {shown(name)}, which is not one of its fields {fields}")
        for name in required:
            if name not in self.value:
                raise InputError(f"{self.path} has no {name!r}")
        self._spend()
        return {name: Field(value, self, (name,), self.budget) for name, value in self.value.items()}

    def entries(self, most: int) -> dict[str, Field]:
        """Read an object with any names."""
        if not isinstance(self.value, dict):
            self.refuse("an object")
        if len(self.value) > most:
            raise InputError(f"{self.path} may have {most:,} entries, got {len(self.value):,}")
        self._spend()
        for name in self.value:
            if not name.isascii() or len(name) > MOST_TEXT:
                Field(name, f"a name in {self.path}").text()
        return {name: Field(value, self, name, self.budget) for name, value in self.value.items()}

    def items(self, most: int) -> Iterator[Field]:
        """Read a list; the fields of its entries are made one by one, because there may be a million."""
        # Checked here, not in the generator: an error must come when the list is read, not when it is first used.
        if not isinstance(self.value, list):
            self.refuse("a list")
        if len(self.value) > most:
            raise InputError(f"{self.path} may have {most:,} entries, got {len(self.value):,}")
        return self._entries()

    def _entries(self) -> Iterator[Field]:
        for i, value in enumerate(self.value):
            if self.budget is not None:
                self.budget.spend(STEPS_PER_ENTRY)
            yield Field(value, self, i, self.budget)

    def all_different(self, read: Callable[[Field], T], most: int) -> tuple[T, ...]:
        """Read a list without repeated entries."""
        seen: dict[T, None] = {}
        for item in self.items(most):
            value = read(item)
            if value in seen:
                item.refuse("different from the entries before it")
            seen[value] = None
        return tuple(seen)

    def text(self) -> str:
        """Read a string that can be encoded."""
        value = self.value
        if not isinstance(value, str):
            self.refuse("a string")
        if len(value) > MOST_TEXT:
            raise InputError(f"{self.path} may have {MOST_TEXT:,} characters, got {len(value):,}")
        # Nearly all names are ASCII, for which this is a look at a flag. Only others need to be encoded to find out.
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                self.refuse("valid text without half of a surrogate pair")
        return value

    def name(self) -> str:
        """Read a non-empty string."""
        text = self.text()
        if not text:
            self.refuse("a name")
        return text

    def flag(self) -> bool:
        """Read true or false."""
        # Strict: 0 and 1 are numbers, and a file that has them here was not written by flipset.
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def whole(self, least: int) -> int:
        """Read a whole number of at least `least`."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_WHOLE:
            self.refuse(f"a whole number of at least {least}")
        return value

    def number(self) -> int | float:
        """Read a finite number."""
        value = self.value
        # A bool is an int in Python, but not a number in JSON.
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse("a number")
        if abs(value) > MOST_WHOLE if isinstance(value, int) else not isfinite(value):
            self.refuse("a finite number")
        return value

    def amount(self) -> int | float:
        """Read a finite number of at least 0."""
        value = self.number()
        if value < 0:
            self.refuse("a number of at least 0")
        return value

    def weight(self) -> int | float:
        """Read a weight."""
        value = self.number()
        if not is_weight(value):
            self.refuse(f"a positive number, {WEIGHTS}")
        return value

    def one_of(self, *words: str) -> str:
        """Read one of these words."""
        if not isinstance(self.value, str) or self.value not in words:
            self.refuse(f"one of {', '.join(map(repr, words))}")
        return self.value
