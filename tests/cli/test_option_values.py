"""The values of options: lists, pairs, bounds, amounts and codes."""

import pytest

from flipset import InputError
from flipset.cli.option_values import amount, bound, codes, items, pairs


def test_lists_are_split_at_commas_but_a_known_name_is_whole() -> None:
    assert items(["a, b", "c", ","]) == ["a", "b", "c"]
    assert items(["last, first", "a"], ["last, first"]) == ["last, first", "a"]


def test_pairs_are_split_at_the_last_equals_sign() -> None:
    assert pairs("bounds", ["a=1:2,b=c=3"]) == {"a": "1:2", "b=c": "3"}
    for text in ("a", "=3"):
        with pytest.raises(InputError, match=f"--bounds {text}: expected COLUMN=VALUE"):
            pairs("bounds", [text])


def test_a_bound_is_a_number_or_a_column() -> None:
    assert [bound(text) for text in ("20", "0.5", "", "-3", "cap")] == [20, 0.5, None, -3, "cap"]


def test_an_amount_is_a_number_or_a_share() -> None:
    assert [amount("max-rise", text) for text in ("5000", "0.5", "20%")] == [5000, 0.5, "20%"]
    with pytest.raises(InputError, match="--max-rise: expected an amount such as 5000"):
        amount("max-rise", "")
    with pytest.raises(InputError, match="--max-rise: 'much' is not a number"):
        amount("max-rise", "much")


def test_codes_belong_to_one_column_or_to_all() -> None:
    assert codes("special", ["*=-7,-8,-9", "late=99", "why=NA, -1"]) == {
        "*": [-7, -8, -9],
        "late": [99],
        "why": ["NA", -1],
    }
    assert codes("special", ["late="]) == {"late": []}
    with pytest.raises(InputError, match=r"--special -7,-8: expected COLUMN=CODE,CODE"):
        codes("special", ["-7,-8"])
