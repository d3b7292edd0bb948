"""The checker of its own: it runs anywhere, decides as brute force does, and no file makes it fail."""

import ast
import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flipset import Explainer, Explanation, Feature, InputError, Space, flipset_check
from flipset.flipset_check import main
from tests.hostile import hostile_explanation, json_files
from tests.results.verifying.mutations import draw_subject

SOURCE = Path(flipset_check.__file__)
SUBJECTS = [subject for subject in map(draw_subject, range(40)) if subject is not None]
SPACE = Space(
    [
        Feature("income", "integer", direction=+1, lower=0, upper=100),
        Feature("debt", "integer", direction=-1, lower=0, upper=100),
        Feature("kind", "categorical", options=("a", "b", "c"), missing=True),
        Feature("age", fixed=True),
    ]
)


def score(row: Any) -> float:
    income, debt, kind, _ = row
    return float(float(income) - float(debt) + 20 * (kind == "b")) / 100


EXPLAINER = Explainer(lambda rows: [score(row) for row in rows], SPACE, threshold=0.75)


def explained(income: Any = 40, debt: Any = 30, kind: Any = "a", age: Any = 50, **request: Any) -> Any:
    data = json.loads(EXPLAINER.explain([income, debt, kind, age], **request).to_json())
    more = ("basis", "audited_pairs", "contradicted", "fingerprints")
    return {name: field for name, field in data.items() if name not in more} | {"format": "flipset-explanation/1"}


def as_2(data: Any, basis: dict[str, str], pairs: int | None = None) -> Any:
    prints = {"model": "sha256:0a1b", "space": None, "reference": None, "flipset": "0.1.0"}
    more: dict[str, Any] = {"basis": basis, "audited_pairs": pairs, "contradicted": [], "fingerprints": prints}
    return data | {"format": "flipset-explanation/2"} | more


def write(path: Path, *documents: Any) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return str(path)


def write_scores(rows: Path, path: Path, changed: dict[int, Any] | None = None) -> str:
    """Score a file of rows as somebody without flipset would; `changed` has other scores, by row."""
    with rows.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    answers = [[one, (changed or {}).get(i, score(cells))] for i, (one, *cells) in enumerate(lines)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "score"], *answers])
    return str(path)


# --- as a command -----------------------------------------------------------------------------------------------------


def test_it_runs_alone_outside_any_environment(tmp_path: Path) -> None:
    shutil.copy(SOURCE, tmp_path / "flipset_check.py")
    write(tmp_path / "why.json", explained())

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-I", str(tmp_path / "flipset_check.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    alone = run("why.json")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout.startswith("CONSISTENT. Decision: declined (score 0.1, threshold 0.75). Changes needed: 2.")
    assert "whether the model agrees" in alone.stdout
    rows = run("why.json", "--rows", "rows.csv")
    assert (rows.returncode, rows.stderr) == (0, "")
    write_scores(tmp_path / "rows.csv", tmp_path / "scores.csv")
    confirmed = run("why.json", "--scores", "scores.csv", "--threshold", "0.75")
    assert (confirmed.returncode, confirmed.stderr) == (0, "")
    assert confirmed.stdout.startswith("CONFIRMED. ")
    assert "whether the" not in confirmed.stdout
    write_scores(tmp_path / "rows.csv", tmp_path / "scores.csv", {1: 0.2})
    wrong = run("why.json", "--scores", "scores.csv")
    assert wrong.returncode == 1
    assert "counterfactuals[0]: it must flip the decision, and the model's score is 0.2" in wrong.stdout
    assert run("nothing.json").returncode == 2


