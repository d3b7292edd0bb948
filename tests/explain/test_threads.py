"""Limits on threads: inside a block for callers, for good only in processes and threads that are flipset's own."""

import ast
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble  # noqa: F401  (brings OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

import flipset
from flipset import Explainer, Feature, Space
from flipset.clusters.batches import explain_batch, make_job
from flipset.explain import threads
from flipset.explain.threads import keep_thread_on_one_thread, one_thread
from flipset.serve.calls import ModelAccess
from flipset.serve.jobs import Workers
from tests.patience import PATIENCE

PACKAGE = Path(flipset.__file__).parent
SPACE = Space([Feature("x", "integer", direction=+1, lower=0, upper=9)])
FRAME = pd.DataFrame({"x": [1, 2, 8], "id": [10, 11, 12]})


def limits(api: str) -> list[int]:
    """Return the limits of the libraries that are loaded, as this thread has them."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == api]


@pytest.fixture(autouse=True)
def two_threads() -> Any:
    """Begin with a limit of two: tests before these may have run a command, which limits its process for good."""
    with threadpool_limits(limits=2):
        assert set(limits("openmp")) == {2}
        yield
        assert set(limits("openmp")) == {2}, "the limit of the caller was changed"


SEEN: list[list[int]] = []


def noting(rows: Any) -> Any:
    """Be a model that notes its limits when it is asked."""
    SEEN.append(limits("openmp"))
    return np.asarray(rows)[:, 0] >= 5


def test_a_block_limits_openmp_and_ends() -> None:
    blas = limits("blas")
    with one_thread():
        assert set(limits("openmp")) == {1}
        assert limits("blas") == blas
        with one_thread():
            assert set(limits("openmp")) == {1}
        assert set(limits("openmp")) == {1}
    assert set(limits("openmp")) == {2}


def test_a_block_ends_with_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert set(limits("openmp")) == {2}


def test_without_a_block_nothing_is_limited() -> None:
    one_thread()
    assert set(limits("openmp")) == {2}


def test_blocks_of_threads_that_overlap_leave_nothing_behind() -> None:
    everybody = Barrier(3, timeout=PATIENCE)

    def block(leaves_first: bool) -> list[set[int]]:
        found = [set(limits("openmp"))]
        if not leaves_first:
            everybody.wait()  # the first is inside
        with one_thread():
            found.append(set(limits("openmp")))
            if leaves_first:
                everybody.wait()
            everybody.wait()  # both are inside
            if not leaves_first:
                everybody.wait()  # the first has left
                found.append(set(limits("openmp")))
        if leaves_first:
            everybody.wait()
        found.append(set(limits("openmp")))
        return found

    blas = limits("blas")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(block, True), pool.submit(block, False)
        for _ in range(3):
            everybody.wait()
            assert set(limits("openmp")) == {2}
    (own, inside, after), (other, *insides, last) = first.result(), second.result()
    assert inside == {1}
    assert insides == [{1}, {1}]
    assert (after, last) == (own, other)
    assert limits("blas") == blas


def test_a_batch_is_explained_on_one_thread_and_changes_nothing() -> None:
    job = make_job(Explainer(noting, SPACE), list(FRAME.columns), None, {})
    blas = limits("blas")
    SEEN.clear()
    assert explain_batch(job, FRAME)["new_x"].tolist()[:2] == [5, 5]
    assert SEEN
    assert {limit for seen in SEEN for limit in seen} == {1}
    assert (set(limits("openmp")), limits("blas")) == ({2}, blas)


def test_dask_in_this_process_changes_nothing() -> None:
    to_dask: Any = dask.dataframe.from_pandas
    blas = limits("blas")
    with dask.config.set(scheduler="threads"):
        found = Explainer(noting, SPACE).explain_dask(to_dask(FRAME, npartitions=3))
        assert found.compute()["decision"].tolist() == [False, False, True]
    assert (set(limits("openmp")), limits("blas")) == ({2}, blas)


def test_the_page_limits_its_own_threads_alone() -> None:
    blas = limits("blas")
    workers = Workers(Explainer(noting, SPACE), ModelAccess())
    try:
        for pool in workers._pools.values():
            assert set(pool.submit(limits, "openmp").result()) == {1}
    finally:
        workers.close()
    assert (set(limits("openmp")), limits("blas")) == ({2}, blas)


def test_nothing_is_limited_where_threadpoolctl_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with one_thread():
        pass
    keep_thread_on_one_thread()
    threads.keep_process_on_one_thread()


def test_nothing_is_limited_for_a_thread_where_openmp_has_no_limit_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "HAS_LIMITS_OF_THREADS", False)
    keep_thread_on_one_thread()
    with one_thread():
        assert set(limits("openmp")) == {2}


def test_a_process_of_our_own_is_limited_for_good() -> None:
    code = (
        "import sklearn.ensemble; from threadpoolctl import threadpool_info; "
        "from flipset.explain.threads import keep_process_on_one_thread; keep_process_on_one_thread(); "
        "print({library['num_threads'] for library in threadpool_info()})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"


# Who may limit what for good: processes that are spawned or are a command, threads that the page starts.
FOR_GOOD = {
    "keep_process_on_one_thread": {"explain/workers.py", "cli/inputs.py"},
    "keep_thread_on_one_thread": {"serve/jobs.py", "serve/table.py"},
}


@pytest.mark.parametrize("name", FOR_GOOD)
def test_only_owners_limit_for_good(name: str) -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}
    }
    assert users == FOR_GOOD[name]
