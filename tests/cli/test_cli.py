import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from flipset import InputError, cli, demo
from flipset.explain.threads import one_thread
from tests.patience import PATIENCE

SCRIPT = Path(sys.executable).with_name("flipset")


def flipset_command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def story() -> str:
    done = flipset_command("demo")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_demo_tells_all_it_should(story: str) -> None:
    assert "Decision: declined" in story
    assert re.search(r"\d+ changes are enough; there are \d+ options", story)
    assert re.search(r"all obligations +49 → at most [\d.]+ % of income", story)
    assert re.search(r"bankruptcy on record +yes → no", story)
    assert "Each of these alone is enough to keep the decision" in story
    assert "The proof was checked" in " ".join(story.split())
    assert re.search(r"\d+ queries in \d+ calls of the model\.", story)


def test_the_demo_fits_80_columns(story: str) -> None:
    assert max(map(len, story.splitlines())) <= 80


def test_the_demo_is_right() -> None:
    study = demo.prepare()
    with one_thread():
        found = demo.find_case(study)
        assert study.explainer.verify(found)
        for advice in found.counterfactuals:
            table = study.applications.iloc[:1].assign(**advice.row)
            assert study.explainer.predict(table)[0] == advice.score >= 0.5 > found.score
    assert all(set(reason) & set(flipset) for reason in found.reasons for flipset in found.flipsets)


def test_the_readme_shows_the_demo_as_it_is(story: str) -> None:
    # Figures may move a little with the version of the boosting library; the words may not.
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    without_figures = re.compile(r"[\d.,]+")
    shown = {without_figures.sub("#", line) for line in readme.splitlines()}
    told = story.splitlines()
    for line in [told[0], *told[2:15], *told[16:22], *told[-9:]]:
        assert without_figures.sub("#", line) in shown


def test_the_commands_that_the_demo_ends_with_work_as_printed(story: str, tmp_path: Path) -> None:
    printed = story[story.index("Next:\n") + 6 :].replace("\\\n", " ").splitlines()
    assert len(printed) == 4
    for line in printed[:-1]:
        script, *arguments = line.split()
        assert script == "flipset"
        done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "loans" / "advice.csv").exists()
    serve(printed[-1].split()[1:], tmp_path)


def serve(arguments: list[str], folder: Path) -> None:
    """Open the page that a command serves, as printed but for the port and the browser, and end it as people do."""
    given = [str(SCRIPT), *arguments, "--port", "0", "--no-browser"]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline().startswith("Serving python:flipset.demo:model on 498 rows at")
            address = server.stdout.readline().strip()
            base, _, token = address.partition("#token=")
            assert b"<title>flipset</title>" in urlopen(base, timeout=PATIENCE).read()
            about = Request(f"{base}api/about", headers={"Authorization": f"Bearer {token}"})
            assert b'"rows":498' in urlopen(about, timeout=PATIENCE).read()
        finally:
            server.send_signal(signal.SIGINT)
            _, errors = server.communicate(timeout=PATIENCE)
        assert (server.returncode, errors) == (0, "")


def test_help_has_an_example() -> None:
    assert "flipset demo" in flipset_command("demo", "--help").stdout


def test_an_error_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise InputError("the demo needs sklearn: pip install 'flipset[demo]'")

    monkeypatch.setattr(demo, "prepare", fails)
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "flipset: the demo needs sklearn: pip install 'flipset[demo]'\n"


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "flipset", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == flipset_command("--version").stdout
