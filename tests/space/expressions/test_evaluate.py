"""Expressions over columns: the same as Python says row by row, and no code is ever run."""

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipset import InputError
from flipset.space.expressions import evaluate, meets, parse

FRAME = pd.DataFrame(
    {
        "id": [7, 8, 9],
        "income": [40.0, np.nan, 90.0],
        "region": ["north", "south", None],
        "home owner": [True, False, True],
        "since": pd.to_datetime(["2024-01-01", "2025-01-01", None]),
        "code": [2**53 + 1, 2**53 + 2, 5],
        "mixed": [1, "n/a", None],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("id == 8", [1]),
        ("id > 7 and income > 50", [2]),
        ("id == 7 or id == 9", [0, 2]),
        ("(id == 7) | (id == 9)", [0, 2]),
        ("7 < id <= 9", [1, 2]),
        ("income != 40", [2]),
        ("not income > 50", [0, 1]),
        ("income == null", [1]),
        ("income != null and region != null", [0]),
        ("region in ['north', 'south']", [0, 1]),
        ("region not in ['north']", [1]),
        ("id not in []", [0, 1, 2]),
        ("id in [income / 5 - 1, 9]", [0, 2]),
        ("`home owner`", [0, 2]),
        ("not `home owner`", [1]),
        ("`home owner` == 1", [0, 2]),
        ("(id > 7) == `home owner`", [2]),
        ("since >= '2024-06-01'", [1]),
        ("'2024-06-01' > since", [0]),
        ("code == 9007199254740993", [0]),
        ("code > 9007199254740993", [1]),
        ("mixed >= 1", [0]),
        ("mixed == 'n/a'", [1]),
        ("region > 'north'", [1]),
        ("region == 'north' and id / (id - 7) > 0", []),
        ("-id < -8", [2]),
        ("1 == 1", [0, 1, 2]),
        ("null == null", [0, 1, 2]),
        ("false", []),
    ],
)
def test_rows_that_meet_a_condition(text: str, rows: list[int]) -> None:
    assert meets(parse(text), FRAME, 3).nonzero()[0].tolist() == rows
    polars = pl.DataFrame(
        {
            name: FRAME[name].astype(object).where(FRAME[name].notna(), None).tolist()
            for name in FRAME
            if name != "mixed"
        }
    )
    if "mixed" not in text:
        assert meets(parse(text), polars, 3).nonzero()[0].tolist() == rows


def test_numbers_are_computed_and_missing_where_there_are_none() -> None:
    np.testing.assert_array_equal(evaluate(parse("-income * 2 + id"), FRAME, 3), [-73, np.nan, -171])
    np.testing.assert_array_equal(evaluate(parse("1 / (id - 8)"), FRAME, 3), [-1, np.nan, 1])
    np.testing.assert_array_equal(evaluate(parse("2"), FRAME, 3), [2, 2, 2])
    np.testing.assert_array_equal(evaluate(parse("a / b"), {"a": [1, 2], "b": [4, None]}, 2), [0.25, np.nan])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("incme > 3", r"there is no column 'incme'; did you mean 'income'\?"),
        ("ID == 3", r"there is no column 'ID'; did you mean 'id'\?"),
        ("zzz == 3", "there is no column 'zzz'; there are 'id', 'income'"),
        ("id", "the column 'id' is not a condition: compare it"),
        ("id + 1", "a computed number is not a condition"),
        ("'x'", "the text 'x' is not a condition"),
        ("id and income", "the column 'id' is not a condition"),
        ("not income", "the column 'income' is not a condition"),
        ("id == 'x'", "the column 'id' holds numbers and cannot be compared with the text 'x'"),
        ("3 < region", "the column 'region' holds texts and cannot be compared with the number 3"),
        (
            "id == region",
            "the column 'id' holds numbers and cannot be compared with the column 'region', which holds texts",
        ),
        ("id in [7, 'x']", "the column 'id' holds numbers and cannot be compared with the text 'x'"),
        ("since > 3", "the column 'since' holds dates and cannot be compared with the number 3"),
        ("since > 'soon'", "the text 'soon' is not a date"),
        ("region + 'x' == 'y'", "the column 'region' is not a number, which arithmetic needs"),
        ("id < null", "null can be compared with == and != only, not with <"),
        ("id + null == 3", "null has no value"),
        ("id in [null]", "null has no value"),
    ],
)
def test_what_makes_no_sense_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        meets(parse(text), FRAME, 3)


def test_c5_look_alikes_and_builtins_are_only_columns_that_do_not_exist() -> None:
    for text in ("__import__ == 1", "__builtins__ == 1", "os == 1", "іd == 7", "exec == 1"):  # і is Cyrillic
        with pytest.raises(InputError, match="there is no column"):
            meets(parse(text), FRAME, 3)


