"""Messages that end with a text and a caret."""

import pytest

from flipset import InputError
from flipset.cli.carets import caret_lines, split_caret
from flipset.cli.exits import one_line
from flipset.space.constraints.constraint import read_constraint


def message_about(text: str) -> str:
    with pytest.raises(InputError) as raised:
        read_constraint(text)
    return str(raised.value)


def test_the_text_and_the_caret_stand_below_the_message() -> None:
    message = message_about("late_90 <= <= late_60")
    text, caret = caret_lines(message, 80)
    assert text == "    late_90 <= <= late_60"
    assert caret.index("^") == text.index("<= late_60")
    line = one_line(InputError(message))
    assert "\n" not in line
    assert line.endswith("(at position 12: '<= late_60')")


def test_a_long_text_is_cut_around_the_place() -> None:
    names = [f"column_{i}" for i in range(40)]
    message = message_about(" + ".join([*names[:20], ") ", *names[20:]]) + " <= 3")
    for width in (40, 80, 120):
        text, caret = caret_lines(message, width)
        assert max(len(text), len(caret)) <= width
        assert text[caret.index("^")] == ")"


@pytest.mark.parametrize("message", ["no column 'a'", "", "^", "two\n^", "two\nlines\n    ^", "    a\n    ^x"])
def test_other_messages_stay_on_one_line(message: str) -> None:
    assert split_caret(message) is None
    assert caret_lines(message, 80) == []


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert caret_lines("wrong\n    a\x1b[31m\n    ^", 80)[0] == "    a\\u001b[31m"
