"""JSON that strangers wrote: bounded, and errors that name the field."""

import json
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from flipset import InputError, NotDecided
from flipset.boundary import reading
from flipset.boundary.limits import MOST_TEXT
from flipset.boundary.reading import STEPS_PER_ENTRY, Field, is_weight, parse, parse_toml, read_file, shown
from flipset.boundary.step_budget import StepBudget


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


def test_c2_a_file_is_read_no_further_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("ü".encode())
    assert read_file(path, 2) == "ü"
    with pytest.raises(InputError, match="may have 1 bytes, and has more"):
        read_file(path, 1)
    with pytest.raises(InputError, match="/dev/zero may have 1,000 bytes, and has more"):
        read_file(Path("/dev/zero"), 1_000)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for path in (Path("/no/such/file"), Path("a\0b"), tmp_path, tmp_path / "bytes"):
        with pytest.raises(InputError, match=f"{path.name[:1]}.* cannot be read"):
            read_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "must be TOML, got NoneType"),
        ("a", "must be TOML: "),
        ("a = " + "[" * 100_000, "not nested so deeply"),
        ("a = " + "9" * 5_000, "must be TOML: "),
        ("a" + ".b" * 65 + " = 1", "may have 64 dots"),
        ("a = 1\na = 2", "must be TOML: "),
    ],
)
def test_what_is_no_toml_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"a thing .*{message}"):
        parse_toml(text, "a thing")


def test_toml_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a = [" + "0.5, " * 1_000 + "]\n"
    assert parse_toml(text, "a thing") == {"a": [0.5] * 1_000}
    monkeypatch.setattr(reading, "MOST_TOML_CHARACTERS", 100)
    with pytest.raises(InputError, match="may have 100 characters"):
        parse_toml(text, "a thing")


def test_c2_values_are_counted_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", 5)
    assert parse("[1, 2, 3, 4]", "a thing") == [1, 2, 3, 4]
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(InputError, match="a thing may have 5 values, and has more"):
        parse("[1, [], {}, 4, 5]", "a thing")


def test_infinite_numbers_are_read_where_they_may_be() -> None:
    assert parse("[Infinity, -Infinity]", "a thing", infinite=True) == [inf, -inf]
    with pytest.raises(InputError, match="has no NaN"):
        parse("NaN", "a thing", infinite=True)


def test_reading_spends_the_steps_of_a_budget() -> None:
    field = Field([[1], {"a": 2}], "x", budget=StepBudget(2 * STEPS_PER_ENTRY))
    first, second = field.items(9)
    with pytest.raises(NotDecided):
        list(first.items(9))
    with pytest.raises(NotDecided):
        second.entries(9)


@pytest.mark.parametrize(
    ("number", "fits"), [(1, True), (1e-100, True), (1e101, False), (0, False), (nan, False), (Decimal("sNaN"), False)]
)
def test_weights_have_a_range(number: Any, fits: bool) -> None:
    assert is_weight(number) is fits
