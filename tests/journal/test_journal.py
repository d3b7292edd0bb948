"""Answers on disk: what is written down is never asked again, whatever happens to the process that asked."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from flipset import Explainer, Explanation, Feature, InputError, Journal, OracleError, Space, cli
from flipset.journal import AnswerStore
from tests.patience import PATIENCE
from tests.same import answer_of

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 6, (12, 3))


class Model:
    """A model that counts what it is asked."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.asked: Counter[tuple[float, ...]] = Counter()
        self.left = fail_after

    def __call__(self, rows: Any) -> Any:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise RuntimeError("no more")
        table = np.asarray(rows, dtype=float)
        self.asked.update(map(tuple, table.tolist()))
        return 1 / (1 + np.exp(12 - table.sum(axis=1)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


class Remembered:
    """A store of answers of another kind than `Journal`: a dictionary."""

    def __init__(self) -> None:
        self.answers: dict[tuple[Any, ...], float] = {}
        self.settled: dict[str, str] = {}
        self.bound: list[Any] = []

    def bind(self, space: Space, positive: Any) -> None:
        self.bound.append((space, positive))

    def before(self, predict: Any) -> Any:
        def ask(rows: Any) -> Any:
            keys = list(map(tuple, np.asarray(rows).tolist()))
            new = [i for i, key in enumerate(keys) if key not in self.answers]
            if new:
                asked = np.asarray(rows)[new]
                self.answers.update(zip(map(tuple, asked.tolist()), predict(asked), strict=True))
            return np.array([self.answers[key] for key in keys])

        return ask

    def kept(self, part: str) -> str | None:
        return self.settled.get(part)

    def keep(self, part: str, value: str) -> str:
        return self.settled.setdefault(part, value)


def explainer(model: Any, path: Path, name: str = "sum, version 1", **how: Any) -> Explainer:
    return Explainer(model, SPACE, journal=Journal(path, model=name), **how)


def test_the_same_results_and_nothing_is_asked_twice(path: Path) -> None:
    expected = list(Explainer(Model(), SPACE).explain_table(ROWS))
    first, second = Model(), Model()
    assert list(explainer(first, path).explain_table(ROWS)) == expected
    assert max(first.asked.values()) == 1
    assert list(explainer(second, path).explain_table(ROWS)) == expected
    assert not second.asked
    assert len(Journal(path, model="")) == len(first.asked)
    # A row by itself asks more in fewer calls. What the table asked is not asked again.
    alone = [explainer(second, path).explain(row) for row in ROWS]
    assert list(map(answer_of, alone)) == list(map(answer_of, expected))
    assert not second.asked.keys() & first.asked.keys()


def test_a_store_of_another_kind_will_do() -> None:
    store, first, second = Remembered(), Model(), Model()
    assert isinstance(store, AnswerStore)
    expected = list(Explainer(Model(), SPACE).explain_table(ROWS))
    assert list(Explainer(first, SPACE, journal=store).explain_table(ROWS)) == expected
    assert list(Explainer(second, SPACE, journal=store).explain_table(ROWS)) == expected
    assert (len(first.asked), len(second.asked)) == (len(store.answers), 0)
    assert store.bound == [(SPACE, None)] * 2


def test_what_is_no_journal_is_refused() -> None:
    with pytest.raises(InputError, match="journal must be a Journal or the name of a file, got dict"):
        Explainer(Model(), SPACE, journal={})  # type: ignore[arg-type]


def test_two_who_await_the_same_row_ask_it_once(path: Path) -> None:
    asked: list[int] = []

    async def both() -> list[Any]:
        journal = Journal(path, model="m")

        async def predict(rows: Any) -> Any:
            asked.append(len(rows))
            await asyncio.sleep(0)
            return np.asarray(rows).sum(axis=1).astype(float)

        ask = journal.abefore(predict)
        return list(await asyncio.gather(ask(ROWS[:3]), ask(ROWS[1:3]), ask(ROWS[:5])))

    found = asyncio.run(both())
    assert [one.tolist() for one in found] == [
        ROWS[rows].sum(axis=1).tolist() for rows in map(slice, (0, 1, 0), (3, 3, 5))
    ]
    assert sum(asked) == 5


def test_rows_that_were_given_up_are_asked_by_whoever_waits_for_them(path: Path) -> None:
    async def one_gives_up() -> Any:
        journal = Journal(path, model="m")
        begun = asyncio.Event()

        async def never(rows: Any) -> Any:
            begun.set()
            await asyncio.get_running_loop().create_future()

        async def at_once(rows: Any) -> Any:
            return np.asarray(rows).sum(axis=1).astype(float)

        first = asyncio.ensure_future(journal.abefore(never)(ROWS[:1]))
        await begun.wait()
        second = asyncio.ensure_future(journal.abefore(at_once)(ROWS[:1]))
        third = asyncio.ensure_future(journal.abefore(at_once)(ROWS[:1]))
        await asyncio.sleep(0)
        third.cancel()  # which must not disturb the second
        first.cancel()
        return await second

    assert asyncio.run(one_gives_up()).tolist() == [float(ROWS[0].sum())]


def test_threads_ask_no_row_twice(path: Path) -> None:
    journal, model = Journal(path, model="m"), Model()
    started = threading.Barrier(4)

    def predict(rows: Any) -> Any:
        return model(rows)

    def ask() -> None:
        started.wait()
        journal.before(predict)(ROWS)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(model.asked.values()) == {1}


def test_a_model_that_fails_half_way_is_not_asked_again_what_it_said(path: Path) -> None:
    failing, whole = Model(fail_after=5), Model()
    assert any(isinstance(result, OracleError) for result in explainer(failing, path).explain_table(ROWS))
    assert list(explainer(whole, path).explain_table(ROWS)) == list(Explainer(Model(), SPACE).explain_table(ROWS))
    assert not failing.asked.keys() & whole.asked.keys()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "sum, version 2"}, "about another model: sum, version 1, not sum, version 2"),
        ({"positive": 1}, "about another positive: None, not 1"),
    ],
)
def test_another_model_is_refused_and_the_error_says_what_differs(path: Path, change: Any, words: str) -> None:
    explainer(Model(), path).explain(ROWS[0])
    with pytest.raises(InputError, match=words):
        explainer(Model(), path, **change)


