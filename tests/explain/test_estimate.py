"""What a table takes, estimated from a sample: the sample follows from the rows, and its answers are used again."""

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Feature, InputError, Journal, Space, Unavailable
from flipset.explain.estimate import Clocks, draw_sample, equal_places, estimate_table
from flipset.explain.request import Request
from flipset.models.remote.bill import Bill
from flipset.models.remote.call_times import CallTimes, batch_for
from flipset.space.rows import Row, read_rows
from flipset.space.table_rows import read_table

NAMES = ("a", "b", "c", "d")
SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=20) for name in NAMES])
ROWS = np.random.default_rng(0).integers(0, 21, (300, 4))
SETTINGS: dict[str, Any] = {"width": 256, "in_flight": None}


def score(rows: Any) -> Any:
    table = np.asarray(rows, dtype=float)
    return table[:, 0] * table[:, 1] + 10 * np.minimum(table[:, 2], table[:, 3])


class Odd:
    """A cell that cannot be read."""

    def __repr__(self) -> str:
        raise ValueError("not today")

    __str__ = __repr__


class Remote:
    """A model that is treated as an endpoint: it counts what it is asked, and each of its calls takes 0.5 seconds."""

    in_flight, price_per_row, price_per_call, answered_as = 4, 0.01, 0.5, None

    def __init__(self) -> None:
        self.bill, self.call_times = Bill(), CallTimes()

    def __call__(self, rows: Any, names: Any = None) -> Any:
        bill = self.bill
        bill.rows, bill.sent, bill.calls = bill.rows + len(rows), bill.sent + len(rows), bill.calls + 1
        bill.price += self.price_per_call + self.price_per_row * len(rows)
        self.call_times.note(len(rows), 0.5)
        return score(rows)

    async def ask(self, rows: Any, names: Any = None) -> Any:
        return self(rows)

    def fill(self) -> int:
        return 50

    def identity(self) -> str:
        return "remote"

    def close(self) -> None:
        """Nothing is open."""


def ticking(seconds: float) -> Any:
    ticks = count()
    return lambda: seconds * next(ticks)


def local(**more: Any) -> Explainer:
    return Explainer(score, SPACE, threshold=250, **more)


def drawn(rows: Any, size: int) -> list[list[int]]:
    read = read_table(rows, NAMES, (), None)
    return sorted(ROW for place in draw_sample(read, size).places for ROW in [list(np.asarray(rows)[place])])


# --- the sample -------------------------------------------------------------------------------------------------------


def test_the_sample_is_the_same_in_any_order_of_the_rows() -> None:
    shuffled = np.random.default_rng(1).permutation(ROWS)
    assert drawn(ROWS, 40) == drawn(shuffled, 40)
    assert drawn(ROWS, 40) != sorted(ROWS[:40].tolist())


def test_a_larger_sample_has_all_rows_of_a_smaller_one() -> None:
    few, more = drawn(ROWS, 20), drawn(ROWS, 60)
    assert all(row in more for row in few)


def test_equal_rows_are_drawn_once_and_rows_that_cannot_be_read_never() -> None:
    rows: list[Any] = [[1, 2, 3, 4], [1, 2, 3, 4], [5, 5, 5, 5], [Odd(), 0, 1, 2]]
    read = read_table(rows, NAMES, (), None)
    sample = draw_sample(read, 10)
    assert (sample.places, sample.distinct) == ((0, 2), 2)
    assert equal_places(read, sample) == {0: [0, 1], 2: [2]}


def test_a_table_without_readable_rows_is_refused() -> None:
    with pytest.raises(InputError, match="no row of the table can be read"):
        draw_sample(read_table([[Odd(), 0, 1, 2]], NAMES, (), None), 10)


@pytest.mark.parametrize("kind", [np.array, lambda rows: rows.tolist(), lambda rows: pd.DataFrame(rows, columns=NAMES)])
def test_rows_of_the_sample_are_taken_from_any_table(kind: Any) -> None:
    table = kind(ROWS)
    sample = draw_sample(read_table(table, NAMES, (), None), 5)
    taken = np.asarray(sample.of_table(table))
    assert taken.tolist() == ROWS[list(sample.places)].tolist()


# --- a local model ----------------------------------------------------------------------------------------------------


def test_queries_are_those_of_the_sample_scaled_to_the_table() -> None:
    estimate = local().estimate_table(ROWS, sample=60)
    alone = local().explain_table(ROWS[list(estimate.places)])
    assert estimate.spent.queries == alone.queries
    assert estimate.queries.value == pytest.approx(alone.queries / 60 * 300)
    assert estimate.queries.low <= local().explain_table(ROWS).queries <= estimate.queries.high
    assert estimate.price is None


def test_a_sample_of_everything_is_exact() -> None:
    estimate = local().estimate_table(ROWS, sample=1_000)
    whole = local().explain_table(ROWS)
    assert (estimate.queries.low, estimate.queries.high) == (whole.queries, whole.queries)
    assert estimate.calls.value == whole.rounds


def test_time_is_that_of_the_clock() -> None:
    estimate = estimate_table(local(), ROWS, 60, None, dict(SETTINGS), Clocks(ticking(7.0), ticking(1.0)))
    assert estimate.spent.seconds == 7.0
    assert estimate.seconds is not None
    assert estimate.seconds.value == pytest.approx(7.0 * 300 / 60)