def test_c5_nothing_is_run(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    for text in (
        f"@os.system('touch {proof}')",
        f"@__builtins__.open('{proof}', 'w')",
        f"__import__('os').system('touch {proof}')",
        f"id.__class__.__init__.__globals__['open']('{proof}', 'w')",
        f"id == open('{proof}', 'w')",
    ):
        with pytest.raises(InputError):
            meets(parse(text), FRAME, 3)
    assert not proof.exists()


# --- against Python, row by row ---------------------------------------------------------------------------------------

COLUMNS = {"a": "number", "b": "number", "s": "text", "t": "text", "f": "truth"}
NUMBERS = st.one_of(st.just(0), st.integers(-5, 5), st.sampled_from([0.5, -1.5, 2.25]))
TEXTS = st.sampled_from(["", "x", "xy", "z'\"\\", "é\n"])
ROW = st.fixed_dictionaries(
    {
        "a": st.none() | NUMBERS,
        "b": st.none() | st.integers(2**53 - 2, 2**53 + 2) | NUMBERS,
        "s": st.none() | TEXTS,
        "t": st.none() | TEXTS,
        "f": st.none() | st.booleans(),
    }
)
COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
Rule = Any  # a function of a row; None stands for no value


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


@st.composite
def numbers(draw: st.DrawFn, depth: int = 2) -> tuple[str, Rule]:
    kind = draw(st.sampled_from(["literal", "column", "negative", "binary"] if depth else ["literal", "column"]))
    if kind == "literal":
        value = draw(NUMBERS)
        return f"({value})" if value < 0 else str(value), lambda row: value
    if kind == "column":
        name = draw(st.sampled_from(["a", "`b`", "f"]))
        return name, lambda row: None if (cell := row[name.strip("`")]) is None else cell + 0
    text, rule = draw(numbers(depth - 1))
    if kind == "negative":
        return f"-({text})", lambda row: None if (x := rule(row)) is None else -float(x)
    other_text, other = draw(numbers(depth - 1))
    sign = draw(st.sampled_from("+-*/"))
    compute = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign]

    def binary(row: Any) -> Any:
        x, y = rule(row), other(row)
        if x is None or y is None or (sign == "/" and y == 0):
            return None
        return compute(float(x), float(y))

    return f"({text} {sign} {other_text})", binary


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, Rule]:
    if draw(st.booleans()):
        name = draw(st.sampled_from("st"))
        return name, lambda row: row[name]
    value = draw(TEXTS)
    return quoted(value), lambda row: value


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> tuple[str, Rule]:
    kind = draw(st.sampled_from(["chain", "in", "null", "flag", "and", "or", "not"] if depth else ["chain", "flag"]))
    if kind == "flag":
        return "f", lambda row: row["f"] is True
    if kind == "null":
        name, sign = draw(st.sampled_from(sorted(COLUMNS))), draw(st.sampled_from(["==", "!="]))
        return f"{name} {sign} null", lambda row: (row[name] is None) == (sign == "==")
    if kind in ("and", "or"):
        parts = draw(st.lists(conditions(depth - 1), min_size=2, max_size=3))
        join = all if kind == "and" else any
        word = draw(st.sampled_from([kind, {"and": "&", "or": "|"}[kind]]))
        return f" {word} ".join(f"({text})" for text, _ in parts), lambda row: join(rule(row) for _, rule in parts)
    if kind == "not":
        text, rule = draw(conditions(depth - 1))
        return f"not ({text})", lambda row: not rule(row)
    values = draw(st.sampled_from([numbers(), texts()]))
    if kind == "in":
        text, rule = draw(values)
        items, wanted = draw(st.lists(values, max_size=3)), draw(st.booleans())

        def member(row: Any) -> bool:
            x = rule(row)
            found = any(x is not None and (y := item(row)) is not None and x == y for _, item in items)
            return found if wanted else x is not None and not found

        return f"{text} {'in' if wanted else 'not in'} [{', '.join(item for item, _ in items)}]", member
    parts = draw(st.lists(values, min_size=2, max_size=3))
    signs = [draw(st.sampled_from(sorted(COMPARE))) for _ in parts[1:]]
    written = parts[0][0] + "".join(f" {sign} {text}" for sign, (text, _) in zip(signs, parts[1:], strict=True))

    def chain(row: Any) -> bool:
        cells = [rule(row) for _, rule in parts]
        pairs = zip(signs, cells, cells[1:], strict=False)
        return all(x is not None and y is not None and COMPARE[sign](x, y) for sign, x, y in pairs)

    return written, chain


@settings(max_examples=300)
@given(conditions(), st.lists(ROW, min_size=1, max_size=6))
def test_conditions_are_what_python_says_row_by_row(condition: tuple[str, Rule], rows: list[dict[str, Any]]) -> None:
    text, rule = condition
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    expected = [bool(rule(row)) for row in rows]
    assert meets(parse(text), columns, len(rows)).tolist() == expected, text
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    assert meets(parse(text), frame, len(rows)).tolist() == expected, text


@settings(max_examples=300)
@given(numbers(depth=3), st.lists(ROW, min_size=1, max_size=6))
def test_formulas_are_what_python_says_row_by_row(formula: tuple[str, Rule], rows: list[dict[str, Any]]) -> None:
    text, rule = formula
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    expected = [np.nan if (value := rule(row)) is None else float(value) for row in rows]
    np.testing.assert_array_equal(evaluate(parse(text), columns, len(rows)), expected)
