"""docs/architecture.md keeps its word: the picture is that of the code, and each path runs the modules it names."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import threading
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from benchmarks.architecture import FIGURE, draw
from flipset import Explainer, Explanation, Feature, Journal, Space
from flipset.cli import main
from flipset.clusters.batches import explain_batch, make_job
from flipset.clusters.frames import _count_arrow, _each
from flipset.models import read_model
from flipset.models.monotone.show import show_monotone
from flipset.models.remote import Endpoint
from flipset.serve import Served
from tests.endpoints import serving
from tests.serve.running import running
from tests.test_structure import MODULES, PACKAGE, ROOMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
}
FILE = r"`([\w/]+\.(?:py|js))(?:::([\w.]+))?`"


def test_the_picture_is_that_of_the_code() -> None:
    assert FIGURE.read_text(encoding="utf-8") == draw(), "the rooms or their imports have changed: make architecture"


@cache
def names_in(path: Path) -> set[str]:
    """Functions and classes of a file, those inside classes too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_the_pages_for_contributors_name_files() -> None:
    for page in ("docs/architecture.md", "CONTRIBUTING.md"):
        assert len(re.findall(FILE, PAGES[page])) > 5


# Earlier versions of the changelog tell of files as they were.
@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"CHANGELOG.md"}))
def test_every_file_and_every_name_exists(page: str) -> None:
    for file, name in re.findall(FILE, PAGES[page]):
        path = ROOT / file if file.startswith(("tests/", "benchmarks/", "flipset/")) else PACKAGE / file
        assert path.exists(), file
        assert not name or set(name.split(".")) <= names_in(path), f"{file}::{name}"


# --- the paths --------------------------------------------------------------------------------------------------------

NAMES = [f"x{i}" for i in range(6)]
SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in NAMES])
RULED = Space([*SPACE.features, Feature("x6")], constraints=["x0 <= x1"], derived={"x6": "x0 + x1"})
ROWS = [[7, 7, 7, 7, 7, 6], [6, 6, 6, 6, 6, 7], [4, 4, 4, 4, 4, 4]]  # one, two and four changes


def score(rows: Any) -> Any:
    """A score that is reached by few large values or by many small ones."""
    return 1 / (1 + np.exp(-(np.asarray(rows, dtype=float).sum(axis=1) - 42.5) / 4))


def score_with_sum(rows: Any) -> Any:
    """The same, from the sum of the first two columns and the others."""
    return score(np.asarray(rows, dtype=float)[:, 2:])


def fails_on_the_last(rows: Any) -> Any:
    """The same, but it fails on rows that are like the last one."""
    if (np.asarray(rows)[:, 0] == 1).any():
        raise RuntimeError("not this one")
    return score(rows)


def explain_rows(_: Path) -> None:
    explainer = Explainer(score, SPACE)
    found = [explainer.explain(row) for row in ROWS]
    assert [e.size for e in found] == [1, 2, 4]
    assert all(map(str, found))
    # Rows with limits, with few queries in a round, and with all reasons take the flow that the steps follow.
    ways: list[dict[str, Any]] = [{"max_queries": 10_000}, {"batch": 1}, {"reasons": "all"}]
    for how in ways:
        assert [explainer.explain(row, **how).size for row in ROWS] == [1, 2, 4]
    bound = Explainer(score_with_sum, RULED).explain([*ROWS[0], 14])
    assert bound.flipsets == (("x1",), ("x2",), ("x3",), ("x4",), ("x5",))


def show_structure(_: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(200, len(NAMES)))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    for last in (LogisticRegression(), XGBClassifier(n_estimators=3, n_jobs=1)):
        scorer = read_model(make_pipeline(StandardScaler(), last).fit(rows, labels))
        shown = show_monotone(scorer, {"x0": +1, "x1": -1}, NAMES)
        assert shown.proved | shown.why_not.keys() == {"x0", "x1"}


def explain_tables(_: Path) -> None:
    explainer = Explainer(fails_on_the_last, SPACE)
    found = explainer.explain_table([*ROWS, [1] * 6])
    assert found.summary().errors == 1
    assert len(found.to_frame()) == 4
    # Values are found in arrays where costs are counted in the rows of a reference; rows with more go on from there.
    frame = pd.DataFrame(ROWS, columns=NAMES)
    seen = Explainer(score, Space(SPACE.features, reference=frame))
    assert [e.size for e in seen.explain_table(frame)] == [1, 2, 4]  # type: ignore[union-attr]
    assert [e.size for e in seen.explain_table(frame, more=1)] == [1, 2, 4]  # type: ignore[union-attr]
    # A model that a new process has without importing this module.
    Explainer(partial(np.mean, axis=1), SPACE, threshold=7.1).explain_table(ROWS, workers=2)
    assert Explainer(score_with_sum, RULED).explain_table([[*ROWS[0], 14]]).summary().declined.sizes == {1: 1}


