"""`verify` checks everything that is read, or lists it; changed explanations never pass for true."""

import json
import re
import sys
from collections import Counter
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipset import Explainer, Explanation, Feature, InputError, OracleError, Space
from flipset.boundary.reading import Field
from flipset.proof import Proof
from flipset.results.verifying import FIELDS, same
from tests.hostile import hostile_explanation
from tests.results.verifying.mutations import Subject, draw_subject, is_true, mutate

INCOME = Feature("income", "integer", direction=+1, lower=0, upper=100)
DEBT = Feature("debt", "integer", direction=-1, lower=0, upper=100)
KIND = Feature("kind", "categorical", options=("a", "b", "c"))
AGE = Feature("age", fixed=True)
SPACE = Space([INCOME, DEBT, KIND, AGE])
ROW = {"income": 40, "debt": 30, "kind": "a", "age": 50}


def approve(rows: Any) -> Any:
    table = np.asarray(rows, dtype=object)
    return np.array([row[0] - row[1] + 20 * (row[2] == "b") for row in table], dtype=float) / 100


EXPLAINER = Explainer(approve, SPACE, threshold=0.6)


@cache
def explained() -> Explanation:
    return EXPLAINER.explain(ROW)


def data_of(e: Explanation | None = None) -> Any:
    return json.loads((e or explained()).to_json())


def read(data: Any) -> Explanation:
    return Explanation.from_json(json.dumps(data))


def test_every_field_is_checked_or_listed() -> None:
    assert {one.name for one in fields(Explanation)} == set(FIELDS)
    for found in (
        EXPLAINER.verify(explained()),
        explained().verify(approve),
        explained().verify(lambda rows: np.zeros(len(rows))),
        EXPLAINER.verify(replace(explained(), flipsets=())),
    ):
        heads = {name.split("[")[0] for name in found.not_checked} | set(found.checked)
        assert heads == set(FIELDS)
    found = EXPLAINER.verify(explained())
    assert set(found.not_checked) == {
        "fingerprints",
        "counterfactuals[].cost_at_least",
        "queries",
        "rounds",
        "max_changes",
    }
    bare = explained().verify(approve)
    assert bare
    assert {"moves", "held_fixed", "grids", "threshold", "counterfactuals[].cost"} <= set(bare.not_checked)
    assert repr(found).startswith("<Verification: confirmed; not checked: ")


