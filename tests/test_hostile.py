"""Whatever a file has, reading it ends in an error of flipset's own or in a value, after a limited number of steps."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, FlipsetError, Group, Proof, Space
from flipset.cli.inputs import read_data
from flipset.cli.options import SpaceOptions
from flipset.cli.space_inputs import make_space
from flipset.show.text import tell_claim
from tests.hostile import json_files, only_own_errors, toml_files
from tests.results.verifying.mutations import draw_subject

STEPS = 200_000

QUICK = range(300)
CAMPAIGN = [pytest.param(range(k, k + 1_000), marks=pytest.mark.campaign) for k in range(0, 8_000, 1_000)]


def outcomes(seeds: range, trial: Callable[[Random], str]) -> Counter[str]:
    found = Counter[str]()
    for seed in seeds:
        try:
            found[trial(Random(seed))] += 1
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    return found


SUBJECTS = [subject for subject in map(draw_subject, range(40)) if subject is not None]


@pytest.mark.parametrize("seeds", [QUICK, *CAMPAIGN], ids=str)
def test_c9_changed_explanations_raise_no_other_error(seeds: range) -> None:
    def trial(rng: Random) -> str:
        subject = rng.choice(SUBJECTS)
        text = json_files(subject.data, rng)

        def read() -> None:
            e = Explanation.from_json(text)
            assert list(tell_claim(e, 80))
            assert all((str(e), repr(e), e._repr_html_(), e.to_json()))
            e.to_frame()
            e.verify(subject.case.predict, steps=10)
            e.verify(subject.case.predict, steps=STEPS)
            subject.explainer.verify(e, steps=STEPS)

        return only_own_errors(read, FlipsetError)

    found = outcomes(seeds, trial)
    assert min(found["refused"], found["read"]) > len(seeds) // 50, found


PROOFS = [subject.data["proof"] for subject in SUBJECTS] + [
    json.loads(Proof(5, (0b11011, 0b00111), (0b10100,), (0.1, 2, 0.3, 1e-9, 7)).to_json())
]


@pytest.mark.parametrize("seeds", [QUICK, *CAMPAIGN], ids=str)
def test_c9_changed_proofs_raise_no_other_error(seeds: range) -> None:
    def trial(rng: Random) -> str:
        text = json_files(rng.choice(PROOFS), rng)

        def read() -> None:
            proof = Proof.from_json(text)
            proof.check(steps=STEPS)
            proof.bound(steps=STEPS)
            proof.states(steps=STEPS)
            proof.confirm(lambda sets: [len(features) > 1 for features in sets])
            assert Proof.from_json(proof.to_json()) == proof

        return only_own_errors(read, FlipsetError)

    found = outcomes(seeds, trial)
    assert min(found["refused"], found["read"]) > len(seeds) // 50, found


SPACE = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=100, step=5),
        Feature("debt", direction=-1, lower=0.0, upper=60.0, special=(-7,), may_become=(-7,)),
        Feature("grade", "ordinal", direction=+1, options=("C", "B", "A"), may_fall=False),
        Feature("home", "categorical", options=("rent", "own"), weight=0.5),
        Feature("a", "binary", group="g"),
        Feature("b", "binary", group="g"),
        Feature("age", fixed=True),
    ],
    [Group("g", one_hot=True)],
)
ROW = {"income": 40, "debt": 30.0, "grade": "B", "home": "rent", "a": 1, "b": 0, "age": 33}


def use(space: Space) -> None:
    """Explain a row with a space, as far as a few queries lead."""
    assert Space.from_toml(space.to_toml()) == space
    assert Space.from_json(space.to_json()) == space
    explainer = Explainer(lambda rows: [0.0 if i else 1.0 for i in range(len(rows))], space, threshold=0.5)
    explainer.explain(ROW, max_queries=20, strict=False)


@pytest.mark.parametrize("seeds", [QUICK, *CAMPAIGN], ids=str)
def test_c12_changed_spaces_raise_no_other_error(seeds: range) -> None:
    text, data = SPACE.to_toml(), json.loads(SPACE.to_json())

    def trial(rng: Random) -> str:
        if rng.random() < 0.5:
            changed = toml_files(text, rng)
            return only_own_errors(lambda: use(Space.from_toml(changed)), FlipsetError)
        changed = json_files(data, rng)
        return only_own_errors(lambda: use(Space.from_json(changed)), FlipsetError)

    found = outcomes(seeds, trial)
    assert min(found["refused"], found["read"]) > len(seeds) // 50, found


@pytest.mark.parametrize("seeds", [range(60), *CAMPAIGN[:2]], ids=str)
def test_c12_changed_json_lines_raise_no_other_error(seeds: range, tmp_path: Path) -> None:
    rows = [{"income": i, "debt": 0.5 * i, "home": "ab"[i % 2], "id": str(i)} for i in range(6)]

    def trial(rng: Random) -> str:
        path = tmp_path / "table.jsonl"
        lines = [json.dumps(row) for row in rows]
        for _ in range(rng.randrange(1, 3)):
            i = rng.randrange(len(lines))
            lines[i] = json_files(rows[i], rng)
        path.write_text("\n".join(lines), encoding="utf-8", errors="replace")

        def read() -> None:
            options = SpaceOptions(increasing=["income"], decreasing=["debt"], categorical=["home"], drop=["id"])
            frame = read_data(str(path))
            space = make_space(lambda rows: [1.0] * len(rows), frame, None, options)
            Explainer(lambda rows: [1.0] * len(rows), space, threshold=0.5).explain_table(frame[list(space.names)])

        return only_own_errors(read, FlipsetError)

    found = outcomes(seeds, trial)
    assert min(found["refused"], found["read"]) > len(seeds) // 50, found


def test_the_changes_are_of_every_kind() -> None:
    seen = Counter[Any]()
    for seed in range(1_000):
        text = json_files({"a": [1, {"b": "c"}], "d": {"e": 2.5}}, Random(seed))
        seen["deep"] += "[[[[" in text
        seen["infinite"] += "Infinity" in text
        seen["digits"] += "9" * 300 in text or "0" * 300 in text
        try:
            seen["json"] += bool(json.loads(text)) or True
        except ValueError:
            seen["not json"] += 1
        except RecursionError:
            seen["too deep"] += 1
    assert min(seen.values()) > 3, seen
    assert len(seen) == 6
