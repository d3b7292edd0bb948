"""`--isolate` in every command that opens a model file, and addresses on the command line."""

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from flipset.cli import main
from flipset.cli.options import ModelOptions
from flipset.models.files import LOADERS
from tests.models import loaders

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals are those of Linux")

DIRECTIONS = ("--increasing", "a,b", "--threshold", "6")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(LOADERS, ".deed", loaders.load)
    # Commands are processes of their own and limit their threads for good; here they are not.
    monkeypatch.setattr("flipset.cli.inputs.keep_process_on_one_thread", lambda: None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    pd.DataFrame({"a": [i % 5 for i in range(20)], "b": [i % 3 for i in range(20)]}).to_csv("rows.csv", index=False)
    pd.DataFrame({"a": [*range(19), -1], "b": [i % 3 for i in range(20)]}).to_csv("negative.csv", index=False)
    (tmp_path / "model.deed").write_text("")
    (tmp_path / "crash.deed").write_text("segfault")
    (tmp_path / "later.deed").write_text("later segfault")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process, where the loader of the tests is known."""
    code = 0
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    said = capsys.readouterr()
    return code, said.out, said.err


def test_c10_every_command_says_the_same_with_isolate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said: list[list[str]] = []
    for more in ((), ("--isolate", "--open-seconds", "60", "--call-seconds", "60")):
        texts = []
        for command in (
            ("explain", "model.deed", "rows.csv", "--row", "1", "--json", *DIRECTIONS),
            ("explain", "model.deed", "rows.csv", "--row", "1", "--proof", "why.json", *DIRECTIONS),
            ("verify", "why.json", "model.deed", "--data", "rows.csv", "--threshold", "6"),
            ("space", "model.deed", "rows.csv", *DIRECTIONS[:2]),
            ("table", "model.deed", "rows.csv", "-o", "out.csv", *DIRECTIONS),
            ("audit", "model.deed", "rows.csv", "--budget", "50", *DIRECTIONS),
        ):
            code, out, err = run(capsys, *command, *more)
            assert (code, err) == (0, "")
            texts.append(out)
        texts.append((folder / "out.csv").read_text())
        said.append(texts)
    assert said[0] == said[1]
    assert json.loads(said[0][0])["decision"] is False


@linux
def test_c10_a_file_that_crashes_its_library_is_one_line_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "explain", "crash.deed", "rows.csv", "--row", "1", "--isolate", *DIRECTIONS)
    assert (code, out) == (2, "")
    assert err.startswith(
        "flipset: crash.deed killed the process that opened it (SIGSEGV): the file is damaged or hostile"
    )
    assert len(err.splitlines()) == 1


@linux
def test_c10_a_table_keeps_what_was_done_when_the_model_dies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("table", "later.deed", "negative.csv", "-o", "out.csv", "--isolate", "--width", "2", *DIRECTIONS)
    code, _, err = run(capsys, *arguments)
    assert code == 4
    assert "the process that ran later.deed died when asked" in err
    assert "SIGSEGV" in err
    assert "of 20 rows are finished and kept in " in err
    assert (folder / "out.csv.part").exists()
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explain", "python:math:sqrt", "rows.csv", "--isolate"), "--isolate is for model files"),
        (("explain", "http://127.0.0.1:9/infer", "rows.csv", "--isolate"), "--isolate is for model files"),
        (("explain", "model.deed", "rows.csv", "--open-seconds", "3"), "--open-seconds needs --isolate"),
        (("explain", "model.deed", "rows.csv", "--isolate", "--open-seconds", "0"), "open_seconds must be a number"),
        (("explain", "model.deed", "rows.csv", "--call-seconds", "3"), "--call-seconds needs --isolate"),
        (("explain", "model.deed", "rows.csv", "--isolate", "--call-seconds", "nan"), "call_seconds must be a number"),
        (
            ("explain", "http://me:hunter2@there:99999/infer", "rows.csv"),
            "'http://there:99999/infer' is not an address",
        ),
        (("explain", "HTTPS://me:hunter2@there/infer", "rows.csv"), "use headers"),
        (("explain", "ftp://me:hunter2@there/infer", "rows.csv"), "'ftp://there/infer' is not an address"),
        (("explain", "--url", "me:hunter2@there/infer", "rows.csv"), "--url ***: expected http://"),
        (("explain", "http://there/infer", "rows.csv", "--header-env", "A=PATH"), "--allow-plain-http"),
        (("explain", "http://there/infer?key=hunter2", "rows.csv"), "--allow-plain-http"),
        (("explain", "https://there/infer", "rows.csv", "--proxy", "http://me:hunter2@proxy:1"), "--trust-env"),
        (("explain", "model.deed", "rows.csv", "--trust-env"), "--trust-env is an option for endpoints"),
    ],
)
def test_c12_what_cannot_be_meant_is_one_line_without_a_secret(
    arguments: tuple[str, ...], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments, "--row", "1", *DIRECTIONS)
    assert (code, out) == (2, "")
    assert words in err
    assert "hunter2" not in err
    assert len(err.splitlines()) == 1


def test_a_model_is_not_isolated_unless_asked_for() -> None:
    assert ModelOptions().isolate is False
