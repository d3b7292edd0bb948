"""No two answers that contradict the directions pass unseen, whatever they were asked for."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipset import (
    BudgetExhausted,
    Explainer,
    Explanation,
    Feature,
    FlipsetError,
    Journal,
    NotMonotone,
    Space,
    protocol,
)
from flipset.answers.contradictions import MOST, contradictions
from flipset.answers.monotonicity import MonotonicityCheck
from flipset.answers.row_scores import RowScores
from flipset.protocol import advance, compute, interrupt, is_checkpoint
from flipset.space.moves import find_moves
from tests.answers.planted import Recording, draw_ordered, is_no_further, play
from tests.endpoints import serving


def test_a2a_what_the_table_search_asked_is_compared_after_the_hand_over() -> None:
    space = Space([Feature(name, "binary", direction=+1) for name in "abcdef"])
    raised = 0
    for wrong in np.ndindex(*[2] * 6):
        if sum(wrong) not in range(1, 6):
            continue
        asked: dict[tuple[float, ...], bool] = {}

        def spoiled(rows: Any, wrong: tuple[int, ...] = wrong, asked: dict[Any, bool] = asked) -> Any:
            flips = (rows.sum(axis=1) >= 4) ^ (rows == wrong).all(axis=1)  # four changes, so it is handed over
            asked.update(zip(map(tuple, rows.tolist()), flips.tolist(), strict=True))
            return flips

        try:
            Explainer(spoiled, space).explain([0] * 6)
        except NotMonotone:
            contradicts = True
            raised += 1
        else:
            contradicts = False
        assert contradicts == any(
            asked[one] and not asked[other] and all(a <= b for a, b in zip(one, other, strict=True))
            for one in asked
            for other in asked
        ), wrong
    assert raised > 2


def test_a2b_the_cheapest_of_all_is_compared_with_everything_asked() -> None:
    seen: Counter[str] = Counter()
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=4) for name in "ab"])
    for wrong in np.ndindex(5, 5):
        model = Recording(_Sum(space))  # type: ignore[arg-type]
        if wrong == (0, 0):
            continue
        model.wrong = {wrong: 0.0 if sum(wrong) >= 6 else 1.0}
        for strict in (True, False):
            model.asked.clear()
            try:
                e = Explainer(model.predict, space).explain([0, 0], objective="cost", strict=strict, batch=4)
            except NotMonotone as error:
                assert strict
                assert error.rows is not None
                seen["raised"] += 1
            else:
                assert (e.status == "unproved") == bool(model.pairs((0, 0))) == bool(e.contradictions)
                seen[e.status] += 1
    assert min(seen["raised"], seen["unproved"], seen["optimal"]) > 0, seen


class _Sum:
    def __init__(self, space: Space) -> None:
        self.space = space

    def score(self, row: tuple[Any, ...]) -> float:
        return float(sum(row) >= 6)


def test_a2c_inside_a_block_of_options_ordered_features_are_compared() -> None:
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=3), Feature("c", options=(1, 2, 3))])

    def model(rows: Any) -> Any:  # with c = 3 the score falls where x rises
        return np.where(rows[:, 1] == 3, 2 - rows[:, 0], rows[:, 0] - 1) >= 2

    with pytest.raises(NotMonotone) as caught:
        Explainer(model, space).explain([0, 1])
    assert caught.value.rows == ({"x": 0, "c": 3}, {"x": 3, "c": 3})
    e = Explainer(model, space).explain([0, 1], strict=False)
    assert e.status == "unproved"
    assert ({"x": 0, "c": 3}, {"x": 3, "c": 3}) in e.contradictions


@pytest.mark.parametrize("part", range(6))
def test_planted_answers_never_pass_in_silence(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(100 * part, 100 * part + 100):
        play(seed, seen, journal=seed % 20 == 0)
    assert sum(count for what, count in seen.items() if what.endswith("contradiction")) > 10, seen


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(50))
def test_campaign_of_planted_answers(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(1_000 * (part + 1), 1_000 * (part + 2)):
        play(seed, seen, journal=seed % 50 == 0)
    assert sum(count for what, count in seen.items() if what.endswith("contradiction")) > 120, seen


def test_c2_the_comparison_can_be_stopped_but_no_budget_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "STEPS_APART", 1)  # a checkpoint for every row
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=2) for name in "ab"])
    scores = RowScores(0.5)
    scores.scores.update({(): 0.0, ((0, 1),): 1.0, ((0, 2),): 0.0, ((1, 1),): 1.0, ((1, 2),): 1.0})
    moves = find_moves(space, (0, 0), raise_score=True)
    check = MonotonicityCheck(scores, moves, space, (0, 0), strict=False)
    flow = check.check()
    step = advance(flow)
    pauses = 0
    while is_checkpoint(step):  # the driver raises what a spent budget raises, and the flow goes on
        pauses += 1
        step = interrupt(flow, BudgetExhausted("1 second"))
    assert pauses > 2
    assert [error.rows for error in check.errors] == [({"a": 1, "b": 0}, {"a": 2, "b": 0})]
    stopped = check.check()
    assert is_checkpoint(advance(stopped))
    with pytest.raises(KeyError):  # any other error, such as that of a client that has left, ends it
        interrupt(stopped, KeyError("gone"))


def test_answers_that_a_budget_cut_off_are_compared_too() -> None:
    # One feature flips alone, and everything together does not: the last question that is allowed tells.
    space = Space([Feature(name, "integer", direction=+1, lower=0, upper=4) for name in "ab"])

    def model(rows: Any) -> Any:
        return (rows[:, 0] == 4) & (rows[:, 1] < 4)

    explainer = Explainer(model, space)
    found = []
    for limit in range(2, 8):
        try:
            explainer.explain([0, 0], max_queries=limit)
        except NotMonotone as caught:
            assert caught.rows is not None
            found.append(limit)
    assert found == list(range(min(found), 8))
    assert min(found) < 6


def test_rows_of_a_table_do_not_answer_for_each_other() -> None:
    # The two rows contradict each other, and neither contradicts itself: each has the result it has alone.
    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=2), Feature("y", fixed=True)])

    def model(rows: Any) -> Any:
        return rows[:, 0] >= 1 + rows[:, 1]

    explainer = Explainer(model, space)
    rows = [[0, 0], [0, 1]]
    assert list(explainer.explain_table(rows)) == [explainer.explain(row) for row in rows]


def test_over_an_endpoint_and_from_its_journal(tmp_path: Path) -> None:
    from flipset.models.remote.endpoint import Endpoint

    seen: Counter[bool] = Counter()
    for seed in range(30):
        case = draw_ordered(seed, margins=True)
        rows = [row for row in case.every_row() if row != case.row]
        model = Recording(case)
        if rows:
            wrong = rows[seed % len(rows)]
            model.wrong = {wrong: 1.0 - case.score(wrong)}
        with serving(model.answer) as server, Endpoint(server.infer) as endpoint:
            journal = Journal(tmp_path / f"{seed}.db", model="planted")
            first, again = (
                Explainer(endpoint, case.space, journal=journal).explain_table([case.row]) for _ in range(2)
            )
            journal.close()
        assert max(server.answered.values()) == 1
        assert str(first[0]) == str(again[0])
        contradicts = model.pairs(case.row) or (isinstance(first[0], NotMonotone) and model.falls(case.row))
        assert isinstance(first[0], NotMonotone) == bool(contradicts)
        seen[isinstance(first[0], NotMonotone)] += 1
    assert min(seen.values()) > 3, seen


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
def test_a4_noise_near_the_threshold_is_named(noise: float) -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        rng = np.random.default_rng(seed)
        case = draw_ordered(seed, margins=True)
        border = float(rng.choice([case.score(row) for row in case.every_row()]))

        def model(rows: Any, border: float = border, case: Any = case) -> Any:
            # The same row gets another score at another place in the batch.
            scores = np.array([case.score(tuple(row)) for row in rows]) - border
            return scores - noise * (np.arange(len(rows)) % 3)

        explainer = Explainer(model, case.space, threshold=0.0)
        for request in ({}, {"batch": 1}, {"objective": "cost"}, {"max_queries": 50}):
            found: Any
            try:
                (found,) = explainer.explain_table([case.row], **request)
            except FlipsetError as error:
                found = error
            if isinstance(found, Explanation):
                seen["explained"] += 1
            else:
                assert isinstance(found, NotMonotone)
                assert found.rows is not None
                assert "which may be rounding" in str(found)
                seen["named"] += 1
    assert seen["named"] > 2, seen


def test_a4_no_row_twice_in_a_batch() -> None:
    def model(rows: Any) -> Any:
        assert len({tuple(row) for row in rows.tolist()}) == len(rows)
        return 2 * rows[:, 0] - 1e-7 * (np.arange(len(rows)) % 2)

    space = Space([Feature("x", "integer", direction=+1, lower=0, upper=3)])
    found = Explainer(model, space, threshold=6).explain_table([[0], [1], [3]])
    assert [type(result) for result in found] == [Explanation] * 3


def test_pairs_are_those_that_comparing_all_finds() -> None:
    rng = np.random.default_rng(3)
    features = (
        Feature("up", "integer", direction=+1, lower=0, upper=3, special=(-7,)),
        Feature("down", "integer", direction=-1, lower=0, upper=3),
        Feature("level", "ordinal", direction=+1, options=("low", "middle", "high")),
        Feature("kind", "categorical", options=("a", "b")),
    )
    values: list[list[Any]] = [[0, 1, 2, 3, -7, None], [0, 1, 2, 3], ["low", "middle", "high"], ["a", "b", None]]
    seen = 0
    for _ in range(400):
        rise = bool(rng.integers(2))
        row = [0 if rise else 3, 3 if rise else 0, "low" if rise else "high", "a"]
        rows = {tuple(options[rng.integers(len(options))] for options in values) for _ in range(12)} - {tuple(row)}
        cells = [tuple((i, v) for i, v in enumerate(one) if v != row[i]) for one in rows]
        flips = [bool(rng.integers(2)) for _ in rows]
        turned = {one: cell for one, cell, flip in zip(rows, cells, flips, strict=True) if flip}
        stays = {one: cell for one, cell, flip in zip(rows, cells, flips, strict=True) if not flip}
        found = compute(contradictions(features, row, turned.values(), list(stays.values()), raise_score=rise))
        expected = {turned[a]: {stays[b] for b in stays if is_no_further(features, a, b, rise=rise)} for a in turned}
        assert {a for a, _ in found} == {a for a, some in expected.items() if some}
        assert all(b in expected[a] for a, b in found)
        assert len(found) <= MOST
        seen += len(found)
    assert seen > 100
