"""The command line, end to end: the installed script, on files that each library really wrote."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import skops.io

from flipset import Explanation, Space
from tests.models.test_models import DOWN, Y, fit_catboost, fit_hgb, fit_lgbm, fit_xgb
from tests.models.test_models import X as TABLE

SCRIPT = Path(sys.executable).with_name("flipset")
PLAIN = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}


def flipset(*arguments: object, cwd: Path, text: str | None = None, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        input=text,
        check=False,
        env=PLAIN | env,
    )


MINE = """
def score(rows):
    return 1.0 - rows["radius"] / 30

def mixed(rows):
    return rows["a"] >= 2

def big(rows):
    return (rows["id"] % 2 == 0) & (rows["x"] >= 1)

def signs(rows):
    return [-1 if a >= 2 else 1 for a in rows["a"]]

def both(rows):
    return rows["a"] + rows["b,c"] >= 4
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("files")
    fit_xgb().save_model(where / "model.ubj")
    fit_lgbm().booster_.save_model(where / "model.txt")
    fit_catboost().save_model(where / "model.cbm")
    skops.io.dump(fit_hgb(), where / "model.skops")
    table = TABLE.iloc[::6].assign(
        id=range(0, len(TABLE), 6), benign=Y.iloc[::6], clinic=["north", "south"] * 47 + ["n"]
    )
    table.to_csv(where / "table.csv", index=False)
    table.to_csv(where / "table.csv.gz", index=False)
    table.to_parquet(where / "table.parquet")
    table.to_json(where / "table.jsonl", orient="records", lines=True)
    table.reset_index(drop=True).to_feather(where / "table.arrow")
    (where / "mine.py").write_text(MINE, encoding="utf-8")
    return where


def told(done: "subprocess.CompletedProcess[str]", code: int = 0) -> str:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("model.txt", "table.csv.gz"),
        ("model.cbm", "table.parquet"),
        ("model.skops", "table.jsonl"),
        ("model.txt", "table.arrow"),
    ],
)
def test_explain_says_what_the_library_says(model: str, data: str, folder: Path) -> None:
    from flipset import Explainer, load_model

    out = told(flipset("explain", model, data, "--row", 3, "--json", cwd=folder))
    e = Explanation.from_json(out)
    loaded, table = load_model(folder / model), pd.read_csv(folder / "table.csv")
    expected = Explainer(loaded, table).explain(table.iloc[3])
    assert (e.decision, e.flipsets, e.reasons) == (expected.decision, expected.flipsets, expected.reasons)


def test_explain_in_words_at_80_columns(folder: Path) -> None:
    out = told(flipset("explain", "model.txt", "table.csv", "--where", "id == 0", cwd=folder))
    assert out.splitlines()[0].startswith("Decision: declined (score ")
    assert re.search(r"changes? (is|are) enough; there (is|are) \d+ options?", out)
    assert "Each of these alone is enough to keep the decision" in " ".join(out.split())
    assert "Proved, given that the score" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    again = told(flipset("explain", "model.txt", "-", "--row", 0, cwd=folder, text=(folder / "table.csv").read_text()))
    assert again == out


TOLD = """\
Decision: declined (score 0; approval needs at least 0.5)

2 changes are enough; there is 1 option:
  1. cost 1.25, new score 1
      a: 0 → at least 3
      a feature with a rather long name that goes on and on: 0 → at least 2

Reasons. Each of these alone is enough to keep the decision, whatever else
changes:
  * a
  * a feature with a rather long name that goes on and on

Held fixed: first column that is held fixed, second column that is held fixed,
  third column that is held fixed

Proved, given that the score rises with a and a feature with a rather long name
that goes on and on (taken on trust): no single change is enough, and there is
no other option with 2 changes (3 queries replay the proof).
10 queries in 4 calls of the model.
"""
LONG = """
def score(rows):
    return (rows["a"] >= 3) & (rows["a feature with a rather long name that goes on and on"] >= 2)
"""


