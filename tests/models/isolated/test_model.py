"""Model files in a process of their own: the same answers, and one clear error when the process dies."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from flipset import Explainer, Feature, InputError, OracleError, Space, Unavailable, load_model
from flipset.errors import Untrusted
from flipset.models import Isolation, identity_of, labels_of, read_model
from flipset.models.files import LOADERS
from flipset.models.isolated.model import IsolatedModel
from flipset.models.monotone.show import show_monotone
from flipset.results.basis import Fingerprints
from flipset.testing import ScorerContract
from tests.models import loaders
from tests.models.test_files import save_catboost, save_lightgbm, save_skops, save_xgboost
from tests.models.test_models import DOWN, X

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and descriptors of processes are those of Linux")

SPACE = Space([Feature(name, direction=+1, lower=-9, upper=9) for name in "ab"])


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with threadpool_limits(limits=1):
        yield


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return how to make a model file that does something when it is opened, or later."""
    monkeypatch.setitem(LOADERS, ".deed", loaders.load)

    def make(deed: str) -> Path:
        path = tmp_path / "model.deed"
        path.write_text(deed)
        return path

    return make


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "save"),
    [
        ("model.ubj", save_xgboost),
        ("model.txt", save_lightgbm),
        ("model.cbm", save_catboost),
        ("model.skops", save_skops),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_c10_an_isolated_model_is_the_model_to_the_last_bit(
    name: str, save: Callable[[Path], Any], tmp_path: Path
) -> None:
    path = tmp_path / name
    save(path)
    isolated, direct = load_model(path, isolate=True), load_model(path)
    mine, theirs = read_model(isolated), read_model(direct)
    assert (mine.names, mine.threshold, mine.has_own_threshold) == (
        theirs.names,
        theirs.threshold,
        theirs.has_own_threshold,
    )
    assert dict(mine.directions) == dict(theirs.directions)
    assert labels_of(isolated) == labels_of(direct)
    for direction in (+1, -1):
        declared = dict.fromkeys(X.columns, direction)
        assert show_monotone(mine, declared, tuple(X.columns)) == show_monotone(theirs, declared, tuple(X.columns))
    for rows in (X, X.iloc[:1], X.iloc[::-7]):
        same(mine.predict(rows), np.asarray(theirs.predict(rows)))
        assert (mine.decides is None) == (theirs.decides is None)
        if mine.decides is not None and theirs.decides is not None:
            assert mine.decides(rows).tolist() == list(theirs.decides(rows))
    space = Space.from_frame(X, decreasing=DOWN)
    rows = X.iloc[:40]
    first, second = Explainer(isolated, space).explain_table(rows), Explainer(direct, space).explain_table(rows)
    assert told(first) == told(second)
    assert first.queries == second.queries


def told(explanations: Any) -> list[str]:
    # The same model has another fingerprint in memory than in its file.
    return [replace(explanation, fingerprints=Fingerprints()).to_json() for explanation in explanations]


def same(mine: Any, theirs: Any) -> None:
    assert mine.dtype == theirs.dtype
    assert mine.tobytes() == theirs.tobytes()


def mixed(rows: int = 40) -> pd.DataFrame:
    """A frame with a column of every common kind."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(50, 20, rows)),
            "late": rng.integers(0, 9, rows),
            "narrow": rng.random(rows).astype(np.float32),
            "grade": pd.Categorical(rng.choice(["A", "B", "C"], rows), categories=["C", "B", "A"], ordered=True),
            "region": rng.choice(["north", "süd", "\N{SNOWMAN}"], rows),
            "member": rng.random(rows) < 0.5,
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), "D"),
            "known": pd.array([None if i % 3 == 0 else i for i in range(rows)], dtype="Int64"),
        }
    )


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A process whose scores are hashes of the cells and types that it was given."""
    path = tmp_path_factory.mktemp("echo") / "model.hash"
    path.write_text("")
    LOADERS[".hash"] = loaders.load_hash
    yield read_model(load_model(path, isolate=True))
    del LOADERS[".hash"]


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: frame.iloc[::-3],
        lambda frame: pl.from_pandas(frame.drop(columns=["grade"])),
        lambda frame: pl.from_pandas(frame.drop(columns=["grade"])).to_arrow(),
        lambda frame: frame.to_numpy(dtype=object),
        lambda frame: frame[["income", "late"]].to_numpy(),
        lambda frame: np.asfortranarray(frame[["income", "late"]].to_numpy()),
        lambda frame: frame[["narrow"]],
    ],
    ids=["pandas", "some rows", "polars", "arrow", "objects", "numbers", "columns first", "float32"],
)
def test_tables_of_every_kind_cross_with_their_cells_and_types(make: Callable[[Any], Any], echo: Any) -> None:
    table = make(mixed())
    assert echo.predict(table).tolist() == loaders.hashes(table).tolist()


