"""What an explanation rests on is compared with what the verifier knows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from xgboost import XGBClassifier

from flipset import Explainer, Explanation, Space
from flipset.results.basis import Fingerprints

RNG = np.random.default_rng(1)
TABLE = pd.DataFrame(RNG.integers(0, 10, (200, 2)).astype(float), columns=["a", "b"])
LABEL = (TABLE["a"] + TABLE["b"] + RNG.normal(0, 1, 200) > 9).astype(int)
FITTED = HistGradientBoostingClassifier(max_iter=10, monotonic_cst=[1, 1]).fit(TABLE, LABEL)
OTHER = HistGradientBoostingClassifier(max_iter=11, monotonic_cst=[1, 1]).fit(TABLE, LABEL)
EXPLAINER = Explainer(FITTED, TABLE)
E = EXPLAINER.explain([2.0, 3.0])


def test_the_same_model_is_recognised() -> None:
    assert EXPLAINER.verify(E).same_model is True
    assert str(EXPLAINER.verify(E)).startswith("This is the model of the explanation.")
    assert E.verify(FITTED, space=EXPLAINER.space, reference=TABLE).same_model is True


def test_another_model_is_a_problem_even_where_its_answers_agree() -> None:
    found = E.verify(OTHER, space=EXPLAINER.space, reference=TABLE)
    assert found.same_model is False
    assert found.problems[0].startswith("fingerprints.model: the explanation is about content-sha256:")
    assert str(found).startswith("This is NOT the model of the explanation.")


def test_another_version_that_wrote_the_file_is_named_and_is_no_problem() -> None:
    assert EXPLAINER.verify(E).other_version is None
    older = replace(E, fingerprints=replace(E.fingerprints, flipset="0.0.9\x1b[31m"))
    found = EXPLAINER.verify(older)
    assert found
    assert found.other_version == "0.0.9\x1b[31m"
    said = "Another version of flipset wrote the explanation: 0.0.9\\u001b[31m, and this is"
    assert said in " ".join(str(found).split())
    unknown = replace(E, fingerprints=replace(E.fingerprints, flipset=None))
    assert EXPLAINER.verify(unknown).other_version is None
    assert "Another version" not in str(EXPLAINER.verify(E))


def test_a_function_cannot_be_recognised_unless_it_has_an_identity() -> None:
    space = EXPLAINER.space

    def model(rows: Any) -> Any:
        return (rows["a"] + rows["b"]).to_numpy() / 20

    nameless = Explainer(model, space)
    assert nameless.verify(nameless.explain([2.0, 3.0])).same_model is None
    third = Explainer(model, space, identity="loans, version 3")
    e = third.explain([2.0, 3.0])
    assert e.fingerprints.model == "name:loans, version 3"
    assert third.verify(e).same_model is True
    assert Explainer(model, space, identity="loans, version 4").verify(e).same_model is False
    assert nameless.verify(e).same_model is None


def test_an_explanation_from_memory_is_recognised_by_the_file(tmp_path: Path) -> None:
    model = XGBClassifier(n_estimators=5, monotone_constraints={"a": 1, "b": 1}).fit(TABLE, LABEL)
    e = Explainer(model, TABLE).explain([2.0, 3.0])
    model.save_model(tmp_path / "model.ubj")
    assert Explainer(str(tmp_path / "model.ubj"), EXPLAINER.space).verify(e).same_model is True
    from_file = Explainer(str(tmp_path / "model.ubj"), EXPLAINER.space).explain([2.0, 3.0])
    assert from_file.fingerprints.model is not None
    assert from_file.fingerprints.model.startswith("sha256:")


@pytest.mark.parametrize("part", ["model", "space", "reference"])
def test_a_forged_fingerprint_is_found(part: str) -> None:
    known = getattr(E.fingerprints, part)
    forged = replace(E, fingerprints=replace(E.fingerprints, **{part: known[:-1] + ("0" if known[-1] != "0" else "1")}))
    assert any(problem.startswith(f"fingerprints.{part}") for problem in EXPLAINER.verify(forged).problems)


def test_a_basis_that_claims_too_much_is_found() -> None:
    space = Space.from_frame(TABLE, increasing=["a", "b"])
    explainer = Explainer(lambda rows: (rows["a"] + rows["b"]).to_numpy() / 20, space)
    e = explainer.explain([2.0, 3.0])
    for claimed in ("proved", "declared"):
        found = explainer.verify(replace(e, basis={**e.basis, "a": claimed}))
        assert found.problems == (f"basis: 'a' is '{claimed}' in the explanation, and 'assumed' for this model",)
    found = explainer.verify(replace(e, basis={**e.basis, "a": "audited"}, audited_pairs=100))
    assert found
    assert "an audit is not repeated" in found.not_checked["audited_pairs"]


def test_a_basis_that_claims_less_is_true() -> None:
    assert EXPLAINER.verify(replace(E, basis=dict.fromkeys(E.basis, "assumed")))


@pytest.mark.parametrize(
    "forged",
    [{"basis": {"a": "proved"}}, {"basis": {"a": "proved", "b": "proved", "c": "proved"}}, {"audited_pairs": 5}],
)
def test_the_parts_must_fit_together(forged: dict[str, Any]) -> None:
    assert EXPLAINER.verify(replace(E, **forged)).problems[0].split(":")[0] in ("basis", "audited_pairs")


def test_files_of_the_first_format_are_read_and_verified() -> None:
    import json

    data = json.loads(E.to_json())
    for name in ("basis", "audited_pairs", "contradicted", "fingerprints"):
        del data[name]
    data["format"] = "flipset-explanation/1"
    old = Explanation.from_json(json.dumps(data))
    assert old.basis == {"a": "assumed", "b": "assumed"}
    assert old.fingerprints == Fingerprints()
    assert EXPLAINER.verify(old)
    assert EXPLAINER.verify(old).same_model is None


def test_without_a_space_directions_follow_from_the_moves() -> None:
    def model(rows: Any) -> Any:
        return (rows[:, 0] + rows[:, 1]) / 20

    e = Explainer(lambda rows: model(rows.to_numpy()), Space.from_frame(TABLE, increasing=["a", "b"])).explain(
        [2.0, 3.0]
    )
    assert e.verify(model)
    forged = replace(e, basis=dict.fromkeys(e.basis, "proved"))
    assert forged.verify(model).problems[0] == "basis: 'a' is 'proved' in the explanation, and 'assumed' for this model"
    assert E.verify(FITTED, reference=TABLE)


def test_what_contradicts_must_be_able_to_move() -> None:
    assert not EXPLAINER.verify(replace(E, contradicted=("c",)))
    found = EXPLAINER.verify(replace(E, contradicted=("a",)))
    assert found
    assert "flipset audit" in found.not_checked["contradicted"]


def test_a_bound_that_says_nothing_is_no_proof_that_nothing_flips() -> None:
    import json

    data = json.loads(E.to_json())
    whole = list(range(len(data["moves"])))
    nothing: dict[str, Any] = {
        "flipsets": [],
        "counterfactuals": [],
        "grids": {},
        "upper": None,
        "size": None,
        "status": "none",
    }
    names = [[unit["name"] for unit in data["moves"]]]
    for lower in (1, 0, 2):
        forged = data | nothing | {"lower": lower, "reasons": names}
        forged["proof"] = data["proof"] | {"ones": [], "zeros_hold": [whole]}
        assert not EXPLAINER.verify(Explanation.from_json(json.dumps(forged)))


def test_counterfactuals_cannot_be_left_out_with_the_objective() -> None:
    assert not EXPLAINER.verify(replace(E, objective=None, counterfactuals=(), grids={}))


def test_models_of_the_same_name_and_other_content_are_told_apart() -> None:
    def fit(trees: int) -> Any:
        model = XGBClassifier(n_estimators=trees, monotone_constraints={"a": 1, "b": 1}).fit(TABLE, LABEL)
        return Explainer(model, EXPLAINER.space, identity="loans")

    e = fit(5).explain([2.0, 3.0])
    assert fit(5).verify(e).same_model is True
    assert "This is the model of the explanation." in str(fit(5).verify(e))
    found = fit(6).verify(e)
    assert found.same_model is False
    assert found.problems[0].startswith("fingerprints.model: the explanation is about content-sha256:")


def test_a_name_alone_is_called_a_name() -> None:
    explainer = Explainer(lambda rows: (rows["a"] + rows["b"]).to_numpy() / 20, EXPLAINER.space, identity="loans")
    found = explainer.verify(explainer.explain([2.0, 3.0]))
    assert found
    assert "By its name, this is the model of the explanation; the content was not compared." in " ".join(
        str(found).split()
    )
    assert found.not_checked["fingerprints"].startswith("the model has the same name")


FREE = XGBClassifier(n_estimators=10, max_depth=3).fit(TABLE, 1 - LABEL + (TABLE["b"] > 7) * (TABLE["a"] > 3) * LABEL)


def test_directions_that_the_model_contradicts_are_named_where_the_file_leaves_them_out() -> None:
    space = Space.from_frame(TABLE, increasing=["a", "b"])
    with pytest.warns(UserWarning, match="does not follow"):
        explainer = Explainer(FREE, space)
    assert set(explainer.monotonicity.contradicted) == {"a", "b"}
    e = replace(E, fingerprints=Fingerprints(), basis=dict.fromkeys(E.basis, "audited"), audited_pairs=100)
    for found in (explainer.verify(e), e.verify(FREE, space=space, reference=TABLE)):
        assert found.also_contradicted == ("a", "b")
        assert "this model does NOT follow these directions in every row: a, b." in " ".join(str(found).split())
    named = replace(e, contradicted=("a",))
    assert explainer.verify(named).also_contradicted == ("b",)
    assert EXPLAINER.verify(E).also_contradicted == ()
    assert "contradicted" in EXPLAINER.verify(E).checked
    # Without a space, no rows are tried, and that is said.
    bare = E.verify(FITTED, reference=TABLE)
    assert bare.also_contradicted == ()
    assert bare.not_checked["contradicted"] == "rows that contradict the directions were not looked for"
