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
    replaying,
    tell,
    tell_claim,
)
from flipset.show.words import joined
from tests.ordered import draw_ordered
from tests.results.examples import data_of, explained
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
