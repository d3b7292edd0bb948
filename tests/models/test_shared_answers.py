"""Decisions that follow from others: only true ones, fewer rows for the model, and the same results to the last bit."""

import pickle
from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, FlipsetError, InputError, Space
from flipset.explain.request import Request
from flipset.models.shared_answers import LeastRows, SharedAnswers, moving_columns

NAMES = ("up", "down", "level", "held", "kind")
SPACE = Space(
    [
        Feature("up", "integer", direction=+1, lower=0, upper=6, special=(-7,)),
        Feature("down", "integer", direction=-1, lower=0, upper=6),
        Feature("level", "ordinal", direction=+1, options=("low", "mid", "high")),
        Feature("held", direction=+1, fixed=True),
        Feature("kind"),
    ]
)


class Counted:
    """A model that counts the rows that it is asked about."""

    def __init__(self, model: Callable[[Any], Any]) -> None:
        self.model, self.rows = model, 0

    def __call__(self, rows: Any) -> Any:
        self.rows += len(rows)
        return self.model(rows)


def shared(space: Space = SPACE) -> SharedAnswers:
    return SharedAnswers(space, moving_columns(space, ()))


def ask(answers: SharedAnswers, rows: list[list[Any]], approved: Any) -> list[float]:
    """Ask about rows of objects; `approved` answers those that do not follow."""
    table = np.array(rows, dtype=object)
    found = answers.ask(lambda new: np.array([float(approved(row)) for row in new.tolist()]), table)
    return [float(answer) for answer in found]


def never(row: Any) -> bool:
    raise AssertionError(f"{row} follows")


# --- what follows -----------------------------------------------------------------------------------------------------

KNOWN = [3, 3, "mid", 1.0, "a"]


@pytest.mark.parametrize(
    "better", [[3, 3, "mid", 1.0, "a"], [4, 3, "mid", 1.0, "a"], [3, 0, "high", 1.0, "a"], [9.5, -1, "high", 1.0, "a"]]
)
def test_a_row_that_is_as_good_as_an_approved_one_is_approved(better: list[Any]) -> None:
    answers = shared()
    ask(answers, [KNOWN], lambda row: True)
    assert ask(answers, [better], never) == [1.0]
    assert (answers.asked, answers.followed) == (1, 1)


@pytest.mark.parametrize("worse", [[3, 3, "mid", 1.0, "a"], [2, 3, "mid", 1.0, "a"], [0, 6, "low", 1.0, "a"]])
def test_a_row_that_is_as_bad_as_a_declined_one_is_declined(worse: list[Any]) -> None:
    answers = shared()
    ask(answers, [KNOWN], lambda row: False)
    assert ask(answers, [worse], never) == [0.0]


@pytest.mark.parametrize(
    "other",
    [
        [4, 4, "mid", 1.0, "a"],  # better in one column, worse in another
        [-7, 3, "mid", 1.0, "a"],  # a special code has no place in the order
        [None, 3, "mid", 1.0, "a"],
        [nan, 3, "mid", 1.0, "a"],
        [3, 3, "other", 1.0, "a"],  # a level that is not listed
        [4, 3, "mid", 2.0, "a"],  # explanations do not rely on the direction of a column that is held fixed
        [4, 3, "mid", 1.0, "b"],
        [4, 3, "mid", 1, "a"],  # another type
    ],
)
@pytest.mark.parametrize("answer", [True, False])
def test_nothing_follows_for_rows_that_cannot_be_compared(other: list[Any], answer: bool) -> None:
    answers = shared()
    ask(answers, [KNOWN], lambda row: answer)
    assert ask(answers, [other], lambda row: not answer) == [float(not answer)]
    assert (answers.asked, answers.followed) == (2, 0)


def test_codes_are_compared_where_they_are_equal() -> None:
    answers = shared()
    ask(answers, [[-7, 3, "mid", 1.0, "a"]], lambda row: True)
    assert ask(answers, [[-7, 2, "mid", 1.0, "a"]], never) == [1.0]