def test_a_pipeline_with_text_categories_and_missing_cells_scores_the_same(tmp_path: Path) -> None:
    frame = mixed().assign(income=lambda f: f["income"].fillna(0.0))[["income", "region", "member"]]
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["region"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, np.arange(len(frame)) % 3 == 0)
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    mine, theirs = read_model(load_model(path, isolate=True)), read_model(model)
    same(mine.predict(frame), theirs.predict(frame))


def test_an_isolated_file_is_named_in_explainer_and_journal(tmp_path: Path) -> None:
    path = tmp_path / "model.ubj"
    save_xgboost(path)
    space = Space.from_frame(X, decreasing=DOWN)
    journal = tmp_path / "answers.db"
    isolated = Explainer(path, space, isolate=True, journal=journal)
    expected = Explainer(path, space).explain(X.iloc[0])
    assert isolated.explain(X.iloc[0]).to_json() == expected.to_json()
    model = load_model(path, isolate=True)
    assert identity_of(model, read_model(model)) == identity_of(path, read_model(path))
    with pytest.raises(InputError, match="isolate is for the name of a model file"):
        Explainer(lambda rows: rows, space, isolate=True)
    with pytest.raises(InputError, match="isolate is for model files"):
        Explainer("http://127.0.0.1:9/invocations", space, isolate=True)


def test_workers_open_the_file_in_processes_of_their_own(misbehaving: Callable[[str], Path]) -> None:
    explainer = Explainer(load_model(misbehaving(""), isolate=True), SPACE, threshold=6.0)
    rows = np.array([[i % 5, i % 3] for i in range(12)], dtype=float)
    again = pickle.loads(pickle.dumps(explainer))
    assert told(again.explain_table(rows)) == told(explainer.explain_table(rows))


class TestContract(ScorerContract):
    """An isolated model keeps the contract of every scorer."""

    space = SPACE
    rows = tuple((float(i % 7 - 3), float(i % 5)) for i in range(30))

    @pytest.fixture(autouse=True)
    def opened(self, misbehaving: Callable[[str], Path]) -> None:
        self.scorer = read_model(load_model(misbehaving(""), isolate=True))

    def score(self, table: Any) -> Any:
        return self.scorer.predict(table)


# --- when the process dies --------------------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("abort", "SIGABRT"),
        ("segfault", "SIGSEGV"),
        ("kill", "SIGKILL, which is also what happens when memory runs out"),
        ("leave", "exit code 3"),
        ("flood", r'SIGABRT; it last printed "\?\[31mlast words'),
        ("endless", "sent a reply of 36,893,488,147,419,103,230 bytes"),
        ("no json", "sent a reply that is not JSON"),
    ],
)
def test_c10_a_file_that_kills_its_library_is_one_error_that_names_file_and_signal(
    deed: str, words: str, misbehaving: Callable[[str], Path]
) -> None:
    with pytest.raises(InputError, match=rf"model\.deed.*{words}.*damaged or hostile") as caught:
        load_model(misbehaving(deed), isolate=True)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500


@linux
def test_c10_a_model_that_dies_ends_the_run_and_keeps_what_is_finished(misbehaving: Callable[[str], Path]) -> None:
    explainer = Explainer(load_model(misbehaving("later segfault"), isolate=True), SPACE, threshold=6.0)
    rows = np.array([[i % 5, i % 3] for i in range(40)], dtype=float)
    rows[-1, 0] = -1
    done: list[int] = []
    results = explainer.explain_table(rows, max_rows=8, width=4, each=lambda i, _: done.append(i))
    lost = [result for result in results if isinstance(result, Unavailable)]
    assert len(lost) == 40 - len(done) > 0
    assert len({str(error) for error in lost}) == 1
    assert "the process that ran model.deed died when asked" in str(lost[0])
    assert "SIGSEGV" in str(lost[0])
    with pytest.raises(Unavailable, match="SIGSEGV"):  # it is not started again
        explainer.explain(rows[0])


@linux
def test_c10_a_file_that_takes_too_long_to_open_is_given_up(misbehaving: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match=r"model\.deed was not open after 0\.2 seconds"):
        load_model(misbehaving("hang"), isolate=Isolation(open_seconds=0.2))