@pytest.mark.parametrize("columns", ["80", "120"])
def test_the_words_are_these(columns: str, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG, encoding="utf-8")
    name = "a feature with a rather long name that goes on and on"
    table = pd.DataFrame({"a": [0, 1, 2, 3], name: [0, 1, 2, 3]})
    for held in ("first", "second", "third"):
        table[f"{held} column that is held fixed"] = [1, 2, 3, 4]
    table.to_csv(tmp_path / "long.csv", index=False)
    command = ("explain", "python:long:score", "long.csv", "--row", 0, "--increasing", f"a,{name}")
    said = told(flipset(*command, cwd=tmp_path, COLUMNS=columns))
    assert max(map(len, said.splitlines())) <= int(columns)
    assert " ".join(said.split()) == " ".join(TOLD.split())  # wider lines, the same words
    assert columns != "80" or said == TOLD


def test_options_say_what_may_change(folder: Path) -> None:
    def sets(*options: object, code: int = 0) -> Any:
        done = flipset("explain", "model.ubj", "table.csv", "--row", 0, "--json", *options, cwd=folder)
        return json.loads(told(done, code))

    down = ("--decreasing", ",".join(DOWN))
    free = sets(*down)
    assert free["flipsets"]
    first = free["flipsets"][0][0]
    assert first in sets(*down, "--fix", first)["held_fixed"]
    tight = sets(*down, "--bounds", f"{first}=20:", "--step", "texture=0.5")
    assert all(c["row"][first] >= 17 for c in tight["counterfactuals"])
    assert sets(*down, "--max-changes", 1)["status"] in ("optimal", "none")
    assert sets(*down, "--max-queries", 2, code=5)["status"] == "stopped"


