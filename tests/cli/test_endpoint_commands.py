"""Commands on an endpoint: the same as on a file, what it costs in sight, and nothing asked twice after a kill."""

import os
import random
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

import numpy as np
import pandas as pd
import pytest

from flipset.cli import exits
from tests.cli.test_commands import SCRIPT, flipset
from tests.endpoints import Server, serving
from tests.models.remote.test_endpoint import NAMES, ROWS, score
from tests.patience import PATIENCE

DIRECTIONS = ("--increasing", "a,b,c,d,e", "--decreasing", "f")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("endpoint")
    table = pd.DataFrame(np.vstack([ROWS, np.full(6, 9.0), np.zeros(6)]), columns=list(NAMES))
    table.to_csv(where / "rows.csv", index=False)
    (where / "mine.py").write_text(
        "import numpy as np\n\nWEIGHTS = np.array([3.0, 2.0, 2.0, 1.0, 1.0, -2.0])\n\n\n"
        "def score(rows):\n    table = np.asarray(rows, dtype=float)\n"
        "    raw = table @ WEIGHTS + np.minimum(table[:, 0], table[:, 1]) - 42\n    return 1 / (1 + np.exp(-raw / 4))\n"
    )
    return where


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(score) as running:
        yield running


def run(*arguments: object, cwd: Path, code: int = 0, **env: str) -> str:
    done = flipset(*arguments, cwd=cwd, **env)
    assert done.returncode == code, done.stderr
    return done.stdout


FINGERPRINTS = re.compile(rb', "fingerprints": \{[^}]*\}')


def of_any_model(path: Path) -> bytes:
    """Return what is in a file of explanations, without the model that each of them names."""
    return FINGERPRINTS.sub(b"", path.read_bytes())