def forge(**changes: Any) -> Any:
    def change(data: Any) -> None:
        for path, value in changes.items():
            parts: list[Any] = [int(part) if part.isdigit() else part for part in path.split("__")]
            *parents, last = parts
            place: Any = data
            for part in parents:
                place = place[part]
            if value is None and isinstance(place, list):
                del place[last]
            else:
                place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "words", "without_space"),
    [
        (forge(counterfactuals__0__changes__0__after=41), r"counterfactuals\[0\]\.changes\[0\]\.after", True),
        (forge(counterfactuals__0__changes__0__before=39), r"changes\[0\]\.before: it is 39, and the row has 40", True),
        (forge(counterfactuals__0__changes__0__how="at most"), r"how: it is 'at most', and must be 'at least'", True),
        (forge(counterfactuals__0__changes__0__feature="age"), r"changes: they are about 'age'", True),
        (forge(counterfactuals__0__flipset=["debt"]), r"flipset: it is 'debt', and 'income' moves", True),
        (forge(counterfactuals__0__cost=0.75), r"counterfactuals\[0\]\.cost: it is 0\.75", False),
        (forge(counterfactuals__0__cost_at_least=0.99), r"cost_at_least: it is 0\.99", True),
        (forge(counterfactuals__0__row__age=49), r"'age' is 49 there, and it cannot move from 50", True),
        (forge(counterfactuals__0__score=0.9), r"score: it is 0\.9, and the model says", True),
        (forge(counterfactuals__0=None), "there must be one for every flip set", True),
        (forge(held_fixed=[]), "held_fixed: the explanation has nothing, and the space 'age'", False),
        (forge(grids={"income": "2 parts"}), "grids: they are", False),
        (forge(size=2), "size: it is 2, and the proof says 1", True),
        (forge(lower=0), "lower: it is 0", True),
        (forge(status="stopped"), "size: it is 1, and the status is 'stopped'", True),
        (forge(contradictions=[[ROW, ROW]]), "contradictions: there are some, and the status is 'optimal'", True),
        (forge(threshold=0.55), "threshold: the explanation has 0.55, and the explainer has 0.6", None),
        (forge(decision=True), "decision: it is True, and the score 0.1 is below the threshold 0.6", True),
        (forge(moves__0__options__0__income=99), "'income' could become income=99, and in this space income=100", None),
        (forge(moves__1__weight=2), "proof.weights: it has none, and the units have", True),
        (forge(row__age=51, counterfactuals__0__row__age=51), None, None),
    ],
)  # fmt: skip
def test_a10_c1_forged_text_is_noticed(change: Any, words: str | None, without_space: bool | None) -> None:
    data = data_of()
    change(data)
    forged = read(data)
    found = EXPLAINER.verify(forged)
    if words is None:
        assert found, found  # it is about another row, of which it is true
        return
    assert not found

    assert any(re.search(words, problem) for problem in found.problems), found.problems
    if without_space is not None:
        assert bool(forged.verify(approve, threshold=0.6)) is not without_space


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (forge(moves__0=None), r"proof\.d must be 2, the number of units that can move, got 3"),
        (forge(proof__d=4_000_000_000), r"proof\.d must be 3"),
        (forge(row__extra=1), r"counterfactuals\[0\]\.row must have the columns .*'extra' is in only one of them"),
        (forge(counterfactuals__0__row__extra=1), r"counterfactuals\[0\]\.row must have the columns"),
        (forge(counterfactuals__0__changes__0__how="so"), r"counterfactuals\[0\]\.changes\[0\]\.how must be one of"),
        (forge(size=True), "size must be a number, got True"),
        (forge(score="high"), "score must be a number, got 'high'"),
        (forge(threshold="inf"), "threshold must be a number"),
        (forge(surprise=1), "the explanation has 'surprise', which is not one of its fields"),
        (forge(flipsets=[["income", "income"]]), r"flipsets\[0\]\[1\] must be different from the entries before it"),
        (forge(moves__0__weight="1e100000000"), r"moves\[0\]\.weight must be a number"),
        (forge(moves__0__weight=0), r"moves\[0\]\.weight must be a positive number"),
        (forge(moves__0__columns=["nope"]), r"moves\[0\]\.columns\[0\] must be a column of the row, got 'nope'"),
        (forge(moves__1__name="income"), r"moves\[1\]\.name is 'income', as that of another unit is"),
        (forge(moves__0__options=[]), r"moves\[0\]\.options must be a list of"),
        (forge(row__age=[1]), r"row\['age'\] must be a number, got a list"),
        (forge(row__age={"float": "much"}), r"row\['age'\] must be a cell"),
        (forge(row__age="\ud800"), r"row\['age'\] must be valid text without half of a surrogate pair"),
        (forge(queries=-1), "queries must be a whole number of at least 0"),
        (forge(max_changes=0), "max_changes must be a whole number of at least 1"),
        (forge(objective="both"), "objective must be one of 'size', 'cost'"),
        (forge(grids={"income": 3}), r"grids\['income'\] must be a string"),
        (forge(status="sure"), "status must be one of 'optimal', 'none', 'stopped', 'unproved'"),
        (forge(proof__ones=[[9]]), r"proof\.ones\[0\]\[0\] must be a feature, 0 to 2, got 9"),
    ],
)  # fmt: skip
def test_c9_malformed_explanations_are_refused_by_the_name_of_the_field(change: Any, words: str) -> None:
    data = data_of()
    change(data)
    with pytest.raises(InputError, match=words):
        read(data)


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 100_000, "9" * 10_000, '{"a": 1e999}', '{"format": 1, "format": 2}', "\ud800"]
)
def test_c9_texts_that_are_no_explanation_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="an explanation"):
        Explanation.from_json(text)


