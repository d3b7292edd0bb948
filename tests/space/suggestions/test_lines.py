"""The lines are comments, and without the comment signs they are TOML with the constraints as they are."""

import tomllib

import pytest

from flipset.space.suggestions import Suggestion, suggestion_lines

TEXTS = ["late_90 <= late_60", 'kind == "a b" implies has == 0', 'kind == "it\'s" implies has == 0', '`a"b\\c` <= d']


def test_uncommented_lines_are_toml() -> None:
    lines = suggestion_lines([Suggestion(text, "order", 10) for text in TEXTS])
    assert all(line.startswith("#") for line in lines)
    text = "\n".join(line[2:] for line in lines[1:])
    assert tomllib.loads(text) == {"constraints": TEXTS}


@pytest.mark.parametrize(
    ("support", "broken", "rows", "said"),
    [
        (1, 0, (), "holds in 1 row"),
        (10_459, 0, (), "holds in 10,459 rows"),
        (11, 1, (3,), "holds in 10 rows; 1 breaks it: 3"),
        (10_461, 2, (3, 4_000), "holds in 10,459 rows; 2 break it: 3, 4,000"),
        (20, 7, (1, 2, 3, 4, 5), "holds in 13 rows; 7 break it: 1, 2, 3, 4, 5, ..."),
    ],
)
def test_support_is_said(support: int, broken: int, rows: tuple[int, ...], said: str) -> None:
    lines = suggestion_lines([Suggestion("a <= b", "order", support, broken, rows)])
    assert lines[2] == f'#   "a <= b",  # {said}'


def test_notes_are_comments_below_the_list() -> None:
    note = Suggestion("a\nb holds whole numbers", "whole", 12)
    assert suggestion_lines([Suggestion("a <= b", "order", 9), note])[-2:] == [
        "# Also seen in the table:",
        "#   a\\u000ab holds whole numbers; in 12 rows",
    ]
    assert suggestion_lines([note])[0] == "# No rules between columns were found in the table."
    assert suggestion_lines([]) == ["# No rules between columns were found in the table."]