@pytest.mark.parametrize("kind", ["infer", "invocations"])
def test_every_command_takes_an_address(server: Server, folder: Path, kind: str, tmp_path: Path) -> None:
    url = getattr(server, kind)
    mine = "python:mine:score"
    row = ("--row", 3, "--json", "--batch", 8)
    at_url = run("explain", "--url", url, "rows.csv", *row, *DIRECTIONS, cwd=folder)
    assert at_url == run("explain", url, "rows.csv", *row, *DIRECTIONS, cwd=folder)
    local = run("explain", mine, "rows.csv", *row, *DIRECTIONS, cwd=folder)
    assert FINGERPRINTS.sub(b"", at_url.encode()) == FINGERPRINTS.sub(b"", local.encode())
    told = run(
        "explain",
        "--url",
        url,
        "rows.csv",
        "--row",
        3,
        *DIRECTIONS,
        "--price-per-row",
        0.01,
        "--price-per-call",
        1,
        cwd=folder,
    )
    assert re.search(r"\d+ rows answered in \d+ requests, for \d+\.\d\d at most\.", told)
    (tmp_path / "why.json").write_text(at_url)
    assert "CONFIRMED, with the allowed ranges" in run("verify", tmp_path / "why.json", "--url", url, cwd=folder)
    given = ("--data", "rows.csv", "--threshold", 0.5, *DIRECTIONS)
    assert "PROVED" in run("verify", tmp_path / "why.json", "--url", url, *given, cwd=folder)
    assert "no contradiction" in run("audit", "--url", url, "rows.csv", "--budget", 300, *DIRECTIONS, cwd=folder)
    assert "[[feature]]" in run("space", "--url", url, "rows.csv", *DIRECTIONS, cwd=folder)
    for name, model in (("there.csv", ("--url", url)), ("here.csv", (mine,))):
        run("table", *model, "rows.csv", "-o", tmp_path / name, *DIRECTIONS, "--batch", 8, cwd=folder)
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_a_report_names_the_endpoint_and_its_version_but_no_secret(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "why.html"
    url = f"{server.infer}?key=hidden"
    options = ("--header-env", "Authorization=SCORING_AUTH", "--html", page, "--journal", tmp_path / "answers.db")
    told = run(
        "explain", "--url", url, "rows.csv", "--row", 0, *options, *DIRECTIONS, cwd=folder, SCORING_AUTH="s3cr3t"
    )
    assert {header["Authorization"] for header in server.sent_headers} == {"s3cr3t"}
    text = page.read_text()
    assert f"{server.infer} version 1" in text
    kept = run("journal", tmp_path / "answers.db", cwd=folder)
    assert f"{server.infer} version 1" in kept
    for written in (told, text, kept, (tmp_path / "answers.db").read_bytes().decode("latin-1")):
        assert "s3cr3t" not in written
        assert "hidden" not in written


def test_a_fault_that_lasts_keeps_what_is_finished_and_the_run_goes_on_later(folder: Path, tmp_path: Path) -> None:
    limit = {"number": 25}
    with serving(score, lambda number: "403" if number >= limit["number"] else None) as server:
        options = ("-o", tmp_path / "out.csv", *DIRECTIONS, "--batch", 4, "--width", 3, "--rows-per-call", 6)
        command = ("table", "--url", server.infer, "rows.csv", *options)
        done = flipset(*command, cwd=folder)
        assert done.returncode == exits.STOPPED
        kept = r"\d+ of 42 rows are finished and kept in .*out\.csv\.part"
        advice = "to continue, give the same command with --resume"
        assert re.fullmatch(rf"flipset: .*403 Forbidden.* {kept}; {advice}\n", done.stderr)
        limit["number"] = 10**9
        run(*command, "--resume", cwd=folder)
    run("table", "python:mine:score", "rows.csv", "-o", tmp_path / "here.csv", *DIRECTIONS, "--batch", 4, cwd=folder)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explain", "--url", "http://127.0.0.1:9/v2/models/x/infer", "model.ubj", "rows.csv"), "MODEL or --url"),
        (("explain", "--url", "http://127.0.0.1:9/v2/models/x/infer", "--row", "1"), "MODEL"),
        (("explain", "--url", "http://127.0.0.1:9/score", "rows.csv", "--row", "1"), "not an address of a known kind"),
        (("explain", "http://127.0.0.1:9/infer", "rows.csv", "--row", "1", "--attempts", "1"), "cannot be reached"),
        (("explain", "http://127.0.0.1:9/infer", "rows.csv", "--row", "1", "--rate", "0"), "more than 0"),
        (
            ("explain", "http://127.0.0.1:9/infer", "rows.csv", "--row", "1", "--header-env", "X"),
            "expected HEADER=VARIABLE",
        ),
        (
            ("explain", "http://127.0.0.1:9/infer", "rows.csv", "--row", "1", "--header-env", "X=NOT_SET"),
            "NOT_SET is not set",
        ),
        (("verify", "why.json", "model.ubj", "--url", "http://127.0.0.1:9/infer"), "MODEL or --url"),
    ],
)
def test_what_cannot_be_meant_is_one_line(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    (folder / "why.json").write_text("{}")
    done = flipset(*arguments, *(DIRECTIONS if arguments[0] != "verify" else ()), cwd=folder)
    assert done.returncode == (exits.STOPPED if words == "cannot be reached" else exits.ERROR)
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr


class Killer:
    """A fault that kills the process that asks, at requests drawn by chance, before it is answered."""

    def __init__(self, seed: int, kills: int) -> None:
        self.rng = random.Random(seed)
        self.left = kills
        self.client: subprocess.Popen[str] | None = None
        self.countdown = 0
        self.lock = Lock()

    def arm(self, client: "subprocess.Popen[str]") -> None:
        self.client = client
        self.countdown = self.rng.randint(1, 6)

    def __call__(self, number: int) -> str | None:
        if self.client is None or not self.left:
            return None
        self.countdown -= 1
        if self.countdown:
            return None
        os.kill(self.client.pid, signal.SIGKILL)
        self.client.wait()
        self.client = None
        self.left -= 1
        return "drop"


def run_to_the_end(server: Server, killer: Killer, folder: Path, tmp_path: Path, in_flight: int) -> int:
    """Explain a table, starting again after each kill; return how many starts that took."""
    output, journal = tmp_path / "out.jsonl", tmp_path / "answers.db"
    command = [SCRIPT, "table", "--url", server.infer, "rows.csv", "-o", output, "--journal", journal, *DIRECTIONS]
    command += ["--batch", 4, "--in-flight", in_flight, "--rows-per-call", 12]
    for starts in range(1, 100):
        words = list(map(str, command + (["--resume"] if starts > 1 else [])))
        client = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killer.arm(client)
        _, errors = client.communicate()
        if client.returncode != -signal.SIGKILL:
            assert client.returncode == 0, errors
            return starts
    raise AssertionError("it never ends")


@pytest.fixture(scope="module")
def expected(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What an undisturbed run on the model itself writes."""
    path = tmp_path_factory.mktemp("here") / "here.jsonl"
    run("table", "python:mine:score", "rows.csv", "-o", path, *DIRECTIONS, "--batch", 4, cwd=folder)
    return of_any_model(path)


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_ten_points_by_chance_the_output_is_the_same_and_no_question_is_asked_twice(
    folder: Path, tmp_path: Path, expected: bytes, seed: int
) -> None:
    killer = Killer(seed, kills=10)
    with serving(score, killer) as server:
        # One request at a time: whatever was answered before a request is on disk when it goes out.
        assert run_to_the_end(server, killer, folder, tmp_path, in_flight=1) == 11
        assert server.faults["drop"] == 10
        assert set(server.answered.values()) == {1}
    assert of_any_model(tmp_path / "out.jsonl") == expected


def test_with_several_requests_under_way_a_kill_costs_no_more_than_those(
    folder: Path, tmp_path: Path, expected: bytes
) -> None:
    killer = Killer(0, kills=3)
    with serving(score, killer) as server:
        run_to_the_end(server, killer, folder, tmp_path, in_flight=4)
        assert sum(count - 1 for count in server.answered.values()) <= 3 * 4 * 12
    assert of_any_model(tmp_path / "out.jsonl") == expected


def test_the_page_works_on_an_endpoint_and_asks_only_about_what_is_looked_at(server: Server, folder: Path) -> None:
    import httpx2

    command = [SCRIPT, "serve", "--url", server.infer, "rows.csv", "--port", "0", "--no-browser", *DIRECTIONS]
    page = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert page.stdout is not None
        lines = [page.stdout.readline() for _ in range(2)]
        assert "/v2/models/loans/infer on 42 rows" in lines[0]
        address = lines[1].strip()
        base, _, token = address.partition("/#token=")
        with httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as client:
            client.get(address)
            assert server.received == 0
            rows = client.get("/api/rows", params={"start": 0, "count": 5}).json()
            assert len(rows["rows"]) == 5
            case = client.post("/api/explain", json={"row": 3}).json()
            assert case["explanation"]["status"] in ("optimal", "none")
        assert 0 < server.received < 42 * 20
    finally:
        page.send_signal(signal.SIGINT)
        page.communicate(timeout=PATIENCE)


def test_options_about_an_endpoint_change_one_from_python_and_are_refused_elsewhere(
    server: Server, folder: Path
) -> None:
    (folder / "theirs.py").write_text(
        f"from flipset.models.remote.endpoint import Endpoint\nendpoint = Endpoint({server.infer!r})\n"
    )
    row = ("rows.csv", "--row", 0, *DIRECTIONS)
    told = run("explain", "python:theirs:endpoint", *row, "--max-sent", 3, "--price-per-row", 1, cwd=folder, code=5)
    assert re.search(r"([123]) rows answered in . requests, for \1\.00 at most", told)
    for model, words in (("python:mine:score", "is not one"), ("model.ubj", "is a file")):
        done = flipset("explain", model, *row, "--max-sent", 3, cwd=folder)
        assert done.returncode == 2
        assert f"--max-sent is an option for endpoints, and {model} {words}" in done.stderr


def test_a_budget_that_cannot_be_kept_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    command = ("table", "python:mine:score", "rows.csv", "-o", tmp_path / "out.csv", *DIRECTIONS)
    done = flipset(*command, "--workers", 2, "--max-table-queries", 50, cwd=folder)
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())


def test_a_table_on_a_cluster_of_which_no_row_can_be_explained_is_no_success(folder: Path, tmp_path: Path) -> None:
    command = ("table", "--url", "http://127.0.0.1:9/invocations", "rows.csv", "-o", tmp_path / "out.csv", *DIRECTIONS)
    done = flipset(*command, "--engine", "dask", "--attempts", 1, cwd=folder)
    assert done.returncode == exits.NONE_EXPLAINED
    assert "no row could be explained" in done.stderr
    folder_of_files = tmp_path / "many.csv"
    folder_of_files.mkdir()
    for i in range(2):
        (folder_of_files / f"{i}.csv").write_text((folder / "rows.csv").read_text())
    there = flipset(
        "table",
        "python:mine:score",
        folder_of_files,
        "-o",
        tmp_path / "both.csv",
        *DIRECTIONS,
        "--engine",
        "dask",
        cwd=folder,
    )
    assert there.returncode == 0, there.stderr
    assert "84 rows" in there.stdout
    nobody = flipset(
        "table", "python:mine:score", "rows.csv", "-o", tmp_path / "x.csv", "--engine", "dask", "--master", "tcp://127.0.0.1:9",
        *DIRECTIONS, cwd=folder, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s",
    )  # fmt: skip
    assert nobody.returncode == exits.STOPPED
    assert "dask failed" in nobody.stderr


def test_a_table_is_estimated_before_it_is_paid_for(server: Server, folder: Path, tmp_path: Path) -> None:
    common = ("table", "--url", server.infer, "rows.csv", *DIRECTIONS, "--journal", tmp_path / "answers.db")
    prices = ("--price-per-row", 0.01, "--price-per-call", 1)
    out = run(*common, *prices, "--estimate", "--sample", 5, cwd=folder)
    assert out.startswith("Estimated from 5 of ")
    assert re.search(r"  price    [\d,.]+ \([\d,.]+ to [\d,.]+\)\n", out)
    assert "it is not sent again" in " ".join(out.split())
    sent = server.received
    again = run(*common, *prices, "--estimate", "--sample", 5, cwd=folder)
    assert server.received == sent
    assert again.splitlines()[1] == out.splitlines()[1]  # the queries


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sample", 5, "-o", "out.csv"), "--sample needs --estimate"),
        ((), "give the file to write: --output advice.csv"),
        (("--estimate", "--resume"), "--resume cannot be combined with --estimate"),
        (("--estimate", "--max-table-queries", 9), "--max-table-queries cannot be combined with --estimate"),
        (("--estimate", "--engine", "spark", "-o", "out"), "--estimate cannot be combined with --engine"),
        (("--share-answers", "--engine", "spark", "-o", "out"), "--share-answers cannot be combined with --engine"),
    ],
)
def test_options_that_do_not_belong_to_an_estimate_are_refused(
    server: Server, folder: Path, options: tuple[object, ...], said: str
) -> None:
    done = flipset("table", "--url", server.infer, "rows.csv", *DIRECTIONS, *options, cwd=folder)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert server.received == 0


def test_a_model_with_scores_cannot_share_answers(server: Server, folder: Path) -> None:
    done = flipset(
        "table", "--url", server.infer, "rows.csv", *DIRECTIONS, "--share-answers", "-o", "out.csv", cwd=folder
    )
    assert (done.returncode, "share_answers needs a model that answers with its decision" in done.stderr) == (2, True)
    assert not (folder / "out.csv.part").exists()
