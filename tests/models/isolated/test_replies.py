"""Replies are checked part by part: what a hostile process says is refused, or harmless."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset.errors import FlipsetError, InputError, OracleError, Untrusted
from flipset.models.isolated.frames import Broken
from flipset.models.isolated.replies import (
    LONGEST,
    Facts,
    read_array,
    read_facts,
    read_labels,
    read_refusal,
    read_shown,
    read_warnings,
    text_of,
)
from flipset.models.monotone.shown import Declared, Shown, Suspect

DECLARED = Declared(("a", "b"), {"a": 1, "b": -1})
SHOWN: dict[str, Any] = {
    "proved": ["a"],
    "why_not": {"b": "tree 1 of 2 is out of order"},
    "suspects": [["b", {"a": 1, "b": None}, {"a": 1.5}, 1]],
    "notes": ["as computed"],
    "out_of_order": ["b"],
}
GOOD: dict[str, Any] = {
    "names": ["a", "b"],
    "directions": {"a": 1, "b": -1},
    "threshold": 0.5,
    "has_own_threshold": True,
    "decides": False,
    "gives_probabilities": True,
    "numbered": None,
    "signs": [1, 0],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_facts_of_a_model() -> None:
    assert read_facts(GOOD) == Facts(("a", "b"), {"a": 1, "b": -1}, 0.5, True, False, True, None, (1, 0))
    assert read_facts({**GOOD, "names": None, "threshold": None}).names is None


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("names", "ab"),
        ("names", ["a", 1]),
        ("names", ["a", "a"]),
        ("directions", None),
        ("directions", {"a": 2}),
        ("directions", {"a": True}),
        ("directions", {"a": 1.0}),
        ("threshold", "0.5"),
        ("threshold", float("nan")),
        ("threshold", 10**400),
        ("has_own_threshold", 1),
        ("decides", None),
        ("gives_probabilities", None),
        ("numbered", ["0", "0"]),
        ("signs", None),
        ("signs", [2]),
    ],
)
def test_facts_that_are_none_are_refused(part: str, value: Any) -> None:
    with pytest.raises(Broken, match="a reply"):
        read_facts({**GOOD, part: value})


def test_what_is_shown() -> None:
    suspect = Suspect("b", {"a": 1, "b": None}, {"a": 1.5}, 1)
    expected = Shown(frozenset("a"), {"b": "tree 1 of 2 is out of order"}, (suspect,), ("as computed",), frozenset("b"))
    assert read_shown(SHOWN, DECLARED) == expected


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("proved", ["a", "b"]),
        ("proved", []),
        ("proved", [1]),
        ("why_not", {"b": 1}),
        ("why_not", {"c": "out of order"}),
        ("suspects", [["b", {}, {}]]),
        ("suspects", [["c", {}, {}, 1]]),
        ("suspects", [["b", {"c": 1}, {}, 1]]),
        ("suspects", [["b", {"a": "x"}, {}, 1]]),
        ("suspects", [["b", {}, {}, -1]]),
        ("notes", "as computed"),
        ("out_of_order", None),
    ],
)
def test_what_cannot_be_shown_is_refused(part: str, value: Any) -> None:
    with pytest.raises(Broken, match="a reply"):
        read_shown({**SHOWN, part: value}, DECLARED)


@given(
    st.dictionaries(st.sampled_from([*GOOD, *SHOWN, "labels", "dtype", "error", "message", "types", "warnings"]), JSON)
)
def test_whatever_is_said_is_read_or_broken(about: dict[str, Any]) -> None:
    for read in (
        read_facts,
        read_labels,
        read_warnings,
        lambda about: read_shown(about, DECLARED),
        lambda about: read_array(about, b"12345678", 1),
        lambda about: read_refusal(about, ()),
    ):
        try:
            read(about)
        except Broken:
            continue


def test_labels() -> None:
    assert read_labels({"labels": None}) is None
    assert read_labels({"labels": [["good", "good"], ["1", 1]]}) == {"good": "good", "1": 1}
    for wrong in ("good", [["good"]], [[1, 1]], [["a", [1]]]):
        with pytest.raises(Broken):
            read_labels({"labels": wrong})


@pytest.mark.parametrize("kind", ["bool", "int64", "float16", "float32", "float64"])
def test_scores_are_the_same_bytes_in_the_same_type(kind: str) -> None:
    scores = np.array([0, 1, 1], dtype=kind)
    read = read_array({"dtype": kind}, scores.tobytes(), 3)
    assert read.dtype == scores.dtype
    assert read.tobytes() == scores.tobytes()


@pytest.mark.parametrize("kind", ["object", "O", "U4", "datetime64[s]", "float128", "V8", None, 3, "f8,f8"])
def test_types_that_are_no_scores_are_refused(kind: Any) -> None:
    with pytest.raises(Broken):
        read_array({"dtype": kind}, bytes(8), 1)


@pytest.mark.parametrize("length", [0, 7, 9, 16])
def test_scores_must_be_one_for_each_row(length: int) -> None:
    with pytest.raises(Broken, match="one score for each of 1 rows"):
        read_array({"dtype": "float64"}, bytes(length), 1)


@pytest.mark.parametrize(("kind", "expected"), [("InputError", InputError), ("OracleError", OracleError)])
def test_errors_are_of_known_kinds(kind: str, expected: type[FlipsetError]) -> None:
    error = read_refusal({"error": kind, "message": "\x1b]0;owned\x07no"}, [1, 2])
    assert type(error) is expected
    assert str(error) == "?]0;owned?no"
    assert read_refusal({}, ()) is None
    untrusted = read_refusal({"error": "Untrusted", "message": "it holds types.", "types": ["a.B"]}, ())
    assert isinstance(untrusted, Untrusted)
    assert untrusted.types == ("a.B",)
    for wrong in ({"error": "SystemExit", "message": ""}, {"error": "InputError"}, {"error": ["InputError"]}):
        with pytest.raises(Broken):
            read_refusal(wrong, ())


@given(st.text())
def test_text_cannot_steer_a_terminal(text: str) -> None:
    shown = text_of(text)
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert len(shown) <= LONGEST
