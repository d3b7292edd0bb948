"""What commands print, and how wide."""

import pytest

from flipset.cli.printing import print_lines, width


@pytest.mark.parametrize(("columns", "expected"), [("10", 40), ("80", 80), ("200", 120)])
def test_lines_are_neither_too_narrow_nor_too_wide(
    monkeypatch: pytest.MonkeyPatch, columns: str, expected: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == expected


def test_lines_are_printed_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(iter(["one", "two"]))
    assert capsys.readouterr().out == "one\ntwo\n"
