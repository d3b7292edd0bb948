"""Values and changes, written exactly."""

from math import inf, nextafter

import pytest

from flipset.values.change import Change, Counterfactual, show, show_threshold


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "missing"),
        (3.0, "3"),
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (7, "7"),
        ("a", "a"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_a_value_is_shown_as_a_person_writes_it_and_exactly(value: object, text: str) -> None:
    assert show(value) == text
    if isinstance(value, float):
        assert float(show(value)) == value  # advice that is rounded may not be enough


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(0.5, "0.5"), (nextafter(0.5, inf), "more than 0.5"), (nextafter(0.5, -inf), "0.49999999999999994"), (20, "20")],
)
def test_the_next_number_above_a_threshold_is_more_than_it(threshold: float, text: str) -> None:
    assert show_threshold(threshold) == text


def test_a_change_names_the_column_both_values_and_which_way_it_may_go_further() -> None:
    for how in ("at least", "at most"):
        text = str(Change("income", 40.0, 60.5, how))
        assert text.startswith("income: 40")
        assert text.endswith(f"{how} 60.5")
    assert "at " not in str(Change("kind", "a", "b", "becomes"))


def test_a_counterfactual_reads_as_its_changes() -> None:
    changes = Change("a", 1, 2, "at least"), Change("b", 5, 3, "at most")
    one = Counterfactual(("a", "b"), changes, 0.5, 0.5, 0.7, {"a": 2, "b": 3})
    assert str(one).split("; ") == [str(change) for change in changes]