def test_the_order_of_json_objects_means_nothing() -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shuffled(value[name]) for name in sorted(value, reverse=True)}
        return [shuffled(one) for one in value] if isinstance(value, list) else value

    for e in (explained(), EXPLAINER.explain(ROW, objective="cost")):
        again = read(shuffled(data_of(e)))
        assert list(again.row) != list(e.row)
        assert EXPLAINER.verify(again)
        assert again.verify(approve, space=SPACE, threshold=0.6)
        lie = replace(again, held_fixed=("kind", "age"))
        assert not EXPLAINER.verify(lie)


def test_a10_other_limits_must_be_given_again() -> None:
    e = EXPLAINER.explain(ROW, fixed=["debt"], bounds={"income": (0, 95)})
    assert EXPLAINER.verify(e, fixed=["debt"], bounds={"income": (0, 95)})
    found = EXPLAINER.verify(e)
    assert not found
    assert any("made with other limits must be verified with the same" in problem for problem in found.problems)
    assert e.verify(approve, space=SPACE.with_changes(["debt"], {"income": (0, 95)}), threshold=0.6)
    assert not e.verify(approve, space=SPACE, threshold=0.6)


def test_c1_every_feature_frozen_in_the_file_is_not_proved() -> None:
    frozen = Explainer(approve, Space([replace(one, fixed=True) for one in SPACE.features]), threshold=0.6).explain(ROW)
    assert frozen.status == "none"
    assert not EXPLAINER.verify(frozen)
    found = frozen.verify(approve)
    assert found
    assert {"moves", "threshold"} <= set(found.not_checked)


def test_c1_the_threshold_is_the_models_own_where_it_has_one() -> None:
    from sklearn.linear_model import LogisticRegression

    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = LogisticRegression().fit(rows, [0, 0, 1, 1])
    space = Space([Feature("x", direction=+1, lower=0, upper=3)])
    own = Explainer(model, space).explain([0.5])
    found = own.verify(model, space=space)
    assert found
    assert "threshold" in found.checked
    other = Explainer(model, space, threshold=0.7).explain([0.5])
    (problem, *_) = other.verify(model, space=space).problems
    assert problem.startswith("threshold: the explanation has 0.7, and the model has more than 0.5; give the one")
    assert other.verify(model, space=space, threshold=0.7)


def test_unproved_is_never_true_and_its_contradictions_are_asked_again() -> None:
    def wavy(rows: Any) -> Any:
        return (rows.sum(axis=1) >= 6) & (rows[:, 2] < 6)

    whole = Space([Feature(name, "integer", direction=+1, lower=0, upper=6) for name in "abc"])
    explainer = Explainer(wavy, whole)
    e = explainer.explain([0, 0, 0], strict=False)
    assert e.status == "unproved"
    assert explainer.verify(e).problems == ("status: it is unproved, for the model contradicted the directions",)
    (turned, stays), *rest = e.contradictions
    swapped = replace(e, contradictions=((stays, turned), *rest))
    problems = explainer.verify(swapped).problems
    assert "contradictions[0]: the model's answers do not contradict each other" in problems
    assert any("is not as far in the second row as in the first" in problem for problem in problems)
    assert "contradictions" in e.verify(wavy).not_checked
    assert not e.verify(wavy)


# --- hostile files ----------------------------------------------------------------------------------------------------


def never(rows: Any) -> Any:
    raise AssertionError("a file that is not even consistent costs no query")


def test_c2_many_reasons_end_as_not_decided() -> None:
    rng = Random(0)
    data = hostile_explanation(100)
    held = sorted({tuple(sorted(rng.sample(range(100), 8))) for _ in range(300)})
    data["proof"]["zeros_hold"] = [list(one) for one in held]
    data["reasons"] = [[f"x{i}" for i in one] for one in held]
    data["lower"] = 24
    looks = 0

    def look() -> bool:
        nonlocal looks
        looks += 1
        return False

    found = read(data).verify(never, steps=2_000_000, stop=look)
    assert (found.decided, found.problems, bool(found)) == (False, (), False)
    assert found.not_checked["proof"] == "not decided in 2,000,000 steps"
    assert looks == 19
    assert "Not decided." in str(found).splitlines()
    assert read(data).verify(never, stop=lambda: True).decided is False


