"""An explanation in words: every number and every name that matters is there, in no more columns than wanted."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space
from flipset.show.text import (
    FEATURES_SHOWN,
    OPTIONS_SHOWN,
    REASONS_SHOWN,
    claim,
    cost_text,
    proved,
    reasons_note,
    replaying,
    tell,
    tell_claim,
)
from flipset.show.words import joined
from tests.ordered import draw_ordered
from tests.results.examples import data_of, explained
from tests.ruled import BROKEN, ROW, ruled_explainer, ruled_space, score
from tests.spaces import draw_case


def words(lines: Any) -> str:
    return " ".join(" ".join(lines).split())


def test_everything_that_was_found_is_told() -> None:
    for seed in range(60):
        case = draw_case(seed, margins=seed % 2 == 0)
        e = data_of(Explainer(case.predict, case.space, cost=case.cost).explain(case.row))
        told = words(tell(e))
        for one in sorted(e.counterfactuals, key=lambda one: one.cost)[:OPTIONS_SHOWN]:
            assert cost_text(one.cost, one.cost_at_least) in told
            for change in one.changes:
                assert words([str(change)]) in told, seed
        for reason in e.reasons[:REASONS_SHOWN]:
            assert words([joined(reason)]) in told
        for name in e.held_fixed:
            assert name in told
        assert f"{e.queries:,}" in told


def test_reasons_that_are_not_all_say_how_to_see_the_others() -> None:
    def explained_with(reasons: Any) -> Any:
        columns = [Feature(f"x{i}", "integer", direction=+1, lower=0, upper=1) for i in range(5)]
        explainer = Explainer(lambda rows: rows.sum(axis=1) >= 3, Space(columns))
        return data_of(explainer.explain([0] * 5, reasons=reasons))

    some = explained_with(2)
    assert reasons_note(some) == 'Showing 2 reasons; reasons="all" lists those of the whole proof.'
    assert reasons_note(some) in words(tell(some))
    assert len(explained_with(True).reasons) == 3  # as many as the smallest flip sets have features
    every = explained_with("all")
    assert len(every.reasons) == len(every.proof.zeros) == 10
    assert not reasons_note(every)
    assert not reasons_note(explained_with(False))
    many = replace(every, reasons=every.reasons * 50, proof=replace(every.proof, zeros=every.proof.zeros * 60))
    assert reasons_note(many) == "Showing 500 of 600 reasons of the proof."


@pytest.mark.parametrize("width", [50, 80, 120])
def test_no_line_is_wider_than_wanted(width: int) -> None:
    for seed in range(20):
        case = draw_ordered(seed, rows=1)
        e = data_of(Explainer(case.model, case.space, threshold=case.threshold).explain(case.rows[0]))
        for lines in (tell(e, width), tell_claim(e, width)):
            assert max(len(line) for line in lines) <= max(width, 80)


def test_different_outcomes_are_told_differently() -> None:
    e = data_of(explained())
    variants = [
        e,
        replace(e, status="none", flipsets=(), counterfactuals=(), size=None, lower=None, upper=None),
        replace(e, status="none", flipsets=(), counterfactuals=(), size=None, lower=2, upper=None),
        replace(e, status="stopped", size=None, lower=1),
        replace(e, status="stopped", size=None, flipsets=(), counterfactuals=(), lower=None, upper=None),
        replace(e, status="unproved", size=None, lower=None, contradictions=((e.row, e.row),)),
    ]
    assert len({proved(one) for one in variants}) == len(variants)
    assert len({claim(one) for one in variants}) == len(variants)
    assert len({words(tell(one)) for one in variants}) == len(variants)


def test_only_the_cheapest_of_many_options_are_shown_and_the_rest_counted() -> None:
    space = Space([Feature(f"x{i:02}", "integer", direction=+1, lower=0, upper=9) for i in range(14)])
    e = data_of(Explainer(lambda rows: (rows >= 9).any(axis=1), space).explain([0] * 14))
    assert len(e.counterfactuals) == 14
    told = list(tell(e))
    assert sum(bool(re.match(r" +\d+\. cost", line)) for line in told) == OPTIONS_SHOWN
    assert any("4 more" in line for line in told)


def test_a_cost_that_may_not_be_the_least_is_said_to() -> None:
    e = data_of(explained())
    (one,) = e.counterfactuals
    stopped = replace(e, counterfactuals=(replace(one, cost=2.0, cost_at_least=0.25),))
    assert "0.25" in words(tell(stopped))
    assert "0.25" not in words(tell(e))


def test_a_claim_lists_what_could_move_and_how_far() -> None:
    told = words(tell_claim(data_of(explained())))
    assert "income: 4 → 9" in told
    assert "debt: 5 → 0" in told
    assert "age" in told  # held fixed
    space = Space([Feature(f"x{i}", "binary", direction=+1) for i in range(FEATURES_SHOWN + 5)])
    many = Explainer(lambda rows: np.asarray(rows).any(axis=1), space).explain([0] * (FEATURES_SHOWN + 5))
    assert "5 more" in words(tell_claim(data_of(many)))


def test_numbers_of_queries_agree_with_their_nouns() -> None:
    assert replaying(data_of(explained()).proof).startswith(f"{len(explained().proof.questions)} ")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_rules_are_told(width: int) -> None:
    e = ruled_explainer().explain(BROKEN, more=3, curve=True)
    lines = list(tell(e, width))
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert "income: 40 → at least 75 (then debt-to-income ratio: 0.75 → 0.4)" in text
    assert "(then debt-to-income ratio: 0.75 → 0) (then age: 30 → 35 years)" in text
    constraints = "Only rows that keep the constraints are considered: late_90 <= late_60; satisfactory <= total."
    assert f"Held fixed: total {constraints} The row itself does not keep this constraint, and" in text
    assert "no option makes that worse: late_90 <= late_60." in text
    assert "does not keep" not in " ".join(tell(ruled_explainer().explain(ROW), width))


def test_a_claim_has_the_rules() -> None:
    text = " ".join(" ".join(tell_claim(ruled_explainer().explain(BROKEN))).split())
    assert (
        "Constraints: late_90 <= late_60; satisfactory <= total Constraints that the row itself does not keep" in text
    )
    assert "that no option makes worse: late_90 <= late_60 Computed columns: dti = debt / income; age = age +" in text
    features = [*ruled_space(with_rules=False).features]
    space = Space(features, derived={"dti": lambda row: row["debt"] / row["income"]})
    text = "\n".join(tell_claim(Explainer(score, space).explain(ROW)))
    assert "Computed columns: dti = a function" in text
    assert "Constraints" not in text
