"""Numbers and their nouns agree wherever text is made."""

from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, OracleError, Space
from flipset.plural import count, count_seconds
from flipset.show.text import proved, tell

ONE = Space([Feature("x", "integer", direction=+1, lower=0, upper=9)])


@pytest.mark.parametrize(
    ("n", "noun", "text"), [(0, "row", "0 rows"), (1, "query", "1 query"), (12_345, "query", "12,345 queries")]
)
def test_b13_one_is_singular(n: int, noun: str, text: str) -> None:
    assert count(n, noun) == text


def test_b13_one_query_replays_a_proof() -> None:
    e = Explainer(lambda rows: rows[:, 0] >= 20, ONE).explain([3])
    assert (e.status, len(e.proof.questions)) == ("none", 1)
    assert "(1 query replays the proof)" in proved(e)
    e = Explainer(lambda rows: rows[:, 0] >= 5, ONE).explain([3])
    assert "(2 queries replay the proof)" in proved(e)
    assert any(line.endswith("calls of the model.") for line in tell(e))


def test_b13_the_model_was_asked_one_query() -> None:
    def broken(rows: Any) -> Any:
        raise RuntimeError("no")

    with pytest.raises(OracleError, match="when asked 1 query: no"):
        Explainer(broken, ONE).explain([3])
    with pytest.raises(OracleError, match="when asked 2 queries: no"):
        Explainer(broken, ONE).scores(np.array([[1], [2]]))


def test_one_second_is_singular_and_none_are_lost() -> None:
    assert [count_seconds(n) for n in (1, 1.0, 0, 0.5, 1234.567, float("inf"))] == [
        "1 second", "1 second", "0 seconds", "0.5 seconds", "1,234.57 seconds", "inf seconds",
    ]  # fmt: skip
