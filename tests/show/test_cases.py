"""The first cases of a table as text."""

from typing import Any

from flipset import InputError
from flipset.show.cases import CASES_SHOWN, tell_cases
from tests.results.examples import EXPLAINER, SPACE


def test_each_case_has_its_name_its_answer_and_its_cheapest_option() -> None:
    first, second = EXPLAINER.explain([4, 5, 50]), EXPLAINER.explain([9, 1, 50])
    results: list[Any] = [first, second, InputError("row 2: bad cell")]
    text = "\n".join(tell_cases(results, [{"client": "00123"}, {"client": None}, {"client": 1234567}], width=120))
    assert text.startswith("All rows:\n  client 00123: declined")
    assert str(first.counterfactuals[0].changes[0]) in text
    assert "  row 1: approved (score 1). 1 change would lose the approval; there are 2 such changes." in text
    assert "  client 1234567: row 2: bad cell" in text


def test_a_large_table_is_a_few_lines() -> None:
    many = [EXPLAINER.explain([4, 5, 50])] * 10_000
    found = list(tell_cases(many))
    assert found[0] == f"The first {CASES_SHOWN} of 10,000 rows:"
    assert len(found) < 30
    assert not list(tell_cases([]))


def test_rows_that_were_not_asked_about_are_passed_over() -> None:
    table = EXPLAINER.explain_table([[9, 1, 50], [4, 5, 50]], only="declined")
    found = list(tell_cases(table.results))
    assert found[0] == "All rows that were asked about:"
    assert found[1].startswith("  row 1: declined")
    assert not any("row 0" in line for line in found)


def test_many_changes_and_long_errors_are_cut() -> None:
    assert len(SPACE.features) == 3
    long = "\n".join(tell_cases([InputError("x" * 100_000)]))
    assert len(long) < 1_000
