"""Files of a command: each option says which it names, and no output is an input or another output."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pytest

from flipset import Feature, InputError, Journal, Space
from flipset.cli import COMMANDS, app, main
from flipset.cli.files import ENDINGS, Declared, NamedFile, Reads, Writes, _parts, check, declared, files_of
from flipset.cli.files import keep_files_apart as apart

NOT_FILES = {
    "--where", "--by", "--engine", "--master", "--keys", "--url", "--proxy", "--header-env", "--output-name",
    "--model-version",
    "--positive", "--trusted", "--increasing", "--decreasing", "--fix", "--bounds", "--step", "--categorical",
    "--only-rising", "--only-falling", "--quantiles", "--drop", "--objective", "--host", "--name",
    "--row", "--id", "--favorable", "--outcomes", "--score-label", "--decide", "--thresholds", "--within",
    "--constraint", "--max-rise", "--reasons",
    "--max-fall", "--special", "--only", "--reference-group",
}  # fmt: skip
"""Options that are texts, and do not name a file."""

OPTIONS = [
    pytest.param(command, one, id=f"{command.__name__} {one.option}")
    for command in COMMANDS
    for one in declared(command)
]


@pytest.mark.parametrize(("command", "one"), OPTIONS)
def test_c4_every_option_that_names_a_file_says_so(command: Callable[..., Any], one: Declared) -> None:
    parts = list(_parts(one.type))
    if Path in parts:
        assert one.use is not None, "an option with a path must be declared as Reads or Writes"
    if str in parts:
        assert (one.use is None) == (one.option in NOT_FILES), (
            "a text names a file, or is on the list of those that do not"
        )


def test_c4_every_command_is_wrapped() -> None:
    ours = {command.__name__ for command in COMMANDS}
    for name in ours:
        assert getattr(app[name].default_command, "__wrapped__", None) in COMMANDS
    others = {name for name in app if not name.startswith("-")} - ours
    assert not others


def test_options_are_read_from_types_of_any_form(tmp_path: Path) -> None:
    def command(
        model: Annotated[str, Reads()] | None = None,
        *,
        save: Annotated[Path | None, Writes("a table", beside=(".part",))] = None,
        n: int = 3,
    ) -> None:
        pass

    uses = {one.option: one.use for one in declared(command)}
    assert uses == {"MODEL": Reads(), "--save": Writes("a table", beside=(".part",)), "--n": None}
    given = {"model": "m.ubj", "save": Path("x.csv")}
    assert [(one.option, str(one.path)) for one in files_of(command, given)] == [
        ("MODEL", "m.ubj"),
        ("--save", "x.csv"),
        ("--save", "x.csv.part"),
    ]
    assert list(files_of(command, {"model": "https://a/b"})) == []


def named(use: Reads | Writes, path: object, option: str = "") -> NamedFile:
    return NamedFile(option or ("--in" if isinstance(use, Reads) else "--out"), use, Path(str(path)))


TABLE, REPORT = Writes("a table"), Writes("a report")


@pytest.mark.parametrize("same", ["path", "spelling", "link", "hard link", "folder link", "target of a link"])
def test_c4_an_output_that_is_an_input_is_refused(tmp_path: Path, same: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "also").symlink_to("sub")
    data, other = tmp_path / "sub" / "data.csv", tmp_path / "sub" / "other.csv"
    data.write_text("old")
    given, output = data, data
    if same == "spelling":
        output = tmp_path / "sub" / ".." / "sub" / "data.csv"
    elif same == "folder link":
        output = tmp_path / "also" / "data.csv"
    elif same == "hard link":
        os.link(data, other)
        output = other
    elif same != "path":
        other.symlink_to("data.csv")
        given, output = (data, other) if same == "link" else (other, data)
    with pytest.raises(InputError, match=r"\(--out\) is also an input \(--in\): write to another file"):
        check([named(Reads(), given), named(TABLE, output)])
    assert data.read_text() == "old"


@pytest.mark.parametrize("exists", [False, True])
def test_c4_two_outputs_are_two_files(tmp_path: Path, exists: bool) -> None:
    one, link = tmp_path / "a.csv", tmp_path / "b.csv"
    link.symlink_to("a.csv")
    if exists:
        one.touch()
    for other in (one, link, tmp_path / "." / "a.csv"):
        with pytest.raises(InputError, match=r"\(--two\) is also the output of --out: write to another file"):
            check([named(TABLE, one), named(TABLE, other, "--two")])
    check([named(TABLE, one), named(TABLE, tmp_path / "c.csv", "--two")])


def test_inputs_may_be_the_same_file(tmp_path: Path) -> None:
    check([named(Reads(), tmp_path / "a"), named(Reads(), tmp_path / "a"), named(TABLE, tmp_path / "b")])


def test_c4_nothing_is_written_into_an_input_folder(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    with pytest.raises(InputError, match=r"is inside the input .*model \(--in\): write to another folder"):
        check([named(Reads(), model), named(REPORT, model / "model.html")])
    check([named(Reads(), model), named(REPORT, tmp_path / "model.html")])


def test_devices_and_pipes_may_be_named_twice(tmp_path: Path) -> None:
    check(
        [named(Reads(), "/dev/null"), named(REPORT, "/dev/null"), named(TABLE, "/dev/null"), named(TABLE, "/dev/fd/1")]
    )
    os.mkfifo(tmp_path / "pipe")
    check([named(REPORT, tmp_path / "pipe"), named(TABLE, tmp_path / "pipe")])


@pytest.mark.parametrize(("kind", "endings"), ENDINGS.items())
def test_c4_a_file_of_another_kind_is_not_replaced(tmp_path: Path, kind: str, endings: tuple[str, ...]) -> None:
    for ending in endings:
        path = tmp_path / f"file{ending}"
        check([named(Writes("an explanation"), path)])  # it does not exist
        path.write_text("x")
        with pytest.raises(
            InputError, match=f"exists and is {kind}, not an explanation: choose another name, or delete"
        ):
            check([named(Writes("an explanation"), path)])
        check([named(Writes(kind), path)])


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"tree\nversion=v4", "a model"), (b'{"learner":{}}', "a model"), (b"SQLite format 3\0", "a journal")],
)
def test_c4_a_file_of_another_kind_is_known_by_its_start(tmp_path: Path, start: bytes, kind: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(start)
    with pytest.raises(InputError, match=f"exists and is {kind}, not an explanation"):
        check([named(Writes("an explanation"), path)])
    path.write_bytes(b'{"format": "flipset"}')
    check([named(Writes("an explanation"), path)])


def test_c4_json_lines_are_explanations_or_a_table(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(b'{"income": 40}\n')
    with pytest.raises(InputError, match="exists and is a table, not an explanation"):
        check([named(Writes("an explanation"), path)])
    path.write_bytes(b'{"format": "flipset-explanation/2", "decision": false}\n')
    check([named(Writes("an explanation"), path)])
    check([named(Writes("a table", also="an explanation"), path)])
    with pytest.raises(InputError, match="exists and is an explanation, not a report"):
        check([named(REPORT, path)])


def test_c4_an_output_that_cannot_be_written_is_refused_before_the_command_runs(tmp_path: Path) -> None:
    ran = []

    @apart
    def command(*, html: Annotated[Path, Writes("a report")]) -> None:
        ran.append(html)

    with pytest.raises(InputError, match="cannot be written: No such file"):
        command(html=tmp_path / "none" / "a.html")
    assert not ran
    command(html=tmp_path / "a.html")
    assert ran == [tmp_path / "a.html"]


# --- real commands ----------------------------------------------------------------------------------------------------

MODEL = "def score(rows):\n    return rows['a'] / 10\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine_for_files.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "t.csv").write_text("a\n1\n2\n9\n", encoding="utf-8")
    (tmp_path / "ca.pem").write_text("x", encoding="utf-8")
    (tmp_path / "model.ubj").write_bytes(b"{L\0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    space = Space([Feature("a", "numeric", direction=1, lower=0.0, upper=9.0)])
    (tmp_path / "s.toml").write_text(space.to_toml(), encoding="utf-8")
    Journal(tmp_path / "j.db", model="python:mine_for_files:score")
    os.link("s.toml", "hard.json")
    (tmp_path / "soft.html").symlink_to("s.toml")
    return tmp_path


ROW = ("explain", "python:mine_for_files:score", "t.csv", "--row", "0", "--space", "s.toml")
WHOLE = ("table", "python:mine_for_files:score", "t.csv", "--space", "s.toml")
COLLISIONS = [
    (*ROW, "--proof", "s.toml"),
    (*ROW, "--proof", "hard.json"),
    (*ROW, "--html", "soft.html"),
    (*ROW, "--html", "mine_for_files.py"),
    (*ROW, "--html", "x.html", "--proof", "./x.html"),
    (*ROW, "--html", "j.db", "--journal", "j.db"),
    (*ROW, "--html", "j.db-wal", "--journal", "j.db"),
    (*ROW, "--html", "n.db", "--journal", "n.db"),
    (*ROW, "--html", "ca.pem", "--ca", "ca.pem"),
    (*ROW, "--html", "model.ubj"),
    (*ROW, "--journal", "t.csv"),
    (*ROW, "--journal", "s.toml"),
    (*WHOLE, "-o", "t.csv"),
    (*WHOLE, "-o", "j.csv", "--journal", "j.csv"),
    (*WHOLE, "-o", "o.csv", "--html", "o.csv"),
    (*WHOLE, "-o", "o.csv", "--html", "o.csv.part"),
    ("space", "python:mine_for_files:score", "t.csv", "--increasing", "a", "-o", "model.ubj"),
    ("space", "python:mine_for_files:score", "t.csv", "--space", "s.toml", "-o", "s.toml"),
    ("space", "model.ubj", "t.csv", "--increasing", "a", "-o", "model.ubj"),
    ("verify", "s.toml", "--journal", "s.toml"),
    ("journal", "t.csv"),
]


@pytest.mark.parametrize("arguments", COLLISIONS, ids=[" ".join(one[3:]) or one[0] for one in COLLISIONS])
def test_c4_collisions_are_refused_and_nothing_changes(
    arguments: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def contents() -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}

    before = contents()
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "is also" in line or "exists and is" in line
    assert contents() == before


def test_c4_redirected_input_and_output_are_files_of_the_command(folder: Path) -> None:
    script = Path(sys.executable).with_name("flipset")
    row = ["explain", "python:mine_for_files:score", "-", "--row", "0", "--increasing", "a"]
    with open("t.csv") as data:
        done = subprocess.run(
            [script, *row, "--html", "t.csv"], stdin=data, capture_output=True, text=True, check=False, cwd=folder
        )
    assert done.returncode == 2
    assert "t.csv (--html) is also standard input" in done.stderr
    with open("t.csv") as data, open("o.html", "w") as out:
        command = [str(script), *row, "--html", "o.html"]
        done = subprocess.run(
            command, stdin=data, stdout=out, stderr=subprocess.PIPE, text=True, check=False, cwd=folder
        )
    assert done.returncode == 2
    assert "o.html (--html) is also standard output" in done.stderr


def run(*arguments: str) -> object:
    """Run a command in this process; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_c4_devices_survive_a_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*ROW, "--html", "/dev/null", "--proof", "/dev/null") == 0
    assert Path("/dev/null").is_char_device()
    assert "Decision:" in capsys.readouterr().out