def test_whole_numbers_that_a_float_rounds_are_not_compared() -> None:
    answers, large = shared(), 1 << 53
    ask(answers, [[large + 1, 3, "mid", 1.0, "a"]], lambda row: True)
    assert ask(answers, [[large, 3, "mid", 1.0, "a"]], lambda row: False) == [0.0]


def test_a_contradicted_direction_is_no_order() -> None:
    assert moving_columns(SPACE, ()) == ["up", "down", "level"]
    assert moving_columns(SPACE, ("down",)) == ["up", "level"]


def test_computed_columns_must_be_equal() -> None:
    some = [Feature(name, direction=+1, lower=1, upper=9) for name in ("income", "debt")]
    space = Space([*some, Feature("ratio", direction=+1, fixed=True)], derived={"ratio": "income / debt"})
    assert moving_columns(space, ()) == ["income", "debt"]


def test_frames_are_compared_like_arrays() -> None:
    answers = shared()
    frame = pd.DataFrame([KNOWN, [4, 3, "mid", 1.0, "a"]], columns=NAMES)
    assert answers.ask(lambda rows: np.ones(len(rows)), frame.iloc[:1]).tolist() == [1.0]
    assert answers.ask(lambda rows: np.zeros(0), frame.iloc[1:]).tolist() == [1.0]


def test_scores_are_refused() -> None:
    with pytest.raises(
        FlipsetError, match=r"answers with its decision alone, 0 or 1; the model returned 0.83: wrap it"
    ):
        shared().ask(lambda rows: np.array([0.83]), np.array([KNOWN], dtype=object))


def test_another_process_begins_with_nothing() -> None:
    answers = shared()
    ask(answers, [KNOWN], lambda row: True)
    copied = pickle.loads(pickle.dumps(answers))
    assert ask(copied, [KNOWN], lambda row: False) == [0.0]


# --- the memory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [0, 1, 3, 7])
def test_least_rows_are_those_that_brute_force_finds(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, (60, width)).astype(float)
    least = LeastRows(width)
    for part in np.split(points, [1, 20, 21]):
        least.add(part)
    expected = {tuple(p) for p in points.tolist() if not any((q <= p).all() and (q < p).any() for q in points)}
    assert set(map(tuple, least.rows.tolist())) == expected
    assert len(least.rows) == len(expected)
    others = rng.integers(0, 5, (60, width)).astype(float)
    assert least.are_below(others).tolist() == [any((q <= p).all() for q in points) for p in others]


def test_a_full_memory_takes_only_as_many_as_replace_others() -> None:
    least = LeastRows(2, most=2)
    least.add(np.array([[0.0, 9.0], [9.0, 0.0]]))
    least.add(np.array([[5.0, 5.0], [8.0, 0.0]]))
    assert least.rows.tolist() == [[0.0, 9.0], [8.0, 0.0]]
    least.add(np.array([[5.0, 5.0]]))
    assert least.rows.tolist() == [[0.0, 9.0], [8.0, 0.0]]


# --- whole tables -----------------------------------------------------------------------------------------------------

WEIGHTS = {"low": 0.0, "mid": 2.0, "high": 3.0}


def random_labels(seed: int) -> Callable[[Any], Any]:
    """Return a random monotone function of mixed rows that answers with labels."""
    rng = np.random.default_rng(seed)
    a, b, c, bonus = rng.uniform(0.2, 2.0, 4)
    bar = rng.uniform(-4.0, 8.0)

    def model(rows: Any) -> Any:
        table = rows.to_numpy(dtype=object) if hasattr(rows, "to_numpy") else rows
        return np.array(
            [
                a * (2.5 if up == -7 else up)
                - b * down
                + c * WEIGHTS[level]
                + bonus * min(up, 6 - down)
                + (3 if kind == "b" else 0)
                + held
                >= bar
                for up, down, level, held, kind in table.tolist()
            ]
        )

    return model