def test_c2_combinations_of_options_are_bounded() -> None:
    with pytest.raises(InputError, match=r"would take up to 3,138,428,376,721 queries, more than max_block"):
        read(hostile_explanation(12, options=10) | {"reasons": [], "lower": None}).verify(never)
    with pytest.raises(InputError, match="queries and more"):
        read(hostile_explanation(5_000, options=10) | {"lower": None}).verify(never)


def test_c2_many_columns_take_time_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Counter[int]()
    original = Field.__init__

    def count(self: Field, value: Any, where: Any, key: Any = "", budget: Any = None) -> None:
        made[0] += 1
        original(self, value, where, key, budget)

    monkeypatch.setattr(Field, "__init__", count)
    data = hostile_explanation(60_000) | {"lower": None}
    e = read(data)
    assert made[0] < 20 * 60_000
    assert not e.verify(never, space=SPACE)
    assert e.verify(lambda rows: np.zeros(len(rows))).decided
    with pytest.raises(InputError, match="row may have 100,000 entries"):
        read(hostile_explanation(100_001))


# --- as data ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        inf,
        -inf,
        datetime(2026, 1, 31, 12, 30, 0, 5),
        datetime(2026, 1, 31, tzinfo=UTC),
        date(2026, 1, 31),
        Decimal("1.10"),
        Decimal("-Infinity"),
        pd.Timestamp("2026-01-31 10:00"),
        2**70,
        None,
        "ü\n",
    ],
)
def test_a14_cells_of_held_columns_come_back(cell: Any) -> None:
    e = EXPLAINER.explain(ROW | {"age": cell})
    again = Explanation.from_json(e.to_json())
    assert again == e
    assert same(again.row["age"], cell)
    assert EXPLAINER.verify(again)


@pytest.mark.parametrize(
    "cell", [b"x", 1j, pd.Timedelta("1s"), pd.Timestamp("2026-01-31 10:00:00.000000001"), Decimal("NaN"), "\ud800"]
)
def test_a14_cells_that_json_cannot_hold_are_named(cell: Any) -> None:
    e = EXPLAINER.explain(ROW | {"age": cell})
    with pytest.raises(InputError, match="column 'age'"):
        e.to_json()


def test_a15_what_was_considered_is_said() -> None:
    e = EXPLAINER.explain(ROW, objective="cost")
    assert (e.objective, e.max_changes) == ("cost", 2)
    assert "The cheapest with at most 2 changes:" in str(e)
    assert EXPLAINER.verify(e)
    assert EXPLAINER.explain(ROW, objective="cost", max_changes=3).max_changes == 3
    assert EXPLAINER.explain(ROW).max_changes is None
    none = Explainer(approve, SPACE, threshold=1.1).explain(ROW, max_changes=1)
    assert (none.status, none.lower, none.max_changes) == ("none", 2, 1)
    data = data_of(none)
    for lower, most, ok in (
        (2, 1, True),
        (3, 2, False),
        (2, 2, False),
        (1, 1, False),
        (2, None, True),
        (1, None, False),  # it would pass for a proof that nothing flips
    ):
        changed = read(data | {"lower": lower, "max_changes": most})
        assert bool(Explainer(approve, SPACE, threshold=1.1).verify(changed)) is ok, (lower, most)


def test_old_files_are_read() -> None:
    data = data_of()
    del data["max_changes"], data["objective"]
    e = read(data)
    assert (e.max_changes, e.objective) == (None, None)
    found = EXPLAINER.verify(e)
    assert found
    assert "counterfactuals" in found.not_checked
    del data["counterfactuals"][0]
    assert "counterfactuals" in EXPLAINER.verify(read(data)).not_checked


