"""Forged lists of options: a larger option never passes for a smallest or a minimal one, nor a curve that rises."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Explanation, Feature, Space
from flipset.flipset_check import main

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcde"])


def score(rows: Any) -> Any:
    return (rows * [3, 2, 2, 1, 1]).sum(axis=1) / 60


EXPLAINER = Explainer(score, SPACE, threshold=0.5)
ROW = [0, 0, 0, 0, 0]


def explained(**request: Any) -> Any:
    return json.loads(EXPLAINER.explain(ROW, **request).to_json())


WHOLE = explained(options=2, more=2, curve=True)


def read(data: Any) -> Explanation:
    return Explanation.from_json(json.dumps(data))


def forged(change: Callable[[Any], None]) -> Any:
    data = json.loads(json.dumps(WHOLE))
    change(data)
    return data


def checked_alone(tmp_path: Path, data: Any) -> int:
    (tmp_path / "why.json").write_text(json.dumps(data), encoding="utf-8")
    return main([str(tmp_path / "why.json")])


def test_what_is_true_is_confirmed(tmp_path: Path) -> None:
    for request in ({"options": 1}, {"options": 2, "diverse": True}, {"more": 3}, {"curve": True}, {"more": 90}):
        data = explained(**request)
        assert EXPLAINER.verify(read(data)), request
        assert read(data).verify(score), request
        assert checked_alone(tmp_path, data) == 0, request
    found = EXPLAINER.verify(read(WHOLE))
    assert {"max_options", "larger", "curve"} <= set(found.checked)
    assert {"diverse", "more", "larger_end", "curve_end", "larger[].cost_at_least"} <= set(found.not_checked)


def another_smallest(data: Any) -> None:
    data["larger"][0] = data["counterfactuals"][0]


def put_larger_first(data: Any) -> None:
    data["larger"].reverse()
    data["larger"][0]["cost"] += 1


def call_larger_smallest(data: Any) -> None:
    data["counterfactuals"][1] = data["larger"].pop()


def drop_an_option(data: Any) -> None:
    data["counterfactuals"].pop()


def list_one_twice(data: Any) -> None:
    data["larger"][1] = data["larger"][0]


def claim_enough(data: Any) -> None:
    data["larger"].pop()


def rise(data: Any) -> None:
    data["curve"][1]["counterfactual"]["cost"] += 1


def skip_a_number(data: Any) -> None:
    data["curve"][1]["changes"] += 1


def begin_elsewhere(data: Any) -> None:
    data["curve"].pop(0)


def change_too_much(data: Any) -> None:
    data["curve"][0]["counterfactual"] = data["larger"][0]


def forget_the_wish(data: Any) -> None:
    del data["more"]


def diverse_among_all(data: Any) -> None:
    del data["max_options"]
    data["diverse"] = True


FORGERIES = [
    another_smallest, put_larger_first, call_larger_smallest, drop_an_option, list_one_twice, claim_enough, rise,
    skip_a_number, begin_elsewhere, change_too_much, forget_the_wish, diverse_among_all,
]  # fmt: skip


@pytest.mark.parametrize("change", FORGERIES, ids=lambda change: str(change.__name__))
def test_every_forgery_is_found(change: Callable[[Any], None], tmp_path: Path) -> None:
    data = forged(change)
    if change is not put_larger_first:  # a forged cost needs the space
        assert not read(data).verify(score)
        assert checked_alone(tmp_path, data) == 1
    assert not EXPLAINER.verify(read(data))


def test_an_option_of_which_a_part_is_enough_is_found_by_asking(tmp_path: Path) -> None:
    # For another model, which agrees with the proof, two of the three changes are enough.
    data = explained(more=1)
    part = data["larger"][0]["flipset"][:2]

    def generous(rows: Any) -> Any:
        both = (rows[:, ["abcde".index(name) for name in part]] == 9).all(axis=1) & (rows.sum(axis=1) == 18)
        return score(rows) + both

    found = read(data).verify(generous)
    assert any("is not minimal" in problem for problem in found.problems) or not found
    rows, scores = tmp_path / "rows.csv", tmp_path / "scores.csv"
    (tmp_path / "why.json").write_text(json.dumps(data), encoding="utf-8")
    assert main([str(tmp_path / "why.json"), "--rows", str(rows)]) == 0
    lines = [line.split(",") for line in rows.read_text(encoding="utf-8").splitlines()[1:]]
    table = np.array([[float(cell) for cell in cells] for _, *cells in lines])
    for model, code in ((score, 0), (generous, 1)):
        answers = zip((one for one, *_ in lines), model(table).tolist(), strict=True)
        scores.write_text("id,score\n" + "".join(f"{one},{answer}\n" for one, answer in answers), encoding="utf-8")
        assert main([str(tmp_path / "why.json"), "--scores", str(scores)]) == code


def test_files_of_before_are_read() -> None:
    data = explained()
    assert not {"max_options", "diverse", "more", "larger", "curve", "curve_end", "larger_end"} & set(data)
    e = read(data)
    assert (e.max_options, e.diverse, e.more, e.larger, e.curve) == (None, False, None, (), ())
    assert read(WHOLE) == EXPLAINER.explain(ROW, options=2, more=2, curve=True)