def test_a_journal_about_a_folder_by_its_earlier_hash_says_what_to_do(path: Path) -> None:
    earlier = "sha256:12"
    Explainer(Model(), SPACE, journal=Journal(path, model=earlier)).explain(ROWS[0])
    with pytest.raises(InputError, match=r"Earlier versions identified a folder .* model='sha256:12'\); otherwise use"):
        Explainer(Model(), SPACE, journal=Journal(path, model="folder-sha256:34"))
    model = Model()
    Explainer(model, SPACE, journal=Journal(path, model=earlier)).explain(ROWS[0])  # as the error says
    assert not model.asked


def test_another_space_is_refused(path: Path) -> None:
    explainer(Model(), path).explain(ROWS[0])
    other = Space([Feature(name, "integer", direction=+1, lower=0, upper=8) for name in "abc"])
    with pytest.raises(InputError, match="about another space: sha256:"):
        Explainer(Model(), other, journal=Journal(path, model="sum, version 1"))


def test_a_file_that_is_no_journal_is_refused(path: Path) -> None:
    path.write_text("a letter, and not a short one, so that it is no empty database " * 20)
    with pytest.raises(InputError, match="cannot be opened as a journal"):
        explainer(Model(), path)


def test_a_proof_is_confirmed_from_the_journal_alone(path: Path) -> None:
    e = explainer(Model(), path).explain(ROWS[1])
    sent = Explanation.from_json(e.to_json())
    assert sent.verify(Journal(path, model="").model())
    lie = Explanation.from_json(e.to_json().replace(f'"score": {e.score}', f'"score": {1 - e.score}', 1))
    assert not lie.verify(Journal(path, model="").model())
    Journal(path, model="").prune(before=1e12)
    with pytest.raises(OracleError, match="has no answer for the row"):
        sent.verify(Journal(path, model="").model())


