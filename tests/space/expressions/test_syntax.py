"""Reading an expression: what it means, what is refused, and that no text takes long."""

import ast
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipset import InputError
from flipset.space.expressions.syntax import (
    MOST_CHARACTERS,
    MOST_DEPTH,
    Arithmetic,
    Column,
    Comparison,
    Junction,
    Literal,
    Membership,
    Negation,
    Negative,
    parse,
)

A, B, C = Column("a"), Column("b"), Column("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a or b and not c", Junction("or", (A, Junction("and", (B, Negation(C)))))),
        ("a | b & c", Junction("or", (A, Junction("and", (B, C))))),
        ("a > 1 & b > 2", Junction("and", (Comparison((">",), (A, Literal(1))), Comparison((">",), (B, Literal(2)))))),
        ("not a == b", Negation(Comparison(("==",), (A, B)))),
        ("a < b <= c", Comparison(("<", "<="), (A, B, C))),
        ("a - b - c", Arithmetic(("-", "-"), (A, B, C))),
        ("a - b * -c", Arithmetic(("-",), (A, Arithmetic(("*",), (B, Negative(C)))))),
        ("(a - b) / c", Arithmetic(("/",), (Arithmetic(("-",), (A, B)), C))),
        ("a not in [1, 'x',]", Membership(A, (Literal(1), Literal("x")), False)),
        ("a in ()", Membership(A, (), True)),
        ("a in (-1)", Membership(A, (Literal(-1),), True)),
        ("- -1.5", Literal(1.5)),
        ("+a", A),
        ("1_000", Literal(1000)),
        ("007", Literal(7)),
        (".5e1", Literal(5.0)),
        ("`true` == True", Comparison(("==",), (Column("true"), Literal(True)))),
        ("a == None", Comparison(("==",), (A, Literal(None)))),
        (r"'a\\\'\n'", Literal("a\\'\n")),
        ("  a\n", A),
        ("`class`", Column("class")),
        ("`a.b@c`", Column("a.b@c")),
    ],
)
def test_what_a_text_means(text: str, tree: object) -> None:
    assert parse(text).tree == tree


def test_columns_are_listed_once_and_in_order() -> None:
    assert parse("b > a and b < 3 or `c d` == a").columns == ("b", "a", "c d")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@os.system('true')", r"@ \(Python variables\): not allowed \(at position 1"),
        ("a == @b", r"@ \(Python variables\): not allowed \(at position 6"),
        ("__import__('os').system('true')", "calls: not allowed"),
        ("a.values == 1", r"attributes \(a dot after a value\): not allowed"),
        ("a[0] == 1", "subscripts: not allowed"),
        ("'x'[0] == 'x'", "subscripts: not allowed"),
        ("(a)(b)", "calls: not allowed"),
        ("(a := 3) > 1", r":= \(assignments\): not allowed"),
        ("lambda: 1", r"lambda \(functions\): not allowed"),
        ("f'{a}' == 'x'", r"letters before a text, such as f'\.\.\.': not allowed"),
        ("rb'x' == a", "letters before a text"),
        ("9 ** 9 ** 9", r"\*\* \(powers\): not allowed"),
        ("a // 2 == 1", r"// \(division without remainder\): not allowed"),
        ("a % 2 == 1", "remainders"),
        ("{a}", "sets and dictionaries: not allowed"),
        ("a if b else c", "if: not allowed"),
        ("[a for a in b]", "a list is allowed only after in"),
        ("a == [1]", "a list is allowed only after in"),
        ("yield", "yield: not allowed"),
        ("import os", "import: not allowed"),
        ("class == 1", "a column of that name is written `class`"),
        ("a; b", "several statements: not allowed"),
        ("a = 1", "write == to compare"),
        ("a <> 1", "write !="),
        ("~a", "write not"),
        ("!a", "write not"),
        ("a && b", "expected"),
        ("a is None", "write == null for missing values"),
        ("a b", r"expected an operator or the end \(at position 3: 'b'\)"),
        ("a >", r"expected a column, a number or a text \(at the end\)"),
        ("(a", r"expected an operator or \) \(at the end\)"),
        ("a)", "expected an operator or the end"),
        ("a in 'xyz'", "expected a list after in"),
        ("a not 3", "expected 'in' after 'not'"),
        ("1 < a in [1]", "'in' cannot be chained"),
        ("a in [1] == b", "expected an operator or the end"),
        ("1e999", "the number is too large"),
        ("9" * 5000, "the number is too large"),
        ("12abc", "'12abc' is not a number"),
        ("1__0", "'1__0' is not a number"),
        ("0x10", "'0x10' is not a number"),
        (r"'\x41'", r"\\x has no meaning in a text"),
        ("", "expected a column"),
        ("   ", "expected a column"),
        ("ａ == １", "expected a column|has no meaning"),
    ],
)
def test_c5_what_is_refused_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "(" * 9_000,
        "not " * 2_000 + "a",
        "-" * 9_000 + "1",
        "a" + " + a" * 2_000,
        "a in [" + "1," * 4_000 + "]",
        "a == 1 and " * 800 + "a == 1",
        "'" + "\\" * 9_001,
        "a<" * 4_000 + "a",
        "`" * 9_999,
        "1" + "e" * 9_000,
        "1" + "_" * 9_000,
    ],
    ids=lambda text: f"{text[:8]} {len(text)}",
)
def test_c5_hostile_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(text)
    assert len(str(refused.value)) < 12_000


def test_what_is_within_the_limits_is_read() -> None:
    parse("(" * MOST_DEPTH + "a" + ")" * MOST_DEPTH)
    parse("a == 1" + " and a == 1" * 249)
    parse("`" + "x" * (MOST_CHARACTERS - 2) + "`")
    with pytest.raises(InputError, match="nested too deeply"):
        parse("(" * (MOST_DEPTH + 1) + "a" + ")" * (MOST_DEPTH + 1))


@given(st.text())
def test_c5_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        parse(text)


WORDS = [
    *(
        "a",
        "b",
        "1",
        "'x'",
        "true",
        "null",
        "`a`",
        "f'x'",
        "(",
        ")",
        "[",
        "]",
        ",",
        "and",
        "or",
        "not",
        "in",
        "==",
        "<",
    ),
    *("+", "-", "*", "/", "&", "|", ".", "**", "@", ":=", "lambda", "if", "else", ":", "~", "%", "//", "="),
]


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_c5_what_is_read_is_an_expression_of_python_without_calls_and_attributes(words: list[str]) -> None:
    text = " ".join(words)
    try:
        parse(text)
    except InputError:
        return
    tree = ast.parse(text.replace("`", "").replace("null", "None").replace("true", "True").strip(), mode="eval")
    banned = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr, ast.Lambda, ast.IfExp, ast.JoinedStr, ast.Pow)
    assert not any(isinstance(node, banned) for node in ast.walk(tree))
