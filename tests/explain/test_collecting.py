"""The collector belongs to the process: it is left as it was, and changed only while a call blocks."""

import gc
import threading
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space
from flipset.explain.collecting import NEW_OBJECTS, YOUNG, fewer_collections

SPACE = Space([Feature("a", direction=+1, lower=0, upper=9)])


def test_tables_at_a_time_leave_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    inside: list[tuple[int, int]] = []

    def model(rows: Any) -> Any:
        inside.append(gc.get_threshold()[:2])
        return np.asarray(rows).sum(axis=1) >= 5

    explainer = Explainer(model, SPACE)
    barrier = threading.Barrier(3)

    def explain() -> None:
        barrier.wait()
        explainer.explain_table([[float(i)] for i in range(30)])

    threads = [threading.Thread(target=explain) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(inside) == {(NEW_OBJECTS, YOUNG)}
    assert gc.get_threshold() == before


@pytest.mark.parametrize("threshold", [0, 10 * NEW_OBJECTS])
def test_a_collector_that_looks_less_often_still_or_is_off_stays_so(threshold: int) -> None:
    before = gc.get_threshold()
    gc.set_threshold(threshold, 2 * YOUNG)
    try:
        with fewer_collections:
            assert gc.get_threshold()[:2] == (threshold, 2 * YOUNG)
        assert gc.get_threshold()[:2] == (threshold, 2 * YOUNG)
    finally:
        gc.set_threshold(*before)