def test_two_estimates_are_equal() -> None:
    first, second = (local().estimate_table(ROWS, sample=30) for _ in range(2))
    assert (first.places, first.queries, first.calls) == (second.places, second.queries, second.calls)


def test_other_arguments_are_those_of_the_run() -> None:
    sets = local().estimate_table(ROWS, sample=30, values=False, fixed=["a"])
    whole = local().explain_table(ROWS[list(sets.places)], values=False, fixed=["a"])
    assert sets.spent.queries == whole.queries


def test_results_of_the_sample_are_passed_on_with_those_of_equal_rows() -> None:
    seen: dict[int, Any] = {}
    rows = np.vstack([ROWS[:10], ROWS[:10]])
    local().estimate_table(rows, sample=5, each=seen.__setitem__)
    assert len(seen) == 10
    assert all(list(one.row.values()) == rows[place].tolist() for place, one in seen.items())
    assert all(place + 10 in seen for place in seen if place < 10)


def test_rows_with_errors_are_counted() -> None:
    def failing(rows: Any) -> Any:
        if (np.asarray(rows)[:, 0] == 3).all():
            raise ValueError("no threes")
        return np.where(np.asarray(rows)[:, 0] == 3, np.nan, score(rows))

    rows = ROWS[(ROWS[:, 0] < 6)]
    estimate = Explainer(failing, SPACE, threshold=250).estimate_table(rows, sample=50, fixed=["a"])
    assert estimate.errors > 0
    assert estimate.queries.value > 0


# --- an endpoint ------------------------------------------------------------------------------------------------------


def test_an_endpoint_is_estimated_with_its_price_and_its_latency() -> None:
    remote = Remote()
    estimate = Explainer(remote, SPACE, threshold=250).estimate_table(ROWS, sample=60)
    bill = remote.bill
    assert estimate.spent.calls == bill.calls
    assert estimate.spent.price == pytest.approx(bill.price)
    again = Remote()
    found = Explainer(again, SPACE, threshold=250).explain_table(ROWS)
    assert estimate.queries.low <= found.queries <= estimate.queries.high
    assert estimate.price is not None
    assert estimate.price.value == pytest.approx(again.bill.price, rel=0.3)
    assert estimate.seconds is not None
    assert estimate.seconds.value >= 0.5 * estimate.calls.value / remote.in_flight


def test_a_sample_is_asked_with_the_batch_of_the_table() -> None:
    class Flat(Remote):
        price_per_row = 0.0

        def fill(self) -> int:
            return 200

    def batch(whole: int) -> int:
        explainer = Explainer(Flat(), SPACE, threshold=250).for_sample_of(whole)
        rows = [row for row in read_rows(ROWS[:40], NAMES) if isinstance(row, Row)]
        return explainer._job(SPACE, Request(), rows).request.batch

    assert batch(40) == batch_for(40, rows_per_call=200, in_flight=4)
    assert batch(50_000) == batch_for(50_000, rows_per_call=200, in_flight=4) < batch(40)


def test_a_journal_keeps_the_answers_of_the_sample_for_the_run(tmp_path: Path) -> None:
    def sent(path: Path, *, with_estimate: bool) -> int:
        remote = Remote()
        explainer = Explainer(remote, SPACE, threshold=250, journal=Journal(path, model="remote"))
        if with_estimate:
            estimate = explainer.estimate_table(ROWS[:60], sample=20)
            assert estimate.kept_in == f"the journal {path}"
        explainer.explain_table(ROWS[:60])
        return remote.bill.rows

    assert sent(tmp_path / "a.db", with_estimate=True) == sent(tmp_path / "b.db", with_estimate=False)


def test_a_second_estimate_from_a_journal_predicts_the_same_price(tmp_path: Path) -> None:
    explainer = Explainer(Remote(), SPACE, threshold=250, journal=Journal(tmp_path / "a.db", model="remote"))
    first, second = (explainer.estimate_table(ROWS, sample=20) for _ in range(2))
    assert second.spent.price == 0
    assert first.price is not None
    assert second.price is not None
    assert second.price.value >= 0.5 * first.price.value


def test_a_fault_ends_the_estimate() -> None:
    class Broken(Remote):
        def __call__(self, rows: Any, names: Any = None) -> Any:
            raise Unavailable("nobody there")

    with pytest.raises(Unavailable, match="nobody there"):
        Explainer(Broken(), SPACE, threshold=250).estimate_table(ROWS, sample=10)


def test_an_interrupt_ends_the_estimate() -> None:
    def stopped(rows: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Explainer(stopped, SPACE, threshold=250).estimate_table(ROWS, sample=10)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample": 1}, "sample must be at least 2"),
        ({"sample": 2.5}, "sample must be a whole number"),
        ({"max_table_queries": 10}, "does not take max_table_queries"),
        ({"thresholds": [1, 2]}, "does not take thresholds: estimate one threshold at a time"),
        ({"audit": 5}, "does not take audit"),
    ],
)
def test_what_an_estimate_does_not_take_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        local().estimate_table(ROWS, **given)
