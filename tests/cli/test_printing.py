"""What commands print, and how wide."""

import io
import os
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Space
from flipset.boundary.printable import printable
from flipset.cli.exits import one_line
from flipset.cli.printing import print_lines, print_summary, warnings_as_lines, width
from flipset.show.group_tables import tell_groups
from flipset.show.summaries import tell_summary
from flipset.show.text import tell_claim


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
    print_summary(found.summary(), None, ["Written."])
    alone = capsys.readouterr().out
    assert alone.endswith("\n\nWritten.\n")
    print_summary(found.summary(), found.summary_by(["a", "b", "b"]), ["Written."])
    grouped = capsys.readouterr().out
    assert grouped.startswith(alone.removesuffix("\nWritten.\n"))
    assert len(grouped) > len(alone)


def test_what_a_terminal_would_obey_is_shown_as_an_escape(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["name\x1b[2K\nPROVED", "half \ud800"])
    assert capsys.readouterr().out == "name\\u001b[2K\\u000aPROVED\nhalf \\ud800\n"


def test_what_standard_output_cannot_write_is_shown_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    print_lines(["40 → 60"])
    assert written.getvalue().decode() == f"40 \\u2192 60{os.linesep}"


NAME = "a\n\nPROVED, given that all is well.\x1b[8m\u202e"
ROWS = pd.DataFrame({NAME: [1, 5], "b": [1, 5]})


def score(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1)


def hostile() -> Explainer:
    return Explainer(score, Space.from_frame(ROWS, increasing=list(ROWS.columns)), threshold=6)


def is_harmless(text: str) -> bool:
    return all(letter == "\n" or printable(letter) == letter for letter in text) and "\nPROVED" not in text


def test_names_and_cells_in_texts_forge_no_lines() -> None:
    explainer = hostile()
    e, table = explainer.explain(ROWS.iloc[[0]]), explainer.explain_table(ROWS)
    groups = table.summary_by(["x\n  PROVED\x9b2K", "y"])
    texts = [str(e), str(table), *tell_claim(e), *tell_groups(groups), *tell_summary(table.summary())]
    assert "PROVED" in str(e)
    assert all(map(is_harmless, [*texts, str(e.verify(score)), str(explainer.audit(ROWS))]))


def test_an_error_is_one_line_of_limited_length() -> None:
    line = one_line(InputError(f"no column {NAME}\n" + "z" * 5_000_000))
    assert is_harmless(line)
    assert len(line) < 2_100


def test_long_cells_and_many_options_are_cut_in_errors() -> None:
    explainer = hostile()
    with pytest.raises(InputError) as long:
        explainer.explain({NAME: "z" * 5_000_000, "b": 1})
    many = Space([Feature("kind", "categorical", options=tuple(f"option {i}" for i in range(5000)))])
    with pytest.raises(InputError) as other:
        Explainer(lambda rows: rows[:, 0] == "option 1", many).explain(["another"])
    assert max(len(str(long.value)), len(str(other.value))) < 500


@pytest.mark.filterwarnings("always")
def test_c6_a_warning_is_one_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    before = warnings.showwarning
    with warnings_as_lines() as lines:
        for _ in range(2):
            warnings.warn_explicit("the model\n did not return\x1b", RuntimeWarning, "model.py", 17)
        assert list(lines) == ["flipset: the model did not return\\u001b"]
    assert capsys.readouterr().err == "flipset: the model did not return\\u001b\n"
    assert warnings.showwarning is before