def test_b6_counterfactuals_are_cheapest_first() -> None:
    space = Space(
        [
            Feature(name, "integer", direction=+1, lower=0, upper=upper)
            for name, upper in zip("abc", (9, 3, 5), strict=True)
        ]
    )
    explainer = Explainer(lambda rows: rows.max(axis=1) >= 3, space)
    e = explainer.explain([0, 0, 0])
    assert e.flipsets == (("a",), ("b",), ("c",))
    assert [c.flipset for c in e.counterfactuals] == [("a",), ("c",), ("b",)]
    assert not explainer.verify(replace(e, counterfactuals=e.counterfactuals[::-1]))
    (row,) = explainer.explain_table([[0, 0, 0]])
    assert row.counterfactuals == e.counterfactuals  # type: ignore[union-attr]


def test_b14_b15_explanations_print_as_text_and_on_one_line() -> None:
    e = EXPLAINER.explain(ROW)
    assert str(e).startswith("Decision: declined (score 10 %; approval needs at least 60 %)")
    assert repr(e) == (
        "<Explanation: decision=False, score=0.1, threshold=0.6, status='optimal', size=1, flip sets: 1, reasons: 1>"
    )
    half = replace(e, threshold=0.5000000000000001)
    assert "threshold=more than 0.5," in repr(half)
    table = EXPLAINER.explain_table([list(ROW.values())] * 2_000)
    assert len(repr(table)) < 200
    assert repr(table).startswith("<Explanations: rows: 2,000, queries: ")
    assert str(table).startswith("2,000 rows")


# --- changed in every way ---------------------------------------------------------------------------------------------


@cache
def subjects(count: int) -> list[Subject]:
    drawn = (draw_subject(seed) for seed in range(count))
    return [subject for subject in drawn if subject is not None]


def outcome_of(subject: Subject, text: str) -> str:
    """Say what became of a changed explanation; fail if something false passes."""
    try:
        m = Explanation.from_json(text)
    except InputError:
        return "refused"
    try:
        bare = m.verify(subject.case.predict, steps=200_000)
        assert not bare or {"moves", "threshold"} <= set(bare.not_checked)
        found = subject.explainer.verify(m, steps=200_000)
    except InputError:
        return "refused"
    except OracleError:
        return "the model refused"  # it raised on a cell that is none of its own
    if not found:
        assert found.problems or not found.decided
        return "failed" if found.decided else "not decided"
    wrong = is_true(subject, m)
    assert not wrong, (wrong, found.not_checked)
    return how_true(subject, m, {name.split("[")[0] for name in found.not_checked})


def how_true(subject: Subject, m: Explanation, not_checked: set[str]) -> str:
    """Say why a changed explanation may pass; what could move must be what it is for its row."""
    data, own = json.loads(m.to_json()), subject.data
    differ = {name for name in own.keys() | data.keys() if data.get(name) != own.get(name)}
    if not differ:
        return "the same"
    if differ <= not_checked:
        return "not checked"
    if "row" in differ:
        own = json.loads(subject.explainer.explain(m.row, **subject.request).to_json())
    assert data["moves"] == own["moves"]
    assert data["held_fixed"] == own["held_fixed"]
    return "still true"


def try_out(trials: int, cases: int, seed: str) -> Counter[str]:
    pool = subjects(cases)
    outcomes = Counter[str]()
    for trial in range(trials):
        rng = Random(f"{seed}/{trial}")
        subject, other = rng.choice(pool), rng.choice(pool)
        text = json.dumps(mutate(subject.data, rng, other.data))
        try:
            outcomes[outcome_of(subject, text)] += 1
        except BaseException as error:
            error.add_note(f"trial {seed}/{trial}: {text[:3000]}")
            raise
    return outcomes


def test_unchanged_explanations_hold_unless_unproved() -> None:
    kinds = Counter[str]()
    for subject in subjects(80):
        kinds[subject.e.status] += 1
        assert bool(subject.explainer.verify(subject.e)) == (subject.e.status != "unproved")
        again = Explanation.from_json(subject.e.to_json())
        assert again == subject.e
        if subject.e.status != "unproved":
            assert is_true(subject, again) == []
            assert again.verify(subject.case.predict)
    assert set(kinds) == {"optimal", "none", "stopped", "unproved"}