@pytest.mark.parametrize("module", [pd, pl], ids=["pandas", "polars"])
def test_frames_with_text_and_missing_cells(module: Any, path: Path) -> None:
    frame = module.DataFrame({"a": [1.0, None, 3.0, 2.0], "kind": ["x", "y", "x", "y"]})
    space = Space.from_frame(frame, increasing=["a"], categorical=["kind"])
    asked = 0

    def predict(table: Any) -> Any:
        nonlocal asked
        asked += len(table)
        a, kind = (np.asarray(table[name].to_list(), dtype=object) for name in ("a", "kind"))
        return [float(x or 0) + (k == "y") >= 3 for x, k in zip(a, kind, strict=True)]

    rows = frame.iloc[[0]] if module is pd else frame[0]
    plain = Explainer(predict, space).explain(rows)
    for _ in range(2):
        assert Explainer(predict, space, journal=Journal(path, model="m")).explain(rows) == plain
    assert asked == 2 * plain.queries


def test_workers_share_a_journal(path: Path) -> None:
    model = Model()
    shared = explainer(model, path)
    assert list(shared.explain_table(ROWS, workers=2)) == list(Explainer(Model(), SPACE).explain_table(ROWS))
    again = Model()
    explainer(again, path).explain_table(ROWS)
    assert not again.asked


SCRIPT = """
import json, os, sys
import numpy as np
from flipset import Explainer, Feature, Journal, Space

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def predict(rows):
    table = np.asarray(rows, dtype=float)
    scores = 1 / (1 + np.exp(14 - table.sum(axis=1)))
    os.write(log, (json.dumps(table.tolist()) + "\\n").encode())  # one line a call
    return scores

space = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abcd"])
rows = np.random.default_rng(0).integers(0, 6, (80, 4))
found = Explainer(predict, space, journal=Journal(sys.argv[1], model="m")).explain_table(rows, width=2, batch=4)
print([e.to_json() for e in found])
"""


