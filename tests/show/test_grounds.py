"""The condition of a proof in words."""

from dataclasses import replace
from typing import Any

import pytest

from flipset import Decision, Explainer, Explanation, Feature, Space
from flipset.show.grounds import given, proved_given
from flipset.show.text import proved


def explained(directions: dict[str, int], row: Any = None, **bases: Any) -> Explanation:
    features = [Feature(name, "integer", direction=sign, lower=0, upper=9) for name, sign in directions.items()]  # type: ignore[arg-type]
    signs = list(directions.values())
    explainer = Explainer(lambda rows: (rows * signs).sum(axis=1), Space(features), threshold=1000)
    e = explainer.explain(row or [5] * len(features))
    return replace(e, basis={**e.basis, **bases}, audited_pairs=12_000 if "audited" in bases.values() else None)


@pytest.mark.parametrize(
    ("bases", "text"),
    [
        ({}, "given that the score rises with income and falls with debt (taken on trust)"),
        ({"income": "proved", "debt": "proved"},
         "given that the score rises with income and falls with debt (proved from the model itself)"),
        ({"income": "proved"},
         "given that the score rises with income (proved from the model itself) and falls with debt (taken on trust)"),
        ({"income": "declared", "debt": "audited"},
         "given that the score rises with income (the model was fitted with this constraint) and falls with debt "
         "(audited: none of 12,000 pairs of rows was in the wrong order)"),
    ],
)  # fmt: skip
def test_few_features_are_named_with_their_directions(bases: dict[str, str], text: str) -> None:
    e = explained({"income": 1, "debt": -1}, **bases)
    assert given(e) == text
    assert proved(e).startswith(f"No allowed change leads to approval. This is proved, {text}")


def test_an_approved_row_is_about_the_same_directions() -> None:
    space = Space([Feature("income", "integer", direction=1, lower=0, upper=9)])
    for row in ([2], [8]):
        e = Explainer(lambda rows: rows[:, 0] >= 5, space).explain(row)
        assert given(e) == "given that the score rises with income (taken on trust)"


def test_of_many_features_only_the_weakest_are_named() -> None:
    names = {f"x{i}": 1 for i in range(9)}
    e = explained(names, **dict.fromkeys([f"x{i}" for i in range(7)], "proved"))
    assert given(e) == (
        "given that the score follows the directions of 9 features (7 proved from the model itself; 2 taken on trust: "
        "x7 and x8)"
    )
    assert given(explained(names)) == ("given that the score follows the directions of 9 features (9 taken on trust)")


def test_labels_replace_names() -> None:
    space = Space(
        [Feature("income", "integer", direction=1, lower=0, upper=9, label="yearly income")],
        decision=Decision(score_label="chance of approval"),
    )
    e = Explainer(lambda rows: rows[:, 0] >= 7, space).explain([3])
    assert given(e) == "given that the chance of approval rises with yearly income (taken on trust)"


def test_without_directions_there_is_no_condition() -> None:
    space = Space([Feature("colour", "categorical", options=("red", "blue"))])
    e = Explainer(lambda rows: rows[:, 0] == "blue", space).explain(["red"])
    assert given(e) == ""
    assert proved_given(e) == "Proved"
    assert e.basis == {"colour": "proved"}


def test_levels_that_are_no_numbers_have_an_order() -> None:
    space = Space([Feature("grade", "ordinal", direction=1, options=("low", "middle", "high"))])
    e = Explainer(lambda rows: rows[:, 0] == "high", space).explain(["low"])
    assert given(e) == "given that the score follows the order of grade (taken on trust)"


def test_directions_that_are_known_to_be_false_are_named() -> None:
    e = replace(explained({"income": 1, "debt": -1}, income="proved"), contradicted=("debt",))
    assert given(e) == (
        "given that the score rises with income (proved from the model itself) and falls with debt (NOT SO for every "
        "row: the model contradicts it)"
    )