def test_changed_explanations_never_pass_for_true() -> None:
    outcomes = try_out(1_500, 80, "default")
    assert outcomes["refused"] > 300
    assert outcomes["failed"] > 200
    assert outcomes["still true"] > 3
    assert outcomes["not checked"] >= 3


@pytest.mark.campaign
def test_campaign_of_changed_explanations() -> None:
    outcomes = try_out(20_000, 400, "campaign")
    print(dict(outcomes))
    assert sum(outcomes.values()) == 20_000


def test_a_proof_of_another_row_is_not_one_of_this() -> None:
    found = EXPLAINER.verify(replace(explained(), proof=Proof(3, (0b111,), ())))
    assert not found
    assert found.problems[0].startswith("flipsets: they are not those of the proof")


def test_the_command_decides_as_whoever_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("narrow_scores.py").write_text(
        "import numpy as np\ndef f32(rows):\n    return (0.1 * rows['a'] + 0.1 * rows['b']).to_numpy(np.float32)\n"
        "def f64(rows):\n    return f32(rows).astype(np.float64)\n",
        encoding="utf-8",
    )
    Path("d.csv").write_text("a,b\n1,2\n9,9\n0,0\n", encoding="utf-8")
    given = ["d.csv", "--increasing", "a,b", "--threshold", "0.7"]
    common = ["--data", *given]
    assert _command("explain", "python:narrow_scores:f32", *given, "--row", "0", "--proof", "p.json") == 0
    assert _command("verify", "p.json", "python:narrow_scores:f32", *common) == 0
    limits = ["--fix", "b", "--bounds", "a=0:5"]
    assert _command("explain", "python:narrow_scores:f64", *given, *limits, "--row", "0", "--proof", "q.json") == 0
    assert _command("verify", "q.json", "python:narrow_scores:f64", *common, *limits) == 0
    assert _command("verify", "q.json", "python:narrow_scores:f32", *common, *limits) == 1


def test_a_journal_of_other_columns_is_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two_columns.py").write_text("def score(rows):\n    return rows['a'] - rows['b']\n", encoding="utf-8")
    Path("d.csv").write_text("a,b\n1,2\n9,9\n0,0\n", encoding="utf-8")
    given = ["d.csv", "--increasing", "a", "--decreasing", "b", "--threshold", "2", "--journal", "j.db"]
    assert _command("explain", "python:two_columns:score", *given, "--row", "0", "--proof", "p.json") == 0
    assert _command("verify", "p.json", "--journal", "j.db") == 0
    text = Path("p.json").read_text(encoding="utf-8").replace('"a"', '"y"').replace('"b"', '"x"')
    Path("q.json").write_text(text, encoding="utf-8")
    assert _command("verify", "q.json", "--journal", "j.db") == 2
    assert _command("verify", "p.json", "python:two_columns:score", "--journal", "j.db") == 0
    Path("two_columns.py").write_text("def score(rows):\n    ...\n\n\nother = score\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "two_columns")
    assert _command("verify", "p.json", "python:two_columns:score", "--journal", "j.db") == 2  # the module has changed
    assert _command("verify", "p.json", "python:two_columns:other", "--journal", "j.db") == 2


def _command(*arguments: str) -> int:
    from flipset.cli import main

    try:
        main(list(arguments))
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_c2_the_command_ends_within_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("constant_scores.py").write_text("def f(rows):\n    return [0.0] * len(rows)\n", encoding="utf-8")
    Path("e.json").write_text(json.dumps(hostile_explanation(12) | {"lower": None}), encoding="utf-8")
    given = ["verify", "e.json", "python:constant_scores:f"]
    assert _command(*given) == 0
    assert _command(*given, "--max-steps", "10") == 5
    assert "NOT DECIDED: not decided in 10 steps. Allow more with --max-steps" in " ".join(
        capsys.readouterr().out.split()
    )
    assert _command(*given, "--max-seconds", "0") == 5
    assert "NOT DECIDED: stopped before it was decided" in capsys.readouterr().out
    for wrong in (["--max-steps", "0"], ["--max-seconds", "-1"], ["--max-seconds", "nan"]):
        assert _command(*given, *wrong) == 2