def runs(folder: Path, kill_at: int | None) -> str | None:
    """Run the script; kill it as soon as its model was called so many times."""
    log = folder / "asked.txt"
    log.touch()
    before = log.read_text().count("\n")
    given = [sys.executable, "-c", SCRIPT, str(folder / "answers.db"), str(log)]
    with subprocess.Popen(given, stdout=subprocess.PIPE, text=True) as child:
        if kill_at is not None:
            while child.poll() is None and log.read_text().count("\n") < before + kill_at:
                pass
            child.send_signal(signal.SIGKILL)
        out, _ = child.communicate(timeout=PATIENCE)
    return out if child.returncode == 0 else None


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_runs_lose_no_answer_and_end_alike(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    expected = runs(whole, None)
    kills = (1, 3, 6, 10, 15)
    for kill_at in kills:
        runs(broken, kill_at)
    assert runs(broken, None) == expected
    calls = [json.loads(line) for line in (broken / "asked.txt").read_text().splitlines()]
    asked = Counter(tuple(row) for call in calls for row in call)
    once = {tuple(row) for line in (whole / "asked.txt").read_text().splitlines() for row in json.loads(line)}
    assert set(asked) == once
    # Only what was asked in the very call in which the process was killed may not have reached the disk.
    assert sum(asked.values()) - len(asked) <= len(kills) * max(map(len, calls))


def test_what_is_in_it_is_shown_and_forgotten(path: Path) -> None:
    explainer(Model(), path).explain(ROWS[0])
    journal = Journal(path, model="")
    told = dict(journal.about())
    assert told["model"] == "sum, version 1"
    assert told["answers"] == str(len(journal))
    assert journal.prune(before=0) == 0
    assert journal.prune(before=1e12) == int(told["answers"])
    assert len(journal) == 0


@pytest.fixture
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    explainer(Model(), path).explain(ROWS[0])
    file = sqlite3.connect(path)
    yield file
    file.close()


def test_what_is_written_can_be_read_by_anybody(reading: sqlite3.Connection) -> None:
    rows = reading.execute("SELECT row, score FROM answers").fetchall()
    for text, score in rows:
        assert score == pytest.approx(1 / (1 + np.exp(12 - sum(json.loads(text)))))


# --- on the command line ----------------------------------------------------------------------------------------------

LIVE = """
def approve(rows):
    with open("asked.txt", "a") as log:
        print(len(rows), file=log)
    return (rows["a"] + rows["b"] + rows["c"]).to_numpy() >= 14
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    Path("live_model.py").write_text(LIVE, encoding="utf-8")
    Path("space.toml").write_text(SPACE.to_toml(), encoding="utf-8")
    pd.DataFrame(ROWS, columns=list("abc")).to_csv("rows.csv", index=False)
    sys.modules.pop("live_model", None)
    return tmp_path


def run_command(*arguments: str) -> Any:
    """Return the exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    return ended.value.code


GIVEN = ("python:live_model:approve", "rows.csv", "--space", "space.toml", "--journal", "answers.db")


def test_commands_write_a_journal_and_read_it(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("table", *GIVEN, "-o", "first.csv") == 0
    asked = Path("asked.txt").read_text(encoding="utf-8")
    assert run_command("table", *GIVEN, "-o", "second.csv") == 0
    assert Path("asked.txt").read_text(encoding="utf-8") == asked
    assert Path("first.csv").read_bytes() == Path("second.csv").read_bytes()
    assert run_command("explain", *GIVEN, "--row", "3", "--proof", "why.json") == 0
    capsys.readouterr()
    assert run_command("verify", "why.json", "--journal", "answers.db") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "CONFIRMED, with the allowed ranges (give --space), the threshold (give --threshold) and the name of the model "
        "(give MODEL) taken from the files" in out
    )
    table = ("--space", "space.toml", "--data", "rows.csv", "--threshold", "0.5")
    assert run_command("verify", "why.json", "--journal", "answers.db", *table) == 0
    assert "CONFIRMED, with the name of the model (give MODEL) taken" in " ".join(capsys.readouterr().out.split())
    assert run_command("verify", "why.json", GIVEN[0], "--journal", "answers.db", *table) == 0
    assert "PROVED" in capsys.readouterr().out
    assert run_command("journal", "answers.db") == 0
    assert "python:live_model:approve" in capsys.readouterr().out
    assert run_command("journal", "answers.db", "--forget-before", "2100-01-01") == 0
    assert "answers   0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("journal", "nope.db"), "there is no file nope.db"),
        (("verify", "why.json"), "give a model, or --journal with its recorded scores"),
        (("verify", "why.json", "--journal", "nope.db"), "there is no file nope.db"),
    ],
)
def test_what_is_not_there_is_named(
    desk: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    Path("why.json").write_text(Explainer(Model(), SPACE).explain(ROWS[0]).to_json(), encoding="utf-8")
    assert run_command(*arguments) == 2
    assert words in capsys.readouterr().err
    assert not Path("nope.db").exists()


def test_the_name_of_a_file_is_enough_where_the_model_says_what_it_is(tmp_path: Path) -> None:
    from tests.models.test_models import DOWN, X, fit_xgb

    fit_xgb().save_model(tmp_path / "model.ubj")
    space = Space.from_frame(X, decreasing=DOWN)
    e = Explainer(str(tmp_path / "model.ubj"), space, journal=tmp_path / "answers.db").explain(X.iloc[[0]])
    about = dict(Journal(tmp_path / "answers.db", model="").about())
    assert about["model"].startswith("sha256:")
    assert int(about["answers"].replace(",", "")) == e.queries
    with pytest.raises(InputError, match="nothing tells this model from others"):
        Explainer(Model(), SPACE, journal=tmp_path / "others.db")