def explain_at_an_endpoint(folder: Path) -> None:
    with serving(score) as server:
        server.fault = lambda number: {3: "503", 6: "422"}.get(number)
        with Endpoint(server.infer) as endpoint:
            journal = Journal(folder / "answers.db", model=endpoint.identity())
            explainer = Explainer(endpoint, SPACE, journal=journal)
            explainer.explain_table(ROWS)
            explainer.explain(ROWS[0])
            journal.close()
            assert str(endpoint.bill)


def what_if(_: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=NAMES)
    with running(Served(Explainer(score, SPACE), frame)) as where, where.client() as client:
        answer = client.post("/api/explain", json={"row": 0, "values": {"x0": 5}, "fixed": ["x1"]})
        assert answer.json()["explanation"]["row"]["x0"] == 5


def check_a_file(_: Path) -> None:
    explainer = Explainer(score, SPACE)
    for row in ROWS:
        sent = Explanation.from_json(explainer.explain(row).to_json())
        assert sent.verify(score, space=SPACE, threshold=0.5)
        assert explainer.verify(sent)


def explain_batches(_: Path) -> None:
    import pyarrow as pa

    table = pa.table({**{name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}, "id": ["a", "b", "c"]})
    job = make_job(Explainer(score, SPACE), table.column_names, None, {})
    # What Spark runs in a worker: it iterates over the batches of a partition.
    batches = list(_each(partial(explain_batch, job), iter(table.to_batches())))
    assert batches[0].column("id").to_pylist() == ["a", "b", "c"]
    assert list(_each(partial(_count_arrow, None), iter(batches)))


def run_a_command(folder: Path) -> None:
    pd.DataFrame(ROWS, columns=NAMES).assign(x6=["a", "b", "c"]).to_csv(folder / "rows.csv", index=False)
    (folder / "space.toml").write_text(SPACE.to_toml(), encoding="utf-8")
    files = ["python:tests.test_architecture:score", str(folder / "rows.csv"), "-o", str(folder / "out.csv")]
    with pytest.raises(SystemExit) as ended:
        main(["table", *files, "--space", str(folder / "space.toml")])
    assert not ended.value.code
    assert len(pd.read_csv(folder / "out.csv")) == len(ROWS)


PATHS: dict[str, Callable[[Path], None]] = {
    "The path of a row: `explain(row)`": explain_rows,
    "What a model's structure shows": show_structure,
    "A table: `explain_table(frame)`": explain_tables,
    "An endpoint with a journal": explain_at_an_endpoint,
    "A what-if on the page": what_if,
    "A check: `explanation.verify(model)`": check_a_file,
    "A Spark job": explain_batches,
    "A command: `flipset table`": run_a_command,
}


@contextmanager
def files_run() -> Iterator[set[str]]:
    """Collect the files of the package of which a function is run, in this thread and in those that it starts."""
    found: set[str] = set()
    before = str(PACKAGE) + "/"

    def look(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # not the body of a module or a class
        if event == "call" and is_function and code.co_filename.startswith(before):
            found.add(code.co_filename.removeprefix(before))

    sys.setprofile(look)
    threading.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.parametrize("title", PATHS)
def test_each_path_runs_the_modules_that_it_names(title: str, tmp_path: Path) -> None:
    section = PAGES["docs/architecture.md"].split(f"\n## {title}\n")[1].split("\n## ")[0]
    steps = "\n".join(line for line in section.splitlines() if re.match(r"\d+\. |   ", line))
    named = {file for file, _ in re.findall(FILE, steps) if file.endswith(".py")}
    assert len(named) > 5
    with files_run() as found:
        PATHS[title](tmp_path)
    assert named <= found, f"not run: {sorted(named - found)}"


def test_all_paths_are_tried() -> None:
    titles = re.findall(r"^## (.+)$", PAGES["docs/architecture.md"], flags=re.MULTILINE)
    assert [title for title in titles if title in PATHS] == list(PATHS)
    assert len(titles) == len(PATHS) + 3  # the contract, the rooms, and where else to look


def test_the_map_has_every_room() -> None:
    table = PAGES["CONTRIBUTING.md"].split("## Where things are")[1].split("\n## ")[0]
    rooms = {f"{room}/" if (PACKAGE / room).is_dir() else f"{room}.py" for room in ROOMS}
    assert rooms - set(re.findall(r"`([\w/.]+)`", table)) == set()


def test_the_reading_order_is_short() -> None:
    order = PAGES["CONTRIBUTING.md"].split("## Read first")[1].split("\n## ")[0]
    steps = "\n".join(line for line in order.splitlines() if re.match(r"\d+\. ", line))
    files = [PACKAGE / file for file, _ in re.findall(FILE, steps)]
    assert len(files) == len(set(files)) == 9
    assert all(file in MODULES.values() for file in files)
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) < 1_100
