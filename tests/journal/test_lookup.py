"""Answers are found by rows, in any number, and by values where types are not known."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flipset.journal.file import SCHEMA
from flipset.journal.lookup import AT_A_TIME, look_up, look_up_by_value

PLACE = Path("answers.db")


@pytest.fixture
def file() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA.values():
            connection.execute(statement)
        yield connection


def test_any_number_of_rows_is_looked_up(file: sqlite3.Connection) -> None:
    n = 2 * AT_A_TIME + 1
    lines = [(f"row {i}", f"values {i}", i / 2, 0) for i in range(n)]
    file.executemany("INSERT INTO typed_answers VALUES (?, ?, ?, ?)", lines)
    rows = [f"row {i}" for i in range(n)]
    assert look_up(file, PLACE, [*rows, "another", *rows]) == {f"row {i}": i / 2 for i in range(n)}
    assert look_up(file, PLACE, []) == {}


def test_tables_are_kept_apart(file: sqlite3.Connection) -> None:
    file.execute("INSERT INTO answers VALUES ('a', 1.0, 0)")
    assert look_up(file, PLACE, ["a"]) == {}
    assert look_up(file, PLACE, ["a"], "answers") == {"a": 1.0}


def test_rows_of_the_same_values_have_their_different_answers(file: sqlite3.Connection) -> None:
    lines = [("1", "one", 0.5, 0), ("1.0", "one", 0.5, 0), ("true", "one", 0.7, 0), ("2", "two", 0.1, 0)]
    file.executemany("INSERT INTO typed_answers VALUES (?, ?, ?, ?)", lines)
    found = look_up_by_value(file, PLACE, ["one", "two", "three", "one"])
    assert {text: sorted(scores) for text, scores in found.items()} == {"one": [0.5, 0.7], "two": [0.1], "three": []}
