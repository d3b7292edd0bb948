"""What commands print, and how wide."""

import pytest

from flipset import Explainer, Feature, Space
from flipset.cli.printing import print_lines, print_summary, width


@pytest.mark.parametrize(("columns", "expected"), [("10", 40), ("80", 80), ("200", 120)])
def test_lines_are_neither_too_narrow_nor_too_wide(
    monkeypatch: pytest.MonkeyPatch, columns: str, expected: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == expected


def test_lines_are_printed_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(iter(["one", "two"]))
    assert capsys.readouterr().out == "one\ntwo\n"


def test_a_summary_ends_with_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    space = Space([Feature("income", direction=+1, lower=0, upper=9)])
    found = Explainer(lambda rows: rows[:, 0], space, threshold=5).explain_table([[1], [2], [7]])
    print_summary(found.summary(), {}, ["Written."])
    alone = capsys.readouterr().out
    assert alone.endswith("\n\nWritten.\n")
    print_summary(found.summary(), found.summary_by(["a", "b", "b"]), ["Written."])
    grouped = capsys.readouterr().out
    assert grouped.startswith(alone.removesuffix("\nWritten.\n"))
    assert len(grouped) > len(alone)
