"""A text is read as the kind of constraint that it is."""

import pytest

from flipset import InputError
from flipset.space.constraints.conditions import Implication, Together
from flipset.space.constraints.constraint import read_constraint
from flipset.space.constraints.inequalities import Inequality


@pytest.mark.parametrize(
    ("text", "kinds", "columns"),
    [
        ("a <= b", [Inequality], ("a", "b")),
        ("a <= b <= c", [Inequality, Inequality], ("a", "b", "c")),
        ("a == b", [Inequality, Inequality], ("a", "b")),
        ("a == 0 implies b == 0", [Implication], ("a", "b")),
        ("if a moves then b moves", [Together], ("a", "b")),
        ("`implies` <= b", [Inequality], ("implies", "b")),
        ("`if` <= b", [Inequality], ("if", "b")),
    ],
)
def test_kinds(text: str, kinds: list[type], columns: tuple[str, ...]) -> None:
    read = read_constraint(text)
    assert [type(rule) for rule in read.rules] == kinds
    assert read.columns == columns
    assert read.text == text


@pytest.mark.parametrize("given", ["", "  ", None, 3, ["a <= b"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="a constraint compares sums of columns"):
        read_constraint(given)  # type: ignore[arg-type]