def test_errors_of_the_model_are_those_that_it_has_without_isolation(misbehaving: Callable[[str], Path]) -> None:
    path = misbehaving("later refuse")
    rows = np.array([[1.0, 2.0], [-1.0, 2.0]])
    for isolate in (False, True):
        results = Explainer(load_model(path, isolate=isolate), SPACE, threshold=6.0).explain_table(rows)
        assert isinstance(results[1], OracleError)
        assert not isinstance(results[0], Exception)
        assert "the model raised ValueError when asked 1 query" in str(results[1])
    assert "\x1b" not in str(results[1])


@pytest.mark.parametrize("isolate", [False, True])
def test_what_cannot_be_opened_is_refused_in_the_same_words(isolate: bool, tmp_path: Path) -> None:
    pickled, strange, text = tmp_path / "model.pkl", tmp_path / "model.skops", tmp_path / "model.txt"
    pickled.write_bytes(b"")
    skops.io.dump({"model": loaders.Sum(None)}, strange)
    text.write_text("hello")
    with pytest.raises(Untrusted, match="is a pickle"):
        load_model(pickled, isolate=isolate)
    with pytest.raises(Untrusted, match=r"not known to be harmless: tests.models.loaders.Sum") as caught:
        load_model(strange, isolate=isolate)
    assert caught.value.types == ("tests.models.loaders.Sum",)
    with pytest.raises(InputError, match="does not begin with 'tree'"):
        load_model(text, isolate=isolate)
    with pytest.raises(InputError, match="there is no file"):
        load_model(tmp_path / "gone.ubj", isolate=isolate)


def test_warnings_of_the_library_are_passed_on(misbehaving: Callable[[str], Path]) -> None:
    with pytest.warns(UserWarning, match=r"model\.deed: made with another version"):
        load_model(misbehaving("warn"), isolate=True)


def test_labels_choose_the_class(misbehaving: Callable[[str], Path]) -> None:
    assert labels_of(load_model(misbehaving(""), isolate=True)) == {"bad": "bad", "good": "good"}


# --- when the program ends, or is interrupted -------------------------------------------------------------------------


PROGRAM = """
import sys, threading
from pathlib import Path
from flipset.models.files import LOADERS, load_model
from tests.models import loaders
LOADERS[".deed"] = loaders.load
model = load_model(sys.argv[1], isolate=True)
print(model.pid, flush=True)
if sys.argv[2] == "busy":
    threading.Thread(target=model.scorer(None).predict, args=([[-1.0, 0.0]],), daemon=True).start()
sys.stdin.read()
"""


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_c10_the_process_ends_with_the_program_however_that_ends(
    how: signal.Signals, state: str, misbehaving: Callable[[str], Path], tmp_path: Path
) -> None:
    busy = tmp_path / "busy"
    os.mkfifo(busy)
    command = [sys.executable, "-c", PROGRAM, str(misbehaving("later computes")), state]
    environment = {**os.environ, "FLIPSET_TEST_BUSY": str(busy)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout is not None
        ended = watching(int(program.stdout.readline()))
        if state == "busy":
            assert busy.read_text() == "busy"  # waits until the process says so
        program.send_signal(how)
        program.wait(30)
        ended.wait(30)
    assert ended.is_set()


def watching(pid: int) -> threading.Event:
    """Return an event that is set when a process, which need not be a child of this one, has ended."""
    ended = threading.Event()
    descriptor = os.pidfd_open(pid)

    def watch() -> None:
        import select

        select.select([descriptor], [], [])  # readable when the process has ended
        os.close(descriptor)
        ended.set()

    threading.Thread(target=watch, daemon=True).start()
    return ended


@linux
def test_the_process_ends_when_nobody_needs_the_model(misbehaving: Callable[[str], Path]) -> None:
    model = load_model(misbehaving(""), isolate=True)
    ended = watching(model.pid)
    del model
    assert ended.wait(30)


@linux
def test_after_an_interrupt_the_next_call_starts_another_process(misbehaving: Callable[[str], Path]) -> None:
    path = misbehaving("later hang")
    model = load_model(path, isolate=True)
    predict, first = model.scorer(None).predict, model.pid
    # The interrupt comes when the request has been sent and the process is busy with it.
    process = model._process
    read = process._process.stdout.read

    def interrupted(length: int) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return bytes(read(length))

    process._process.stdout = Reading(process._process.stdout, interrupted)
    with pytest.raises(KeyboardInterrupt):
        predict([[-1.0, 0.0]])
    assert model.pid is None
    assert predict([[1.0, 2.0]]).tolist() == [3.0]
    assert model.pid not in (None, first)
    model.close()
    path.write_text("")
    with pytest.raises(Unavailable, match=r"model\.deed has changed since it was opened"):
        predict([[1.0, 2.0]])


@linux
def test_c10_a_call_that_hangs_is_ended_by_its_limit(misbehaving: Callable[[str], Path]) -> None:
    model = load_model(misbehaving("later hang"), isolate=Isolation(call_seconds=0.5))
    predict, ended = model.scorer(None).predict, watching(model.pid)
    for _ in range(2):  # the model is given up
        with pytest.raises(Unavailable, match=r"did not answer when asked 1 query within 0\.5 seconds, and was killed"):
            predict([[-1.0, 0.0]])
    assert ended.wait(30)


class Reading:
    """A stream that reads in another way."""

    def __init__(self, stream: Any, read: Callable[[int], bytes]) -> None:
        self.stream, self.read = stream, read

    def close(self) -> None:
        self.stream.close()


@linux
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_program_has_a_process_of_its_own(misbehaving: Callable[[str], Path]) -> None:
    model = load_model(misbehaving(""), isolate=True)
    predict = model.scorer(None).predict
    forked = os.fork()
    if not forked:
        fine = predict([[1.0, 2.0]]).tolist() == [3.0]
        model.close()
        os._exit(0 if fine else 1)
    assert os.waitpid(forked, 0)[1] == 0
    assert predict([[1.0, 4.0]]).tolist() == [5.0]


def test_threads_take_turns(misbehaving: Callable[[str], Path]) -> None:
    predict = load_model(misbehaving(""), isolate=True).scorer(None).predict
    found: dict[int, list[float]] = {}

    def ask(number: int) -> None:
        found[number] = [predict([[float(number), float(i)]]).item() for i in range(20)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [float(number + i) for i in range(20)] for number in range(4)}


@pytest.mark.parametrize(
    "how",
    [
        {"open_seconds": 0},
        {"open_seconds": "3"},
        {"open_seconds": None},
        {"open_seconds": 1e300},
        {"call_seconds": 0},
        {"call_seconds": float("nan")},
        {"call_seconds": True},
        {"memory": 0},
        {"memory": 1.5},
    ],
)
def test_limits_that_cannot_be_meant_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(how))):
        Isolation(**how)