def test_a_space_is_written_edited_and_used(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    told(flipset("space", "model.txt", "table.csv", "-o", file, cwd=folder))
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Which features may change")
    assert Space.from_toml(text).names == tuple(DOWN)
    file.write_text(text.replace('name = "radius"', 'name = "radius"\nfixed = true'), encoding="utf-8")
    out = told(flipset("explain", "model.txt", "table.csv", "--row", 0, "--space", file, "--json", cwd=folder))
    assert "radius" in json.loads(out)["held_fixed"]


def test_rules_that_hold_are_written_as_comments(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def score(rows):\n    return rows['income'] / 100 - rows['late_90'] / 9\n")
    late = [n % 4 * (n % 3 > 0) for n in range(300)]
    more = [n + i % 5 % 3 for i, n in enumerate(late)]
    kind = ["car" if n else "none" for n in more]
    table = pd.DataFrame({"income": range(300), "late_90": late, "late_60": more, "kind": kind})
    table.loc[7, "late_90"] = -9
    table.to_csv(tmp_path / "loans.csv", index=False)
    given = ["python:mine:score", "loans.csv", "--increasing", "income", "--special", "late_90=-9"]
    given += ["--decreasing", "late_90,late_60", "--categorical", "kind"]
    plain = told(flipset("space", *given, cwd=tmp_path))
    assert "# constraints = [\n" not in plain
    told(flipset("space", *given, "--suggest", "-o", "space.toml", cwd=tmp_path))
    text = (tmp_path / "space.toml").read_text(encoding="utf-8")
    rules = text.partition("# constraints = [\n")[2].partition("# ]\n")[0].splitlines()
    assert '#   "late_90 <= late_60",  # holds in 299 rows' in rules
    assert "#   'kind == \"none\" implies late_60 == 0',  # holds in 300 rows" in rules
    # They have no effect as they stand; with the comment signs removed, they are a key of the whole file.
    assert Space.from_toml(text) == Space.from_toml(plain)
    lines = text.splitlines()
    start, end = lines.index("# constraints = ["), lines.index("# ]")
    accepted = [line[2:] if start <= i <= end else line for i, line in enumerate(lines)]
    assert tomllib.loads("\n".join(accepted))["constraints"][0] == "late_90 <= late_60"


def test_a_model_of_ones_own(folder: Path) -> None:
    out = told(
        flipset("explain", "python:mine:score", "table.csv", "--row", 0, "--decreasing", "radius",
                "--drop", "id,benign,clinic", cwd=folder)
    )  # fmt: skip
    assert "radius" in out


def test_a_proof_is_replayed_and_a_false_one_is_not_believed(folder: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    told(flipset("explain", "model.skops", "table.csv", "--row", 0, "--proof", proof, cwd=folder))
    alone = told(flipset("verify", proof, "model.skops", cwd=folder))
    assert "CONFIRMED, with the allowed ranges (give --space) taken from the file, given that the score" in " ".join(
        alone.split()
    )
    assert "PROVED" not in alone
    out = told(flipset("verify", proof, "model.skops", "--data", "table.csv", cwd=folder))
    assert "PROVED" in out
    for words in (
        "Decision: ",
        "approval needs more than 50 %",
        "Features that may change, and how far:",
    ):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80
    assert "NOT CONFIRMED" in told(flipset("verify", proof, "model.cbm", cwd=folder), 1)
    refused_threshold = told(flipset("verify", proof, "model.skops", "--threshold", 0.7, cwd=folder), 1)
    assert "threshold: the explanation has more than 0.5, and --threshold says 0.7" in refused_threshold
    data = json.loads(proof.read_text(encoding="utf-8"))
    data["flipsets"] = data["flipsets"][:-1]
    proof.write_text(json.dumps(data), encoding="utf-8")
    assert "NOT CONFIRMED" in told(flipset("verify", proof, "model.skops", cwd=folder), 1)
    proof.write_text("{}", encoding="utf-8")
    assert "an explanation must be an object" in refused(flipset("verify", proof, "model.skops", cwd=folder))


def test_c1_a_proof_is_compared_with_the_space_that_is_given(folder: Path, tmp_path: Path) -> None:
    proof, space = tmp_path / "proof.json", tmp_path / "space.toml"
    told(flipset("space", "model.skops", "table.csv", "-o", space, cwd=folder))
    given = ("model.skops", "--space", space)
    told(flipset("explain", "model.skops", "table.csv", "--space", space, "--row", 0, "--proof", proof, cwd=folder))
    assert "PROVED" in told(flipset("verify", proof, *given, "--data", "table.csv", cwd=folder))
    bare = told(flipset("verify", proof, *given, cwd=folder))
    assert "PROVED" in bare  # costs and grids need the table; the proof does not
    assert "counterfactuals[].cost: the table is not given" in bare
    fewer = told(flipset("verify", proof, *given, "--data", "table.csv", "--fix", "radius", cwd=folder), 1)
    assert "NOT CONFIRMED" in fewer
    assert "held_fixed: " in fewer
    assert "--fix needs --data" in refused(flipset("verify", proof, *given, "--fix", "radius", cwd=folder))
    data = json.loads(proof.read_text(encoding="utf-8"))
    data["counterfactuals"][0]["cost"] += 1
    proof.write_text(json.dumps(data), encoding="utf-8")
    assert "].cost: it is" in told(flipset("verify", proof, *given, "--data", "table.csv", cwd=folder), 1)


def test_an_audit_ends_in_an_exit_code(folder: Path) -> None:
    proved = told(flipset("audit", "model.txt", "table.csv", "--budget", 2_000, cwd=folder))
    assert "every direction is proved, and nothing is left to compare" in proved
    every = told(flipset("audit", "model.txt", "table.csv", "--budget", 2_000, "--everything", cwd=folder))
    assert "no contradiction found" in every
    assert "at 95 % confidence, at most" in every
    wrong = flipset("audit", "python:mine:score", "table.csv", "--increasing", "radius", "--drop", "id,benign,clinic",
                    "--budget", 500, cwd=folder)  # fmt: skip
    assert "NOT MONOTONE" in told(wrong, 1)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_table_by_group(ending: str, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / f"out.{ending}"
    out = told(flipset("table", "model.txt", "table.csv", "-o", file, "--by", "clinic", "--limit", 20, cwd=folder))
    assert out.startswith("20 rows: 12 declined, 8 approved\n")
    assert "north" in out
    assert list(tmp_path.iterdir()) == [file]
    if ending == "jsonl":
        rows = [Explanation.from_json(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [e.row["radius"] for e in rows] == pd.read_csv(folder / "table.csv")["radius"][:20].tolist()
    else:
        rows = pd.read_csv(file) if ending == "csv" else pd.read_parquet(file)
        assert len(rows) == 20


def test_workers_write_the_same(folder: Path, tmp_path: Path) -> None:
    for n in (1, 2):
        told(flipset("table", "model.txt", "table.csv", "-o", tmp_path / f"{n}.csv", "--workers", n, cwd=folder))
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


SLOW = """
import os, numpy as np
from pathlib import Path
ASKED = Path(os.environ["ASKED"])
def score(rows):
    with ASKED.open("a") as out:
        out.writelines(f"{line}\\n" for line in rows.to_csv(header=False, index=False).splitlines())
    return 1.0 - rows["radius"] / 30 - rows["texture"] / 100
"""


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    TABLE.to_csv(tmp_path / "table.csv", index=False)  # long enough for twenty kills with much to spare
    command = ["table", "python:slow:score", "table.csv", "--decreasing", "radius,texture"]
    told(flipset(*command, "-o", "whole.csv", cwd=tmp_path, ASKED="one.txt"))
    rng = random.Random(0)
    part = tmp_path / "parts.csv.part"
    for kill in range(20):
        before = part.read_bytes().count(b"\n") if part.exists() else 0
        target = before + rng.randint(1, 4)
        resume = ["--resume"] if kill else []
        running = subprocess.Popen(
            [SCRIPT, *command, "-o", "parts.csv", "--width", "2", *resume],
            cwd=tmp_path, env=PLAIN | {"ASKED": "two.txt"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        while not part.exists() or part.read_bytes().count(b"\n") < target:
            assert running.poll() is None, running.communicate()[1]
        running.send_signal(signal.SIGKILL)
        running.communicate()
        with part.open("ab") as torn:  # as a kill in the middle of a line leaves it
            torn.write(b'{"row": 3, "resul')
    assert not (tmp_path / "parts.csv").exists()
    told(flipset(*command, "-o", "parts.csv", "--resume", cwd=tmp_path, ASKED="two.txt"))
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not part.exists()


def test_an_unfinished_run_is_not_overwritten_and_belongs_to_its_model(folder: Path, tmp_path: Path) -> None:
    part = tmp_path / "out.csv.part"
    told(flipset("table", "model.txt", "table.csv", "-o", tmp_path / "out.csv", "--limit", 3, cwd=folder))
    part.write_text('{"format": "flipset-table-part/2", "model": "other"}\n', encoding="utf-8")
    error = refused(flipset("table", "model.txt", "table.csv", "-o", tmp_path / "out.csv", cwd=folder))
    assert "left from an unfinished run: continue it with --resume, or delete the file" in error
    error = refused(flipset("table", "model.txt", "table.csv", "-o", tmp_path / "out.csv", "--resume", cwd=folder))
    assert "belongs to a run with a different model" in error


def test_what_a_fresh_eye_found(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "mine.py", tmp_path)
    (tmp_path / "big.csv").write_text("id,x\n9007199254740993,0.5\n9007199254740995,1.5\n", encoding="utf-8")
    command = ("explain", "python:mine:big", "big.csv", "--row", 0, "--increasing", "x")
    assert "No allowed change leads to approval." in told(flipset(*command, cwd=tmp_path))  # the id is odd
    (tmp_path / "ab.csv").write_text('a,"b,c"\n0,0\n1,2\n3,3\n0,0\n', encoding="utf-8")
    two = ("python:mine:both", "ab.csv", "--increasing", "a", "--increasing", "b,c")
    said = told(flipset("explain", *two, "--row", 0, "--max-changes", 1, "--proof", "p.json", cwd=tmp_path))
    assert "No allowed single change leads to approval. This is proved" in " ".join(said.split())
    assert "Reasons." not in said or "  * " in said
    claim = told(flipset("verify", "p.json", "python:mine:both", "--data", "ab.csv", cwd=tmp_path))
    assert "Claim: no allowed single change leads to approval" in claim
    assert "CONFIRMED" in claim
    assert "needs --data" in refused(flipset("verify", "p.json", "python:mine:both", cwd=tmp_path))
    signs = ("explain", "python:mine:signs", "ab.csv", "--row", 0, "--increasing", "a", "--positive=-1")
    assert "1 change is enough" in told(flipset(*signs, cwd=tmp_path))
    out = told(flipset("table", *two, "-o", "out.csv", "--workers", 2, cwd=tmp_path))
    one = told(flipset("table", *two, "-o", "out.csv", cwd=tmp_path))
    assert out == one  # equal rows are counted once, however they were explained


def test_what_parquet_cannot_hold_is_not_lost(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "mine.py", tmp_path)
    (tmp_path / "mixed.jsonl").write_text('{"a": 1, "k": 1}\n{"a": 2, "k": "x"}\n', encoding="utf-8")
    command = ("table", "python:mine:mixed", "mixed.jsonl", "--increasing", "a")
    error = refused(flipset(*command, "-o", "out.parquet", cwd=tmp_path))
    assert "cannot hold this as Parquet" in error
    assert "rename out.parquet.part" in error
    (tmp_path / "out.parquet.part").rename(tmp_path / "out.csv.part")
    told(flipset(*command, "-o", "out.csv", "--resume", cwd=tmp_path))
    assert (tmp_path / "out.csv").exists()


STUCK = """
import os
def score(rows):
    if os.environ.get("GATE") and (rows["radius"] == 5).any():
        open(os.environ["GATE"]).read()  # a pipe that nobody writes to
    return 1.0 - rows["radius"] / 30
"""


def test_c12_two_runs_at_once_and_swapped_rows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK, encoding="utf-8")
    (tmp_path / "t.csv").write_text("radius\n20\n25\n28\n5\n", encoding="utf-8")
    os.mkfifo(tmp_path / "gate")
    output, part = tmp_path / "out.csv", tmp_path / "out.csv.part"
    command = [
        "table",
        "python:stuck:score",
        "t.csv",
        "--decreasing",
        "radius",
        "--bounds",
        "radius=10:30",
        "--width",
        "1",
    ]
    told(flipset(*command, "-o", "whole.csv", cwd=tmp_path))
    running = subprocess.Popen(
        [SCRIPT, *command, "-o", "out.csv"], cwd=tmp_path, env=PLAIN | {"GATE": "gate"}, stderr=subprocess.PIPE
    )
    try:
        while not part.exists() or part.read_bytes().count(b"\n") < 4:
            assert running.poll() is None, running.communicate()[1]
        for resume in ([], ["--resume"]):
            said = refused(flipset(*command, "-o", "out.csv", *resume, cwd=tmp_path))
            assert "out.csv.part is in use by another run" in said
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate()
    kept = part.read_text(encoding="utf-8")
    header, *lines = kept.splitlines()
    first, second, *rest = map(json.loads, lines)
    first["row"], second["row"] = second["row"], first["row"]
    part.write_text("\n".join([header, *map(json.dumps, [first, second, *rest]), ""]), encoding="utf-8")
    assert "that is not about that row of the table" in refused(
        flipset(*command, "-o", "out.csv", "--resume", cwd=tmp_path)
    )
    part.write_text(kept, encoding="utf-8")
    (tmp_path / "t.csv").write_text("radius\n25\n20\n28\n5\n", encoding="utf-8")
    assert "with a different data" in refused(flipset(*command, "-o", "out.csv", "--resume", cwd=tmp_path))
    (tmp_path / "t.csv").write_text("radius\n20\n25\n28\n5\n", encoding="utf-8")
    told(flipset(*command, "-o", "out.csv", "--resume", cwd=tmp_path))
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not part.exists()


def test_reports_hold_everything_and_fetch_nothing(folder: Path, tmp_path: Path) -> None:
    one, all_rows = tmp_path / "one.html", tmp_path / "all.html"
    told(flipset("explain", "model.txt", "table.csv", "--row", 0, "--html", one, cwd=folder))
    told(flipset("table", "model.txt", "table.csv", "-o", tmp_path / "t.csv", "--limit", 9, "--html", all_rows,
                 "--by", "clinic", cwd=folder))  # fmt: skip
    for page in (one, all_rows):
        text = page.read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        for word in ("<script", "http://", "https://", "src=", "@import"):
            assert word not in text
        assert "sha256:" in text
    assert "flipset verify explanation.json" in one.read_text(encoding="utf-8")


def test_ten_thousand_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    with gzip.open(tmp_path / "wide.csv.gz", "wt", encoding="utf-8") as out:
        out.write(",".join(names) + "\n")
        out.writelines(",".join([str(j)] * 10_000) + "\n" for j in range(3))
    model = "def score(rows):\n    return rows['c77'] / 4 + rows['c9000'] / 4\n"
    (tmp_path / "wide.py").write_text(model, encoding="utf-8")
    command = ("explain", "python:wide:score", "wide.csv.gz", "--row", 0, "--increasing", "c77,c9000")
    assert "c77" in told(flipset(*command, cwd=tmp_path))


def test_debug_shows_where_an_error_came_from(folder: Path) -> None:
    done = flipset("explain", "model.txt", "gone.csv", "--row", 0, "--debug", cwd=folder)
    assert "Traceback" in done.stderr


def test_the_bench_tells_of_all_searches(folder: Path) -> None:
    out = told(flipset("bench", cwd=folder))
    assert "AND of ORs" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["demo", "explain", "space", "table", "audit", "verify", "bench"])
def test_every_command_has_help_with_an_example(command: str, folder: Path) -> None:
    assert f"Example: flipset {command}" in " ".join(told(flipset(command, "--help", cwd=folder)).split())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_on_a_cluster_is_the_same_table(folder: Path, tmp_path: Path, ending: str) -> None:
    table = TABLE.head(40).assign(id=range(40), half=["a", "b"] * 20)
    path = tmp_path / f"rows.{ending}"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path, index=False)
    given = (folder / "model.ubj", path, "--by", "half", "--decreasing", ",".join(DOWN))
    here = flipset("table", *given, "-o", tmp_path / "here.csv", cwd=folder)
    there = flipset("table", *given, "-o", tmp_path / f"there.{ending}", "--engine", "dask", cwd=folder)
    assert there.returncode == 0, there.stderr
    summary, first, _ = here.stdout.partition("The first 3 of 40 rows:\n")  # the rows of a cluster stay there
    assert first
    assert there.stdout.partition("Written")[0] == summary
    if ending == "csv":
        parts = sorted((tmp_path / "there.csv").iterdir())
        found = pd.concat([pd.read_csv(part) for part in parts], ignore_index=True)
    else:
        found = pd.read_parquet(tmp_path / "there.parquet").convert_dtypes(dtype_backend="numpy_nullable")
    expected = pd.read_csv(tmp_path / "here.csv")
    assert found["id"].tolist() == list(range(40))
    assert found["half"].tolist() == table["half"].tolist()
    assert found["advice"].tolist() == expected["advice"].tolist()
    assert found["score"].tolist() == expected["score"].tolist()
    again = flipset("table", *given, "-o", tmp_path / f"there.{ending}", "--engine", "dask", cwd=folder)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert not list(tmp_path.glob(".*"))


def test_codes_limits_and_bounds_of_each_row(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def score(rows):\n"
        "    late = rows['late'].where(rows['late'] >= 0).fillna(3)\n"
        "    return (rows['income'] - rows['debt'] - 5 * late + 50) / 200\n"
    )
    (tmp_path / "loans.csv").write_text(
        "id,income,late,debt,most\n1,60,-9,20,100\n2,50,2,30,70\n3,80,0,10,\n4,45,,0,200\n"
    )
    model = ["python:mine:score", "loans.csv"]
    given = ["--increasing", "income", "--decreasing", "late,debt", "--drop", "id,most", "--special", "*=-7,-8,-9"]
    given = ["--step", "debt=5", *given]  # by the table, where debts are multiples of 10, debt could not fall by 5
    limits = ["--bounds", "income=:most", "--max-rise", "income=50%", "--max-fall", "debt=5"]
    done = flipset("explain", *model, "--row", 0, *given, *limits, "--json", "--proof", "why.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    e = Explanation.from_json(done.stdout)
    assert (e.held_because, e.own_bounds) == ({"late": "special code"}, {"most": 100.0})
    assert [unit.end for unit in e.moves.units] == [(0, 80), (2, 15)]  # 80 is the most in the data, 15 is 5 less
    check = ["verify", "why.json", "python:mine:score", "--data", "loans.csv", *given]
    assert flipset(*check, *limits, cwd=tmp_path).returncode == 0
    assert "moves: 'debt' could become debt=15" in flipset(*check, *limits[:4], cwd=tmp_path).stdout
    done = flipset("table", *model, "-o", "out.jsonl", *given, *limits, "--within", "debt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["own_bounds"]["most"] for row in rows] == [100, 70, None, 200]
    assert all(row["held_fixed"] == ["income", "late"] for row in rows)
    text = flipset("space", *model, *given[:-2], cwd=tmp_path).stdout
    assert "# special = [-9]" in text
    (tmp_path / "space.toml").write_text(text)
    done = flipset("explain", *model, "--row", 0, "--space", "space.toml", "--special", "late=-9", cwd=tmp_path)
    assert "put special = [...] in the space file" in done.stderr
