"""Rows on file are asked with the rules of the file, whatever the space computes today."""

from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space
from flipset.boundary.step_budget import StepBudget
from flipset.explain.rows_on_file import RowsOnFile
from flipset.results.verifying.proof_queries import Asked
from tests.ruled import ROW, ruled_explainer, ruled_space, score, table
from tests.same import answer_of


def on_file(**limits: Any) -> Explanation:
    return Explanation.from_json(ruled_explainer().explain(ROW, **limits).to_json())


def explained(explainer: Explainer, **limits: Any) -> list[Explanation]:
    """Return the explanations of the table, as they are read from a file."""
    results = explainer.explain_table(table(), **limits)
    return [Explanation.from_json(e.to_json()) for e in results if isinstance(e, Explanation)]


def asked_cells(e: Explanation, space: Space | None, cells: Any) -> Any:
    """Return the cells that are asked about for some cells."""
    flow = RowsOnFile(e, space, Asked(len(e.row), StepBudget())).scores([cells])
    (found,) = next(flow)
    return found


INCOME, DTI, AGE = (list(ROW).index(name) for name in ("income", "dti", "age"))


def test_the_same_formulas_are_left_to_the_model() -> None:
    assert asked_cells(on_file(), ruled_space(), ((INCOME, 60.0),)) == ((INCOME, 60.0),)


def test_without_formulas_today_those_of_the_file_are_used() -> None:
    for space in (None, ruled_space(with_rules=False)):
        assert asked_cells(on_file(), space, ((INCOME, 60.0),)) == ((INCOME, 60.0), (DTI, 0.5))


def test_formulas_of_today_that_the_file_does_not_have_change_nothing() -> None:
    e = Explanation.from_json(Explainer(score, ruled_space(with_rules=False)).explain(ROW).to_json())
    assert asked_cells(e, ruled_space(), ((INCOME, 60.0),)) == ((INCOME, 60.0), (DTI, 0.75), (AGE, 30))
    assert asked_cells(e, ruled_space(), ()) == ()


def test_the_constraints_are_those_of_the_file() -> None:
    e = on_file()
    assert e.moves.rules is None
    rules = RowsOnFile(e, None, Asked(len(e.row), StepBudget())).moves.rules
    assert rules is not None
    assert [one.text for one in rules.told] == ["late_90 <= late_60", "satisfactory <= total"]


def test_a_function_must_be_that_of_the_space() -> None:
    features = [*ruled_space(with_rules=False).features]
    space = Space(features, derived={"dti": lambda row: row["debt"] / row["income"]})
    e = Explanation.from_json(Explainer(score, space, threshold=0.5).explain(ROW).to_json())
    assert asked_cells(e, space, ((INCOME, 60.0),)) == ((INCOME, 60.0),)
    with pytest.raises(InputError, match="'dti' is computed by a function, which is not in the explanation on file"):
        asked_cells(e, None, ((INCOME, 60.0),))


def test_a_recheck_of_a_file_with_rules_asks_the_rows_of_the_file() -> None:
    e = on_file(more=4)
    held = Explainer(score, Space([Feature(name, fixed=True) for name in ROW], reference=table()), threshold=0.5)
    for explainer in (ruled_explainer(), Explainer(score, ruled_space(with_rules=False)), held):
        (one,) = explainer.recheck([e], has_space=explainer is not held)
        assert one.error is None
        assert one.holds
        assert one.proof_holds
        assert [found.score for found in one.counterfactuals] == [promised.score for promised in e.promised]


@pytest.mark.parametrize("more", [None, 4])
def test_a_repair_finds_what_a_fresh_search_finds(more: int | None) -> None:
    """Rules that were added, taken away, or that stay with another threshold."""
    free, ruled = Explainer(score, ruled_space(with_rules=False)), ruled_explainer()
    strict = Explainer(score, ruled_space(), threshold=0.55)
    for before, now in ((free, ruled), (ruled, free), (ruled, strict), (free, strict)):
        files = explained(before, more=3)
        fresh = explained(now, more=more)
        repaired = now.recheck(files, repair=True, more=more)
        assert any(one.repaired is not None for one in repaired)
        for one, e in zip(repaired, fresh, strict=True):
            assert one.error is None
            if one.repaired is not None:
                assert isinstance(one.repaired, Explanation)
                assert answer_of(one.repaired) == answer_of(e)
                assert now.verify(one.repaired)
