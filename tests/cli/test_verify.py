"""`flipset verify`: its limit of time holds with a model that does not return, and while a file is read."""

import json
import sys
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, Space, cli
from tests.patience import PATIENCE

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "ab"])


def score(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1)


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    file = tmp_path / "proof.json"
    file.write_text(Explainer(score, SPACE, threshold=12).explain([1, 2]).to_json())
    return file


def verify(capsys: pytest.CaptureFixture[str], model: Any, *arguments: object) -> tuple[int, str, str]:
    module = ModuleType("blocked_model")
    vars(module)["score"] = model
    sys.modules[module.__name__] = module
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main(["verify", *map(str, arguments)])
    finally:
        del sys.modules[module.__name__]
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


@pytest.mark.filterwarnings("default")
def test_c6_a_verification_ends_although_the_model_does_not_return(
    capsys: pytest.CaptureFixture[str], proof: Path
) -> None:
    release = Event()

    def blocked(rows: Any) -> Any:
        release.wait(PATIENCE)
        return score(rows)

    try:
        code, out, err = verify(capsys, blocked, proof, "python:blocked_model:score", "--max-seconds", 0.5)
    finally:
        release.set()
    assert code == 5
    assert "NOT DECIDED: the model did not return within the" in " ".join(out.split())
    assert err.startswith("flipset: the model did not return within the")
    assert err.count("\n") == 1


def test_the_seconds_count_while_the_file_is_read(capsys: pytest.CaptureFixture[str], proof: Path) -> None:
    data = json.loads(proof.read_text())
    data["flipsets"] = [[]] * 200_000
    proof.write_text(json.dumps(data))
    code, out, err = verify(capsys, score, proof, "python:blocked_model:score", "--max-seconds", 0)
    assert (code, out) == (2, "")
    assert err == f"flipset: {proof} could not be read within --max-seconds: allow more\n"


def test_explanations_for_several_thresholds_must_have_one_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "grades.jsonl"
    grades = Explainer(score, SPACE).explain([1, 2], thresholds=[8, 12])
    file.write_text("".join(f"{e.to_json()}\n" for e in grades))
    code, out, _ = verify(capsys, score, file, "python:blocked_model:score", "--thresholds", "8,12")
    assert (code, "2 of 2 explanations" in out) == (0, True)
    code, out, _ = verify(capsys, score, file, "python:blocked_model:score", "--thresholds", "8,13")
    assert code == 1
    assert "threshold: the explanation has 12, and the thresholds are 8, 13" in " ".join(out.split())