def test_c4_outputs_keep_their_mode(folder: Path) -> None:
    outputs = [folder / name for name in ("o.csv", "o.jsonl", "o.parquet", "o.html", "o.json", "o.toml")]
    for output in outputs:
        output.touch()
        output.chmod(0o600)
    for table in outputs[:3]:
        assert run(*WHOLE, "-o", str(table), "--html", "o.html") == 0
    assert run(*ROW, "--proof", "o.json") == 0
    assert run("space", "python:mine_for_files:score", "t.csv", "--increasing", "a", "-o", "o.toml") == 0
    for output in outputs:
        assert output.stat().st_mode & 0o777 == 0o600
        assert output.stat().st_size


def test_c4_what_cannot_be_written_is_known_before_the_model_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "refuses.py").write_text("def score(rows):\n    raise SystemError('it was asked')\n", encoding="utf-8")
    (folder / "folder.csv").mkdir()
    whole = ("table", "python:refuses:score", "t.csv", "--increasing", "a", "-o")
    for arguments, message in (
        ((*whole, "folder.csv"), "folder.csv cannot be written: it is a folder"),
        ((*whole, "no/o.csv"), "no/o.csv cannot be written: No such file or directory"),
        ((*whole, "o.csv", "--html", "no/o.html"), "no/o.html cannot be written: No such file or directory"),
    ):
        assert run(*arguments) == 2
        assert capsys.readouterr().err == f"flipset: {message}\n"
    assert not (folder / "o.csv.part").exists()


