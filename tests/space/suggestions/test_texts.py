"""Names and values are written as the language of rules reads them."""

import pytest

from flipset.space.expressions import parse
from flipset.space.expressions.syntax import Column, Comparison, Literal
from flipset.space.suggestions.texts import written, written_value


@pytest.mark.parametrize(
    "name",
    ["late", "late_60", "60-89 days", "in", "and", "true", "null", "if", "implies", "moves", "then", "before", "Größe",
     "a.b", "a b", " a", "lambda", "x+y", 'a "b"', "f'"],
)  # fmt: skip
def test_a_name_is_read_as_the_same_column(name: str) -> None:
    tree = parse(f"{written(name)} == 1").tree
    assert isinstance(tree, Comparison)
    assert tree.parts[0] == Column(name)


@pytest.mark.parametrize("name", ["", "`", "a\nb", "a\x1bb"])
def test_a_name_that_no_rule_can_have(name: str) -> None:
    assert written(name) == ""


@pytest.mark.parametrize("word", ["implies", "if", "then", "moves", "before"])
def test_words_of_rules_are_in_backticks(word: str) -> None:
    assert written(word) == f"`{word}`"


@pytest.mark.parametrize("value", [0.0, 3.0, -9.0, 0.5, -0.25, 1e20, 1e-9, "yes", 'a "b"', "a\\b", "it's", ""])
def test_a_value_is_read_as_the_same_value(value: float | str) -> None:
    tree = parse(f"x == {written_value(value)}").tree
    assert isinstance(tree, Comparison)
    assert tree.parts[1] == Literal(value)