def test_files_that_cannot_be_opened_are_named_in_plain_words(tmp_path: Path) -> None:
    shutil.copy(SOURCE, tmp_path / "flipset_check.py")
    write(tmp_path / "why.json", explained())
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes.csv").write_bytes(b"id,score\nr1,\xff\n")
    (tmp_path / "closed.json").write_text("{}", encoding="utf-8")
    (tmp_path / "closed.json").chmod(0)
    cases = {
        "nothing.json": "there is no file nothing.json",
        "folder": "folder is a folder, and must be a file",
        "why.json/why.json": "why.json/why.json is not a file: a part of its path is no folder",
        "n" * 300: f"{'n' * 300} cannot be read or written",
        "why.json --scores nothing.csv": "there is no file nothing.csv",
        "why.json --scores folder": "folder is a folder, and must be a file",
        "why.json --scores bytes.csv": "bytes.csv is not text in UTF-8",
        "why.json --rows away/rows.csv": "there is no folder away",
        "why.json --rows folder": "folder exists already, and is not overwritten: give another name",
        "why.json --rows why.json": "why.json exists already, and is not overwritten: give another name",
        "why.json --tolerance -1": "--tolerance must be a number of at least 0, got -1.0",
        "why.json --tolerance nan": "--tolerance must be a number of at least 0, got nan",
        "why.json --max-steps 0": "--max-steps must be at least 1, got 0",
    }
    if not os.access(tmp_path / "closed.json", os.R_OK):  # the superuser may read it
        cases["closed.json"] = "closed.json cannot be opened: this user has no permission"
    for arguments, words in cases.items():
        command = [sys.executable, "-S", "-I", "flipset_check.py", *arguments.split()]
        found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (found.returncode, found.stderr) == (2, f"flipset_check: {words}\n"), arguments


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "x", "a.json"), "a.json cannot be opened: this user has no permission"),
        (OSError(28, "x", "a.csv"), "a.csv cannot be written: no space is left"),
        (OSError(28, "x"), "the output cannot be written: no space is left"),
        (OSError(5, "x", "a.json"), "a.json cannot be read or written"),
    ],
)
def test_errors_of_the_system_are_not_quoted(error: OSError, words: str) -> None:
    assert flipset_check.in_words(error) == words


def test_it_imports_the_standard_library_alone() -> None:
    names: set[str] = set()
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module or "")
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
    text = SOURCE.read_text(encoding="utf-8")
    assert not [word for word in ("eval(", "exec(", "__import__", "pickle", "import flipset") if word in text]