FORMULAS = "def score(rows):\n    return rows['a'] / 10 + (rows['kind'] == '@ok') / 10\n"


def test_c12_formulas_in_a_table_are_quoted_unless_the_text_is_wanted_raw(folder: Path) -> None:
    (folder / "formulas.py").write_text(FORMULAS, encoding="utf-8")
    (folder / "f.csv").write_text('a,kind\n1,"=cmd|x!A0"\n2,@ok\n-3,-5\n', encoding="utf-8")
    command = ("table", "python:formulas:score", "f.csv", "--increasing", "a", "--bounds", "a=-9:9", "-o")
    assert run(*command, "quoted.csv") == 0
    assert run(*command, "raw.csv", "--raw-text") == 0
    quoted, raw = (pd.read_csv(name, dtype=str) for name in ("quoted.csv", "raw.csv"))
    assert raw["new_kind"].tolist() == ["=cmd|x!A0", "@ok", "-5"]
    assert quoted["new_kind"].tolist() == ["'=cmd|x!A0", "'@ok", "-5"]
    assert quoted["score"].tolist() == raw["score"].tolist()
    assert raw["score"].tolist()[2].startswith("-")  # a number stays one


def test_c5_where_runs_no_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = ("explain", "python:mine_for_files:score", "t.csv", "--space", "s.toml", "--where")
    for where in ("@pd.io.common.os.system('touch ran')", "__import__('os').system('touch ran')", "a.sum() > 0"):
        assert run(*row, where) == 2
        assert "not allowed" in capsys.readouterr().err
    assert not Path("ran").exists()
    assert run(*row, "1 < a < 3") == 0


@pytest.mark.parametrize("use", [Reads(), Writes("a table")])
def test_a_null_character_in_a_path_is_refused(use: Reads | Writes) -> None:
    with pytest.raises(InputError, match="has a null character"):
        check([NamedFile("DATA", use, Path("a\0b.csv")), NamedFile("--html", Writes("a report"), Path("x.html"))])