def test_a_process_that_cannot_be_started_is_one_error(
    misbehaving: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flipset.models.isolated.process.get_executable", lambda: "/nowhere/python")
    with pytest.raises(InputError, match=r"no process can be started to open model\.deed: No such file"):
        load_model(misbehaving(""), isolate=True)


def test_it_says_what_it_is(misbehaving: Callable[[str], Path]) -> None:
    model = load_model(misbehaving(""), isolate=True)
    assert isinstance(model, IsolatedModel)
    assert repr(model) == "IsolatedModel('model.deed')"


# --- damaged files ----------------------------------------------------------------------------------------------------


def damaged(content: bytes, seed: int) -> bytes:
    """Return a file that was cut short, or in which some bytes are others."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return content[: int(rng.integers(len(content) // 4, len(content)))]
    changed = bytearray(content)
    for place in rng.integers(0, len(changed), 30).tolist():
        changed[place] = int(rng.integers(0, 256))
    return bytes(changed)


FORMATS = [
    ("model.ubj", save_xgboost),
    ("model.json", save_xgboost),
    ("model.txt", save_lightgbm),
    ("model.cbm", save_catboost),
]


@pytest.mark.parametrize(
    ("name", "save"),
    FORMATS,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_c10_a_damaged_file_never_kills_the_program(name: str, save: Callable[[Path], Any], tmp_path: Path) -> None:
    open_damaged_files(name, save, tmp_path, range(2))


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "save"),
    [*FORMATS, ("model.json", save_catboost)],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_c10_many_damaged_files_never_kill_the_program(name: str, save: Callable[[Path], Any], tmp_path: Path) -> None:
    open_damaged_files(name, save, tmp_path, range(100))


def open_damaged_files(name: str, save: Callable[[Path], Any], folder: Path, seeds: range) -> dict[str, int]:
    """Open damaged files and ask the models; count what came of it."""
    path = folder / name
    save(path)
    content = path.read_bytes()
    outcomes: dict[str, int] = {}
    for seed in seeds:
        path.write_bytes(damaged(content, seed))
        try:
            read_model(load_model(path, isolate=Isolation(open_seconds=60))).predict(X)
            outcome = "answers"
        except (InputError, OracleError, Unavailable) as error:
            outcome = next((word for word in ("SIGSEGV", "SIGABRT", "SIGKILL") if word in str(error)), "refused")
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes
