"""Every limit has its reason, the documentation lists them all, and what flipset writes is within them."""

import json
import pickle
from math import comb
from pathlib import Path
from typing import Any

import pytest

from flipset import Explanation, Feature, InputError, Proof, Space
from flipset.boundary import reading
from flipset.boundary.limits import LIMITS, MOST_BITS, MOST_CHARACTERS, MOST_FEATURES, MOST_SETS, MOST_VALUES, Limit
from flipset.proof import proof as proofs
from flipset.results import from_json, to_json
from flipset.space import files
from tests.hostile import hostile_explanation
from tests.results.verifying.mutations import draw_subject

DOCS = Path(__file__).parents[2] / "docs" / "reliability.md"


def limits_table() -> str:
    """The table of docs/reliability.md; print this to make it again."""
    lines = ["| limit | value | of what | reason |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {limit:,} | {limit.what} | {limit.reason} |" for name, limit in LIMITS.items()]
    return "\n".join(lines) + "\n"


def test_the_documentation_lists_all_limits() -> None:
    assert limits_table() in DOCS.read_text(encoding="utf-8"), limits_table()


def test_limits_are_numbers_with_a_reason() -> None:
    for name, limit in LIMITS.items():
        assert limit > 0, name
        assert limit.what, name
        assert limit.reason, name
        again = pickle.loads(pickle.dumps(limit))
        assert (again, again.what, type(again)) == (limit, limit.what, Limit)
    assert json.dumps(Limit(5, "sets", "few")) == "5"


SUBJECTS = [subject for subject in map(draw_subject, range(30)) if subject is not None]


JSON = (to_json, from_json)


@pytest.mark.parametrize(
    ("modules", "name", "values"),
    [
        ((reading,), "MOST_CHARACTERS", (500, 1_500, 5_000)),
        ((reading,), "MOST_VALUES", (40, 120, 400)),
        ((reading,), "MOST_TEXT", (1, 2)),
        (JSON, "MOST_SETS", (0, 1, 2, 3)),
        (JSON, "MOST_COLUMNS", (1, 2, 3)),
        (JSON, "MOST_OPTIONS", (0, 1, 2)),
        ((proofs,), "MOST_SETS", (0, 1, 2, 3)),
        ((proofs,), "MOST_FEATURES", (1, 2, 3)),
        ((proofs,), "MOST_BITS", (1, 4, 12)),
    ],
)
def test_what_the_reader_refuses_is_not_written(
    modules: tuple[Any, ...], name: str, values: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limits are made small, so that ordinary explanations exceed them.
    texts = [subject.e.to_json() for subject in SUBJECTS]
    outcomes = set()
    for most in values:
        for module in modules:
            monkeypatch.setattr(module, name, most)
        for subject, text in zip(SUBJECTS, texts, strict=True):
            try:
                Explanation.from_json(text)
            except InputError:
                with pytest.raises(InputError):
                    subject.e.to_json()
                outcomes.add("refused")
            else:
                assert subject.e.to_json() == text
                outcomes.add("written")
    assert "refused" in outcomes


def test_a_space_that_cannot_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space([Feature("x", "categorical", options=("a", "b")), Feature("y", special=(float("inf"),))])
    assert Space.from_json(space.to_json()) == Space.from_toml(space.to_toml()) == space
    for write in (space.to_json, space.to_toml):
        with monkeypatch.context() as patch:
            patch.setattr(files, "MOST_OPTIONS", 1)
            with pytest.raises(InputError, match=r"feature\['x'\].options may have 1 entries, got 2"):
                write()
        with monkeypatch.context() as patch:
            patch.setattr(files, "MOST_COLUMNS", 1)
            with pytest.raises(InputError, match="feature may have 1 entries, got 2"):
                write()
    for name in ("\ud800", "x" * 100_001):
        with pytest.raises(InputError, match=r"name|Unicode"):
            Space([Feature(name, direction=1, lower=0, upper=1)]).to_toml()
    with pytest.raises(InputError, match="upper must be a finite number"):
        Space([Feature("x", "integer", direction=1, lower=0, upper=10**305, fixed=True)]).to_toml()


def test_the_largest_natural_results_are_within_the_limits() -> None:
    # All sets of 5 among 30 features: 654 characters and 69 values for each were measured.
    sets = comb(30, 5)
    assert sets < MOST_SETS
    assert 700 * sets < MOST_CHARACTERS
    assert 75 * sets < MOST_VALUES
    assert sets * 30 < MOST_BITS
    # 20,000 features and thousands of zeros and ones.
    assert MOST_BITS > 20_000 * 30_000
    assert MOST_FEATURES >= 1_000_000


def test_a_proof_about_20_000_features_comes_back() -> None:
    d, few = 20_000, 25
    whole = (1 << d) - 1
    pairs = [1 << i | 1 << j for i in range(few) for j in range(i)]
    zeros = tuple(whole & ~(((1 << few) - 1) & ~(1 << i)) for i in range(few))
    proof = Proof(d, zeros, tuple(pairs))
    assert proof.check() is True
    again = Proof.from_json(proof.to_json())
    assert again == proof
    assert again.confirm(lambda sets: [sum(i < few for i in features) >= 2 for features in sets])


def test_an_explanation_of_20_000_columns_comes_back() -> None:
    text = json.dumps(hostile_explanation(20_000) | {"lower": None})
    e = Explanation.from_json(text)
    assert json.loads(e.to_json())["moves"] == json.loads(text)["moves"]
    assert e.verify(lambda rows: [0.0] * len(rows)).decided