def test_every_row_with_a_wrong_score_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = explained(fixed=["kind"])  # where all columns have an order, every row counts
    why, rows, scores = write(tmp_path / "why.json", data), tmp_path / "rows.csv", tmp_path / "scores.csv"
    assert main([why, "--rows", str(rows)]) == 0
    count = len(rows.read_text(encoding="utf-8").splitlines()) - 1
    assert count > 3
    for i in range(count):
        # One of them is another decision than the row's.
        both = [main([why, "--scores", write_scores(rows, scores, {i: other})]) for other in (5, "-inf")]
        assert 1 in both, i
    capsys.readouterr()
    assert main([why, "--scores", write_scores(rows, scores, {0: 0.1 + 1e-4})]) == 1
    assert "the row: its score is 0.1 in the file, and the model's score is 0.1001" in capsys.readouterr().out
    assert main([why, "--scores", str(scores), "--tolerance", "0.001"]) == 0
    assert main([why, "--threshold", "0.5"]) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,score\n", "has no score for r"),
        ("", "the last must be 'score'"),
        ("id,value\n", "the last must be 'score'"),
        ("id,score\nr1,nan\n", "line 2: the last column must be a score, got 'nan'"),
        ("id,score\nr1,1\n\nr1,2\n", "line 4: 'r1' has another score before"),
        ("id,score\nr1," + "9" * 200_000 + "\n", "line 2: it is not CSV, or a cell is too long"),
    ],
)
def test_scores_that_are_none_are_refused(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scores.csv").write_text(text, encoding="utf-8")
    assert main([write(tmp_path / "why.json", explained()), "--scores", str(tmp_path / "scores.csv")]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert (output.out, output.err.count("\n")) == ("", 1)


def test_scores_may_be_decisions_and_stand_behind_the_rows(tmp_path: Path) -> None:
    space = Space([Feature(name, "binary", direction=+1) for name in "ab"])
    e = Explainer(lambda rows: rows.sum(axis=1) >= 2, space).explain([0, 0])
    (tmp_path / "why.json").write_text(e.to_json(), encoding="utf-8")
    rows = tmp_path / "rows.csv"
    assert main([str(tmp_path / "why.json"), "--rows", str(rows)]) == 0
    head, *lines = rows.read_text(encoding="utf-8").splitlines()
    wide = [f"{head},score", *(f"{line},{line.endswith('1,1')}" for line in lines)]
    (tmp_path / "scores.csv").write_text("\ufeff" + "\n".join(wide), encoding="utf-8")
    assert main([str(tmp_path / "why.json"), "--scores", str(tmp_path / "scores.csv")]) == 0


def test_a_table_has_one_result_for_each_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, other, lie = explained(), explained(80, 0), explained() | {"size": 1}
    table = tmp_path / "table.jsonl"
    write(table, good, other, good)
    assert main([str(table)]) == 0
    assert capsys.readouterr().out == (
        "Lines: 3; not confirmed: 0, malformed: 0, not decided: 0, without explanation: 0, consistent: 3, "
        "confirmed: 0\n"
    )
    assert main([str(table), "--rows", str(tmp_path / "rows.csv")]) == 0
    scores = write_scores(tmp_path / "rows.csv", tmp_path / "scores.csv")
    assert main([str(table), "--scores", scores]) == 0
    assert "confirmed: 3" in capsys.readouterr().out
    write(table, good, lie, {"error": "no row"}, {"format": 3})
    assert main([str(table)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("line 2: NOT CONFIRMED: size, lower: they are 1, 2; the proof says 2")
    assert lines[1:3] == [
        "line 3: there is no explanation, only an error",
        'line 4: MALFORMED: "format" must be "flipset-explanation/1" or "flipset-explanation/2", got 3',
    ]
    assert lines[3].startswith("Lines: 4; not confirmed: 1, malformed: 1, not decided: 0, without explanation: 1")
    write(table, good, [])
    assert main([str(table)]) == 2
    write(table, good, {"error": "no row"})
    assert main([str(table)]) == 0


# --- formats and cells ------------------------------------------------------------------------------------------------


def test_format_2_says_what_the_proof_rests_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    basis = {"income": "proved", "debt": "audited", "kind": "assumed"}
    assert main([write(tmp_path / "why.json", as_2(explained(), basis, 12_000))]) == 0
    out = capsys.readouterr().out
    assert (
        "Proved, given that the model agrees with the proof and the score follows the declared directions: income "
        "(proved from the model); debt (audited: 12,000 pairs, none in the wrong order); kind (taken on trust).\n"
        "The weakest basis: taken on trust. All of this is what the file says.\n"
        "Made with: model sha256:0a1b, space not known, reference not known, flipset 0.1.0.\n"
    ) in out
    assert main([write(tmp_path / "why.json", explained())]) == 0
    assert "Format 1 does not say what they rest on" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        {"basis": {"income": "proved", "debt": "proved"}},
        {"basis": {"income": "proved", "debt": "proved", "kind": "proved", "age": "proved"}},
        {"basis": {"income": "proved", "debt": "proved", "kind": "sure"}},
        {"audited_pairs": 5},
        {"audited_pairs": 0},
        {"basis": {"income": "proved", "debt": "proved", "kind": "audited"}},
        {"fingerprints": {"model": "a", "space": None, "reference": None}},
        {"fingerprints": {"model": 1, "space": None, "reference": None, "flipset": "1"}},
        {"format": "flipset-explanation/1"},
        {"format": "flipset-explanation/3"},
    ],
)
def test_format_2_has_its_fields_and_no_others(change: Any, tmp_path: Path) -> None:
    data = as_2(explained(), {"income": "proved", "debt": "declared", "kind": "assumed"})
    assert main([write(tmp_path / "why.json", data)]) == 0
    assert main([write(tmp_path / "why.json", data | change)]) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"id": {}},
        {"id": None},
        {"own_bounds": None},
        {"own_bounds": {}},
        {"diverse": None},
        {"words": None},
        {"words": {"decision": {"outcomes": ["yes"]}, "features": {}}},
        {"words": {"decision": {"outcomes": ["yes", "yes"]}, "features": {}}},
        {"words": {"decision": {"outcome_nouns": ["a", " "]}, "features": {}}},
        {"words": {"decision": {"score_label": ""}, "features": {}}},
        {"words": {"decision": {"threshold": None}, "features": {}}},
    ],
)
def test_both_readers_refuse_the_same_ids_and_words(change: Any, tmp_path: Path) -> None:
    data = explained() | change
    assert main([write(tmp_path / "why.json", data)]) == 2
    with pytest.raises(InputError):
        Explanation.from_json(json.dumps(data))


