"""`only`: rows with the other decision are scored once and kept, and never asked about again."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Journal, Space, flipset_check
from flipset.explain.request import wanted_decision
from flipset.models.remote.endpoint import Endpoint
from flipset.space.words import Decision
from tests.endpoints import serving

FEATURES = [Feature(name, "integer", direction=+1, lower=0, upper=9) for name in ("income", "savings")]
SPACE = Space([*FEATURES, Feature("debt", "integer", direction=-1, lower=0, upper=9)])
TABLE = pd.DataFrame(np.random.default_rng(7).integers(0, 10, (60, 3)), columns=list(SPACE.names))


def score(rows: Any) -> Any:
    table = np.asarray(rows, dtype=float)
    return table[:, 0] + table[:, 1] - table[:, 2]


class Counted:
    """A model that keeps the rows that it was asked about."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, ...]] = []

    def __call__(self, rows: Any) -> Any:
        self.asked += [tuple(row) for row in np.asarray(rows, dtype=float).tolist()]
        return score(rows)


def explained(found: Any) -> list[Explanation]:
    assert all(isinstance(one, Explanation) for one in found)
    return list(found)


def expected(approved: bool) -> list[int]:
    return [i for i, one in enumerate(score(TABLE.to_numpy())) if (one >= 8) == approved]


@pytest.mark.parametrize("only", ["declined", "approved"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"batch": 1},
        {"max_queries": 10_000},
        {"in_flight": 3},
        {"objective": "cost"},
        {"max_table_queries": 100_000},
    ],
    ids=str,
)
def test_the_others_are_scored_once_and_listed(only: str, how: dict[str, Any]) -> None:
    model = Counted()
    explainer = Explainer(model, SPACE, threshold=8)
    found = explainer.explain_table(TABLE, only=only, **how)
    asked = expected(approved=only == "approved")
    everything = Explainer(score, SPACE, threshold=8).explain_table(TABLE, **how)
    for i, one in enumerate(found):
        assert isinstance(one, Explanation)
        if i in asked:
            assert one == everything[i]
            assert one.queries == everything[i].queries
        else:
            assert (one.status, one.queries, one.rounds) == ("not asked", 1, 1)
            assert (one.decision, one.score) == (everything[i].decision, everything[i].score)
            assert not any((one.flipsets, one.counterfactuals, one.reasons, one.proof.zeros))
    # Equal rows are explained once, so they count once.
    of_rows = {tuple(TABLE.iloc[i]): one for i, one in enumerate(explained(found))}
    assert found.queries == sum(one.queries for one in of_rows.values())
    summary = found.summary()
    assert (summary.rows, summary.errors, summary.not_asked) == (60, 0, 60 - len(asked))
    side, other = (summary.declined, summary.approved) if only == "declined" else (summary.approved, summary.declined)
    assert sum(side.sizes.values()) + side.statuses["none"] == side.asked == len(asked)
    assert (other.asked, other.rows) == (0, 60 - len(asked))


def test_the_table_search_asks_only_the_row_itself() -> None:
    approved = TABLE.iloc[expected(approved=True)]
    model = Counted()
    found = Explainer(model, SPACE, threshold=8).explain_table(approved, only="declined")
    assert len(model.asked) == found.queries == len(set(map(tuple, approved.to_numpy().tolist())))


def test_workers_give_the_same() -> None:
    explainer = Explainer(score, SPACE, threshold=8)
    here, there = (explainer.explain_table(TABLE, only="declined", workers=n) for n in (1, 2))
    assert (here.results, here.queries) == (there.results, there.queries)


def test_an_endpoint_is_sent_one_row_for_each_and_a_journal_none_again(tmp_path: Path) -> None:
    approved = TABLE.iloc[expected(approved=True)]
    distinct = len(set(map(tuple, approved.to_numpy().tolist())))
    with serving(lambda rows: score(rows).tolist()) as server:
        make = partial(Explainer, space=SPACE, threshold=8)
        found = make(Endpoint(server.infer)).explain_table(approved, only="declined")
        assert {one.status for one in explained(found)} == {"not asked"}
        assert server.received == distinct
        for _ in range(2):
            journal = Journal(tmp_path / "answers.db", model="loans 1")
            make(Endpoint(server.infer), journal=journal).explain_table(approved, only="declined")
        assert server.received == 2 * distinct


def test_it_is_written_read_and_verified(tmp_path: Path) -> None:
    explainer = Explainer(score, SPACE, threshold=8)
    one = explainer.explain([9, 9, 0])
    left = explainer.explain_table([[9, 9, 0]], only="declined")[0]
    again = Explanation.from_json(left.to_json())
    assert again == left
    assert again.score == one.score
    assert explainer.verify(again)
    (tmp_path / "left.json").write_text(left.to_json(), encoding="utf-8")
    assert flipset_check.main([str(tmp_path / "left.json")]) == 0
    assert str(left) == (
        "Decision: approved (score 18; approval needs at least 8)\n\n"
        "Not asked: this row was scored, and only declined rows were explained."
    )


def test_the_words_of_the_space_are_known_and_below_is_respected() -> None:
    words = Decision(8, "below", outcomes=("refer", "accept"))
    space = Space(SPACE.features, decision=words)
    assert wanted_decision(space, "declined") is wanted_decision(space, "refer") is True
    assert wanted_decision(space, "approved") is wanted_decision(space, "accept") is False
    assert wanted_decision(space, None) is None
    found = Explainer(score, space).explain_table(TABLE, only="refer")
    assert all((one.status == "not asked") == one.is_favorable for one in explained(found))
    with pytest.raises(InputError, match="only must be one of 'declined', 'approved', 'refer', 'accept', got 'yes'"):
        Explainer(score, space).explain_table(TABLE, only="yes")


def test_a_block_that_is_too_large_is_no_error_of_a_row_that_is_not_asked_about() -> None:
    options = [Feature(name, "categorical", options=tuple("abcd")) for name in ("p", "q")]
    explainer = Explainer(lambda rows: [1.0 for _ in rows], Space(options), threshold=0.5)
    row = [["a", "a"]]
    assert isinstance(explainer.explain_table(row, max_block=2)[0], InputError)
    assert explainer.explain_table(row, max_block=2, only="declined")[0].status == "not asked"
