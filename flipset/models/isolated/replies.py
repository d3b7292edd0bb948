"""What replies of a model's process say, checked part by part; anything else than expected is `Broken`.

The process may be in the hands of whoever made the model file. So a name is text, a direction is +1 or -1, a threshold
is a number, and an error is one of three kinds with a text that is shortened and cannot steer a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from flipset.errors import FlipsetError, InputError, OracleError, Untrusted
from flipset.models.isolated.frames import Broken
from flipset.models.monotone.shown import Shown, Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from flipset.models.monotone.shown import Declared

SCORES = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"}
)
"""The types in which scores may cross."""

WIDEST = 8
"""The bytes of the widest of them."""

LONGEST = 2_000
"""The most characters of an error or a warning that are shown."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a `Scorer` knows about its model."""

    names: tuple[str, ...] | None
    directions: dict[str, int]
    threshold: float | None
    has_own_threshold: bool
    decides: bool
    gives_probabilities: bool
    numbered: tuple[str, ...] | None
    signs: tuple[int, ...]


def read_facts(about: dict[str, Any]) -> Facts:
    """Return what the process says about the model."""
    names, directions, threshold = about.get("names"), about.get("directions"), about.get("threshold")
    has_own, decides, shares = (about.get(key) for key in ("has_own_threshold", "decides", "gives_probabilities"))
    numbered, signs = about.get("numbered"), about.get("signs")
    for listed in (names, numbered):
        if listed is not None and (not _is_list_of(str, listed) or len(set(listed)) < len(listed)):
            raise Broken("a reply without names")
    if not isinstance(signs, list) or not all(type(one) is int and abs(one) <= 1 for one in signs):
        raise Broken("a reply without directions")
    if not isinstance(directions, dict) or not all(type(one) is int and abs(one) == 1 for one in directions.values()):
        raise Broken("a reply without directions")
    if threshold is not None and (type(threshold) is not float or isnan(threshold)):
        raise Broken("a reply without a threshold")
    if type(has_own) is not bool or type(decides) is not bool or type(shares) is not bool:
        raise Broken("a reply that does not say how the model decides")
    return Facts(
        None if names is None else tuple(names),
        directions,
        threshold,
        has_own,
        decides,
        shares,
        None if numbered is None else tuple(numbered),
        tuple(signs),
    )


def read_labels(about: dict[str, Any]) -> dict[str, Any] | None:
    """Return the classes of the model by their names; None if it has none."""
    labels = about.get("labels")
    if labels is None:
        return None
    _expect(_is_list_of(list, labels), "classes")
    _expect(all(len(pair) == 2 and type(pair[0]) is str for pair in labels), "classes")
    _expect(all(isinstance(value, (str, int, float)) for _, value in labels), "classes")
    return dict(labels)


def read_array(about: dict[str, Any], data: bytes, rows: int) -> NDArray[Any]:
    """Return one number for each row."""
    kind = about.get("dtype")
    _expect(type(kind) is str and kind in SCORES, "a type of scores")
    # Only names from the list above get here: NumPy would make types of many texts.
    scores = np.dtype(kind)
    _expect(len(data) == rows * scores.itemsize, f"one score for each of {rows:,} rows")
    return np.frombuffer(data, dtype=scores)


def read_refusal(about: dict[str, Any], rows: Any) -> FlipsetError | None:
    """Return the error that a reply is; None if it is none."""
    kind = about.get("error")
    if kind is None:
        return None
    message = text_of(about.get("message"))
    types = about.get("types", [])
    _expect(_is_list_of(str, types), "types")
    made: dict[Any, Callable[[], FlipsetError]] = {
        "InputError": lambda: InputError(message),
        "OracleError": lambda: OracleError(message, rows),
        "Untrusted": lambda: Untrusted(message, [text_of(one) for one in types]),
    }
    _expect(type(kind) is str and kind in made, "a kind of error")
    return made[kind]()


def read_shown(about: dict[str, Any], declared: Declared) -> Shown:
    """Return what the process says that the model's structure shows about declared directions."""
    proved: Any = about.get("proved")
    why_not: Any = about.get("why_not")
    suspects: Any = about.get("suspects")
    notes: Any = about.get("notes")
    wrong: Any = about.get("out_of_order")
    _expect(_is_list_of(str, wrong), "what is out of order")
    _expect(_is_list_of(str, proved) and _is_list_of(str, notes) and _is_list_of(list, suspects), "what is shown")
    _expect(type(why_not) is dict, "what is not shown")
    # Each declared column is either proved or not.
    _expect(sorted([*proved, *why_not]) == sorted(declared.directions), "the columns that were declared")
    return Shown(
        frozenset(proved),
        {name: text_of(reason) for name, reason in why_not.items()},
        tuple(_suspect(one, declared) for one in suspects),
        tuple(map(text_of, notes)),
        frozenset(wrong) & frozenset(why_not),
    )


def _suspect(about: list[Any], declared: Declared) -> Suspect:
    _expect(len(about) == 4, "a pair of rows")
    feature, worse, better, tree = about
    _expect(type(feature) is str and feature in declared.directions, "a column of a pair of rows")
    _expect(type(tree) is int and tree >= 0, "the number of a tree")
    for row in (worse, better):
        _expect(type(row) is dict and set(row) <= set(declared.names), "a row")
        _expect(all(cell is None or type(cell) in (int, float) for cell in row.values()), "cells of a row")
    return Suspect(feature, worse, better, tree)


def read_warnings(about: dict[str, Any]) -> list[str]:
    """Return the warnings of the model's library."""
    noted = about.get("warnings", [])
    _expect(_is_list_of(str, noted), "warnings")
    return [text_of(one) for one in noted]


def text_of(given: Any) -> str:
    """Return a text from outside, shortened, without characters that a terminal might obey."""
    _expect(type(given) is str, "text")
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in given[:LONGEST])


def _is_list_of(kind: type, given: Any) -> bool:
    # By exact type, since a bool is an int, and what comes from JSON has no subclasses.
    return type(given) is list and all(type(one) is kind for one in given)


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(f"a reply without {what}")
