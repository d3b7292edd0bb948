"""One-hot groups, whole numbers and columns that are missing together are noted, and nothing else."""

from typing import Any

import numpy as np

from flipset.space.suggestions.notes import find_one_hot, suggest_missing, suggest_one_hot, suggest_whole
from tests.space.suggestions.tables import table_of

R = np.random.default_rng(0)
N = 1_000
WHICH = R.integers(0, 4, N)
HOT: dict[str, Any] = {f"job_{i}": np.equal(WHICH, i).astype(int) for i in range(4)}


def notes(cells: dict[str, Any], most_broken: float = 0.001) -> list[str]:
    table = table_of(cells, most_broken=most_broken)
    return [one.text for one in suggest_one_hot(table, find_one_hot(table))]


def test_exactly_one() -> None:
    said = 'exactly one of these columns is 1: groups={"job": ["job_0", "job_1", "job_2", "job_3"]}'
    assert notes({**HOT, "flag": R.integers(0, 2, N), "job_score": R.normal(size=N)}) == [said]


def test_at_most_one() -> None:
    most = {name: column for name, column in HOT.items() if name != "job_2"}
    assert notes(most) == ['at most one of these columns is 1: groups={"job": ["job_0", "job_1", "job_3"]}']
    # Of two columns, an implication says as much.
    assert notes({name: HOT[name] for name in ("job_0", "job_1")}) == []


def test_names_that_have_nothing_in_common() -> None:
    hot: dict[str, Any] = {
        name: column == 1 for name, column in zip(("north", "x", "south", "y"), HOT.values(), strict=True)
    }
    first = {"north": hot.pop("north"), "flag": R.integers(0, 2, N)}
    [said] = notes({**first, **hot})
    assert said == 'exactly one of these columns is 1: groups={"group 1": ["north", "x", "south", "y"]}'


def test_two_groups_with_the_same_beginning() -> None:
    other = R.integers(0, 3, N)
    cells: dict[str, Any] = {**{f"a_job_{i}": column for i, column in enumerate(HOT.values())},
             **{f"a_home_{i}": (other == i).astype(int) for i in range(3)}}  # fmt: skip
    assert [said.partition("groups=")[2][:12] for said in notes(cells)] == ['{"a_job": ["', '{"a_home": [']


def test_flags_that_are_rare_are_no_group() -> None:
    assert notes({f"f_{i}": (R.random(N) < 0.005).astype(int) for i in range(6)}) == []


def test_a_few_rows_may_break_a_group() -> None:
    cells = {name: column.copy() for name, column in HOT.items()}
    cells["job_0"][7] = cells["job_1"][7] = 1
    assert notes(cells, 0) == []
    table = table_of(cells)
    [one] = suggest_one_hot(table, find_one_hot(table))
    assert (one.support, one.broken, one.rows) == (N, 1, (7,))


def test_whole_numbers_as_floats() -> None:
    some = np.where(np.arange(N) % 5 == 0, np.nan, R.poisson(3, N))
    cells = {"whole": some, "half": some + 0.5 * (np.arange(N) == 1), "integer": R.poisson(3, N), "flag": some > 3}
    [one] = suggest_whole(table_of(cells))
    assert (one.text, one.support) == ('whole holds whole numbers, as floats: kind = "integer"', 800)


def test_missing_together() -> None:
    hidden = R.random(N) < 0.1
    a, b, c = (np.where(hidden, np.nan, R.normal(size=N)) for _ in range(3))
    text = [None if one else "x" for one in hidden]
    alone = np.where(R.random(N) < 0.1, np.nan, 1.5)
    cells = {"a": a, "full": R.normal(size=N), "b": b, "alone": alone, "text": text}
    [one] = suggest_missing(table_of(cells))
    assert one.text == 'these columns are missing in the same rows: ["a", "b", "text"]'
    assert (one.support, one.broken) == (int(hidden.sum()), 0)
    c[hidden.argmax()] = 1
    assert suggest_missing(table_of({"a": a, "c": c})) == []
    [one] = suggest_missing(table_of({"a": a, "c": c}, most_broken=0.02))
    assert (one.broken, one.rows) == (1, (int(hidden.argmax()),))


def test_codes_count_as_missing() -> None:
    hidden = R.random(N) < 0.1
    cells = {name: np.where(hidden, -9, R.poisson(3, N)) for name in "ab"}
    assert suggest_missing(table_of(cells)) == []
    assert len(suggest_missing(table_of(cells, {"*": [-9]}))) == 1