def test_a_curve_whose_options_are_all_too_large_is_not_confirmed(tmp_path: Path) -> None:
    data = explained(curve=True)
    data["curve"][0]["changes"] = 0
    assert main([write(tmp_path / "why.json", data)]) == 1


def test_cells_of_every_type_are_written_as_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = {
        "inf": {"float": "inf"}, "nan": {"float": "nan"}, "2026-01-31": {"date": "2026-01-31"}, "": None, "true": True,
        "2026-01-31T12:30:00": {"datetime": "2026-01-31T12:30:00"}, "1.10": {"decimal": "1.10"}, "0.1": 0.1,
        "a,b": "a,b",
    }  # fmt: skip
    for number, (text, cell) in enumerate(cells.items()):
        data = explained()
        for row in (data["row"], *(one["row"] for one in data["counterfactuals"])):
            row["age"] = cell
        rows = tmp_path / f"{number}.csv"
        assert main([write(tmp_path / "why.json", data), "--rows", str(rows)]) == 0
        with rows.open(encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        assert head == ["id", "income", "debt", "kind", "age"]
        assert {line[4] for line in lines} == {text}
        assert len({line[0] for line in lines}) == len(lines)
    assert main([str(tmp_path / "why.json"), "--rows", str(rows)]) == 2
    assert "exists already, and is not overwritten: give another name" in capsys.readouterr().err
    for cell in ("", "a\0b"):
        data = explained()
        for row in (data["row"], *(one["row"] for one in data["counterfactuals"])):
            row["age"] = cell
        assert main([write(tmp_path / "why.json", data), "--rows", str(tmp_path / "new.csv")]) == 2
        assert "which CSV cannot carry" in capsys.readouterr().err
        assert not (tmp_path / "new.csv").exists()


def test_a_column_may_be_called_id(tmp_path: Path) -> None:
    space = Space([Feature("id", "binary", direction=+1)])
    e = Explainer(lambda rows: rows[:, 0] > 0, space).explain([0])
    (tmp_path / "why.json").write_text(e.to_json(), encoding="utf-8")
    assert main([str(tmp_path / "why.json"), "--rows", str(tmp_path / "rows.csv")]) == 0
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").startswith("row_id,id\nr")


# --- files of strangers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "[" * 200_000, '{"a":' * 100_000, "9" * 10_000, '{"a": 1e999}', '{"a": NaN}', '{"a": 1, "a": 1}',
     '"\\ud800"', "\xff", "null", "3", '{"format": "flipset-explanation/1"}', '{"error": "no row"}',
     '{"format": "flipset-explanation/2", "\\ud800": 1}'],
)  # fmt: skip
def test_texts_that_are_no_explanation_are_one_line_and_exit_code_2(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "why.json").write_bytes(text.encode("latin-1"))
    assert main([str(tmp_path / "why.json")]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("flipset_check: ")
    assert output.err.count("\n") == 1
    assert output.err.isascii()


def with_sets(data: Any, ones: list[list[int]], held: list[list[int]]) -> Any:
    """Return an explanation with the sets of a proof, by number and by name."""
    names = [unit["name"] for unit in data["moves"]]

    def named(sets: list[list[int]]) -> list[list[str]]:
        return [[names[i] for i in one] for one in sorted(map(sorted, sets), key=lambda one: (len(one), one))]

    proof = data["proof"] | {"ones": ones, "zeros_hold": held}
    return data | {"proof": proof, "flipsets": named(ones), "reasons": named(held)}


def test_checks_end_within_their_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = Random(0)
    held = sorted({tuple(sorted(rng.sample(range(100), 8))) for _ in range(300)})
    slow = with_sets(hostile_explanation(100, lower=24), [], [list(one) for one in held])
    assert main([write(tmp_path / "slow.json", slow), "--max-steps", "200000"]) == 3
    assert capsys.readouterr().out == "NOT DECIDED in 200,000 steps. Allow more with --max-steps.\n"
    blocks = with_sets(hostile_explanation(12, options=10, lower=None), [], [[0]])
    assert main([write(tmp_path / "blocks.json", blocks)]) == 0
    assert main([str(tmp_path / "blocks.json"), "--rows", str(tmp_path / "rows.csv"), "--max-steps", "200000"]) == 3
    assert not (tmp_path / "rows.csv").exists()
    assert main([write(tmp_path / "table.jsonl", slow, explained()), "--max-steps", "200000"]) == 3


def test_wide_files_are_checked_and_larger_ones_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = write(tmp_path / "wide.json", hostile_explanation(3_000, lower=None))
    assert main([wide]) == 0
    sets = write(tmp_path / "sets.json", with_sets(hostile_explanation(300, lower=None), [], [[i] for i in range(300)]))
    assert main([sets]) == 0
    for name, most, file in (
        ("MOST_UNITS", 2_999, wide),
        ("MOST_BYTES", 99_999, wide),
        ("MOST_VALUES", 9_999, wide),
        ("MOST_BITS", 89_999, sets),
        ("MOST_TEXT", 2, sets),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(flipset_check, name, most)
            assert main([file]) == 2, name


@pytest.mark.parametrize(
    "seeds", [range(300), pytest.param(range(300, 6_000), marks=pytest.mark.campaign)], ids=["some", "many"]
)
def test_spoiled_files_end_in_an_exit_code(seeds: range, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("id,score\nr1,1\n", encoding="utf-8")
    codes: Counter[int] = Counter()
    for seed in seeds:
        rng = Random(f"spoiled/{seed}")
        subject = rng.choice(SUBJECTS)
        file = tmp_path / rng.choice(["why.json", "table.jsonl"])
        file.write_bytes(json_files(subject.data, rng).encode("utf-8", "surrogatepass"))
        rows = tmp_path / f"{seed}.csv"
        code = main(
            [str(file), "--max-steps", "20000", *rng.choice([[], ["--rows", str(rows)], ["--scores", str(scores)]])]
        )
        output = capsys.readouterr()
        assert output.err.count("\n") <= 1, (seed, output.err)
        codes[code] += 1
    assert set(codes) <= {0, 1, 2, 3}
    assert min(codes[0], codes[1], codes[2]) > 5, codes


def test_a_bound_that_says_nothing_is_no_proof_that_nothing_flips(tmp_path: Path) -> None:
    data = explained()
    whole = list(range(len(data["moves"])))
    nothing: dict[str, Any] = {
        "flipsets": [],
        "counterfactuals": [],
        "grids": {},
        "upper": None,
        "size": None,
        "status": "none",
    }
    reasons = [[unit["name"] for unit in data["moves"]]]
    for lower in (0, 1, 1e-9):
        forged = data | nothing | {"lower": lower, "reasons": reasons}
        forged["proof"] = data["proof"] | {"ones": [], "zeros_hold": [whole]}
        assert main([write(tmp_path / "why.json", forged)]) == 1


def test_counterfactuals_cannot_be_left_out_with_the_objective(tmp_path: Path) -> None:
    assert main([write(tmp_path / "why.json", explained() | {"objective": None, "counterfactuals": []})]) == 1
