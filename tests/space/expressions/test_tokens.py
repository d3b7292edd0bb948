"""Words of the language, and where they are."""

import pytest

from flipset import InputError
from flipset.space.expressions.tokens import INSTEAD, REFUSED, tokens_of


def test_a_text_is_cut_into_words() -> None:
    text = "0.5<=größe and `home owner` not in ['a\\'b', \"c\"]|x!=-1e-3"
    assert [(one.kind, one.text) for one in tokens_of(text)] == [
        ("number", "0.5"), ("operator", "<="), ("name", "größe"), ("word", "and"), ("quoted", "`home owner`"),
        ("word", "not"), ("word", "in"), ("operator", "["), ("text", "'a\\'b'"), ("operator", ","), ("text", '"c"'),
        ("operator", "]"), ("operator", "|"), ("name", "x"), ("operator", "!="), ("operator", "-"), ("number", "1e-3"),
        ("end", ""),
    ]  # fmt: skip
    assert all(text[one.start : one.start + len(one.text)] == one.text for one in tokens_of(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ＝ 1", r"the character '\\uff1d' \(U\+FF1D\) has no meaning here \(at position 3: '＝ 1'\)"),
        ("a ≤ 1", "write <="),
        ("a == “x”", 'write "'),
        ("a\u200b == 1", r"U\+200B"),
        ("a\x00", r"U\+0000"),
        ("a\u2028== 1", r"U\+2028"),
        ("a\ud800", r"'\\ud800'"),
        ("a == 'x", "the ' is not closed on its line"),
        ('a == "x\ny"', 'the " is not closed on its line'),
        ("`a", "the ` is not closed"),
    ],
)
def test_what_is_no_word_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(tokens_of(text))


def test_whatever_is_refused_has_a_name() -> None:
    assert {"@", "**", ".", ":=", "lambda", "{"} <= REFUSED.keys()
    assert INSTEAD["="] == "write == to compare"
