"""Text for a terminal: no character that it would obey, and data remain data."""

import json
import tomllib
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from flipset.boundary.printable import printable, shortened, wrapped

MARKS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
characters = st.characters(codec=None, categories=["C", "L", "N", "P", "S", "Z"])


def is_obeyed(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(letter) in MARKS


@given(st.text(characters))
def test_what_a_terminal_would_obey_is_escaped_and_nothing_else(text: str) -> None:
    shown = printable(text)
    assert not any(map(is_obeyed, shown))
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    for letter in text:
        assert printable(letter) == letter or is_obeyed(letter) or letter in "\u061c\u200e\u200f"


@given(st.text(st.characters(codec="utf-8")))
def test_printed_data_remain_data(text: str) -> None:
    for ascii_only in (True, False):
        assert json.loads(printable(json.dumps(text, ensure_ascii=ascii_only))) == text
    assert tomllib.loads(f"x = {printable(json.dumps(text, ensure_ascii=False))}")["x"] == text


def test_a_line_break_in_a_name_begins_no_line() -> None:
    assert wrapped("a\nPROVED", 40, "  ", "    ") == ["  a\\u000aPROVED"]


def test_long_texts_are_cut() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc ... (1 more character)"