def random_table(seed: int, rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1_000 + seed)
    return pd.DataFrame(
        {
            "up": rng.choice([-7, 0, 1, 2, 3, 4, 5, 6], rows),
            "down": rng.integers(0, 7, rows),
            "level": rng.choice(list(WEIGHTS), rows),
            "held": rng.choice([0.0, 1.0], rows),
            "kind": rng.choice(["a", "b"], rows),
        }
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("batch", [1, 4, 32])
def test_results_are_the_same_to_the_last_bit_and_in_any_order(seed: int, batch: int) -> None:
    model, table = random_labels(seed), random_table(seed, 25)

    def texts(share: bool, rows: pd.DataFrame) -> tuple[list[str], int]:
        counted = Counted(model)
        explainer = Explainer(counted, SPACE, reference=table, share_answers=share)
        found = explainer.explain_table(rows, batch=batch)
        return [e.to_json() for e in found if isinstance(e, Explanation)], counted.rows

    plain, asked = texts(False, table)
    followed, fewer = texts(True, table)
    assert followed == plain
    assert len(plain) == len(table)
    assert fewer < asked
    order = np.random.default_rng(seed).permutation(len(table))
    shuffled, _ = texts(True, table.iloc[order].reset_index(drop=True))
    assert shuffled == [plain[i] for i in order]


LINE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 10, (60, 3))


def approved(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1) >= 18


@pytest.mark.parametrize("how", [{}, {"in_flight": 3, "batch": 4}, {"max_seconds": 60}])
def test_every_way_to_explain_a_table_shares_answers(how: dict[str, Any]) -> None:
    explainer = Explainer(approved, LINE, share_answers=True)
    found = explainer.explain_table(ROWS, **how)
    plain = Explainer(approved, LINE).explain_table(ROWS, **how)
    assert [e.to_json() for e in found] == [e.to_json() for e in plain]
    assert found.queries == plain.queries
    assert explainer.shared_answers is not None
    assert explainer.shared_answers.followed > 0


def test_a_job_for_another_process_shares_answers_there() -> None:
    explainer = Explainer(approved, LINE, share_answers=True)
    job = explainer._job(LINE, Request(batch=4), [], shares=True)
    copied = pickle.loads(pickle.dumps(job))
    assert copied.call(ROWS).tolist() == approved(ROWS).tolist()
    memory = copied.call.func.__self__
    assert (memory.asked, memory.followed) == (60, 0)
    assert copied.call(ROWS).tolist() == approved(ROWS).tolist()
    assert memory.followed == 60


def test_a_second_table_follows_from_the_first() -> None:
    counted = Counted(approved)
    explainer = Explainer(counted, LINE, share_answers=True)
    explainer.explain_table(ROWS)
    before = counted.rows
    explainer.explain_table(ROWS)
    assert counted.rows == before


def test_checks_and_audits_ask_the_model() -> None:
    counted = Counted(approved)
    explainer = Explainer(counted, LINE, share_answers=True)
    (e,) = explainer.explain_table(ROWS[:1])
    before = counted.rows
    assert isinstance(e, Explanation)
    assert explainer.verify(e)
    assert counted.rows > before
    before = counted.rows
    explainer.audit(ROWS[:5], budget=20)
    assert counted.rows > before


@pytest.mark.parametrize("how", [{}, {"in_flight": 2}, {"batch": 1}, {"max_seconds": 60}])
def test_a_model_that_answers_with_scores_is_asked_once(how: dict[str, Any]) -> None:
    counted = Counted(lambda rows: rows.sum(axis=1) / 27)
    explainer = Explainer(counted, LINE, share_answers=True)
    with pytest.raises(FlipsetError, match="answers with its decision alone, 0 or 1"):
        explainer.explain_table(ROWS, **how)
    assert counted.rows <= 2 * len(ROWS)


def test_what_needs_scores_is_refused() -> None:
    with pytest.raises(InputError, match="the threshold 18 does not lie between them"):
        Explainer(lambda rows: rows.sum(axis=1), LINE, threshold=18, share_answers=True)
    with pytest.raises(InputError, match="leave thresholds out"):
        Explainer(approved, LINE, share_answers=True).explain_table(ROWS, thresholds=[0.3, 0.5])
