"""JSON that strangers wrote: bounded, and errors that name the field."""

from typing import Any

import pytest

from flipset import InputError, reading
from flipset.limits import MOST_TEXT
from flipset.reading import Field, parse, shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{}", "must be JSON, got bytes"),
        ("{", "must be JSON: "),
        ('{"a": NaN}', "JSON, which has no NaN"),
        ('{"a": 1, "a": 2}', "with the name 'a' twice"),
        ("[" * 100_000, "not nested so deeply"),
        ("1" * 5_000, "must be JSON"),
    ],
)
def test_what_is_no_json_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"a thing .*{message}" if "says" not in message else message):
        parse(text, "a thing")


def test_a_text_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_CHARACTERS", 5)
    assert parse("[1]", "a thing") == [1]
    with pytest.raises(InputError, match="a thing may have 5 characters, got 6"):
        parse("[1, 2]", "a thing")


@pytest.mark.parametrize(
    ("value", "read", "message"),
    [
        (1, lambda f: f.text(), "must be a string, got 1"),
        ("", lambda f: f.name(), "must be a name, got ''"),
        ("\ud800", lambda f: f.text(), "half of a surrogate pair"),
        ("x" * (MOST_TEXT + 1), lambda f: f.text(), "may have 100,000 characters"),
        (1, lambda f: f.flag(), "true or false"),
        (True, lambda f: f.whole(0), "a whole number of at least 0, got True"),
        (2, lambda f: f.whole(3), "at least 3"),
        (10**400, lambda f: f.whole(0), "a whole number of more than 300 digits"),
        ("1", lambda f: f.number(), "a number"),
        (float("inf"), lambda f: f.number(), "a finite number"),
        (-1, lambda f: f.amount(), "at least 0"),
        (0, lambda f: f.weight(), "a positive number"),
        ("c", lambda f: f.one_of("a", "b"), "one of 'a', 'b', got 'c'"),
        ({}, lambda f: f.items(3), "a list, got an object"),
        ([1] * 4, lambda f: f.items(3), "may have 3 entries, got 4"),
        ([], lambda f: f.entries(3), "an object, got a list"),
        ({"a": 1, "b": 2}, lambda f: f.entries(1), "may have 1 entries"),
        ([1, 1], lambda f: f.all_different(Field.number, 5), "different from the entries before it"),
        ({"a": 1}, lambda f: f.members(("a", "b")), "has no 'b'"),
        ({"a": 1, "z": 1}, lambda f: f.members(("a",)), "has 'z', which is not one of its fields a"),
    ],
)
def test_a_value_that_is_not_what_it_must_be_is_named(value: Any, read: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(Field(value, "moves[3]"))
    assert "moves[3]" in str(caught.value)


def test_paths_lead_to_the_value() -> None:
    whole = Field({"moves": [{"name": 3}]}, "the explanation").members(("moves",))
    (item,) = whole["moves"].items(9)
    with pytest.raises(InputError, match=r"^moves\[0\]\.name must be a string, got 3$"):
        item.members(("name",))["name"].text()
    with pytest.raises(InputError, match=r"grids\['a'\] must be"):
        Field({"a": 1}, "grids").entries(9)["a"].text()


def test_what_is_right_is_returned() -> None:
    assert Field("größe", "x").name() == "größe"
    assert Field([1, 2.5], "x").all_different(Field.amount, 5) == (1, 2.5)
    assert set(Field({"a": 1}, "x").members(("a",), ("b",))) == {"a"}


def test_values_are_shown_briefly() -> None:
    assert shown("x" * 500).endswith("...")
    assert len(shown("x" * 500)) <= 80
    assert (shown([1]), shown({})) == ("a list", "an object")
