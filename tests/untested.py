"""Modules without a test file of their own: `flipset/a/b.py` is tested by `tests/a/test_b.py`.

    python -m tests.untested        lists them, with the reason where there is one; exit code 1 if there is none

A module may do without where its tests are about more than itself. `ELSEWHERE` says where they are, and why.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

ELSEWHERE = {
    "__main__": ("cli/test_cli", "`python -m flipset` is the command"),
    "cli/bench": ("cli/test_commands", "a command: it is run as one, and what it prints is read"),
    "cli/clusters": ("cli/test_commands", "its rows are those of the table, and a real cluster is needed"),
    "cli/resumable": ("cli/test_endpoint_commands", "a run is killed at ten points by chance, and goes on"),
    "cli/serving": ("cli/test_cli", "the command is started, and its page is opened"),
    "cli/tables": ("cli/test_commands", "a command: every ending, groups, workers, killed and gone on with"),
    "clusters/frames": ("clusters/test_dask", "frames of Spark and Dask, which need the clusters themselves"),
    "demo": ("cli/test_cli", "the story that the command tells is read, and its numbers are checked"),
    "models/boosters": ("models/test_models", "all kinds of models go through one list of tests"),
    "models/estimators": ("models/test_models", "all kinds of models go through one list of tests"),
    "models/remote/requests": ("models/remote/test_endpoint", "faults come from a server on loopback"),
    "models/remote/transport": ("models/remote/test_endpoint", "connections need a server, which is there"),
    "results/verifying/counterfactuals": ("results/verifying/test_verifying", "all fields are forged, one by one"),
    "search/guided/candidates": ("search/guided/test_search", "a part of the level, as below"),
    "search/guided/facts": ("search/guided/test_search", "a part of the level, as below"),
    "search/guided/level": ("search/guided/test_search", "the search it is the inside of is compared with all sets"),
    "search/guided/rounds": ("search/guided/test_search", "a part of the level, as above"),
    "serve/about": ("serve/test_api", "routes are asked over HTTP, as a page does"),
    "serve/case_routes": ("serve/test_api", "routes are asked over HTTP, as a page does"),
    "serve/cases": ("serve/test_api", "routes are asked over HTTP, as a page does"),
    "serve/table_routes": ("serve/test_api", "routes are asked over HTTP, as a page does"),
    "space/cells": ("space/test_moves", "the name of a type, which moves are made of"),
    "values/row_costs": ("values/test_counterfactuals", "costs are compared with those of every allowed row"),
}  # fmt: skip


def modules() -> list[str]:
    """All modules, as paths inside the package. An `__init__` only names what others hold."""
    paths = sorted((ROOT / "flipset").rglob("*.py"))
    return [
        str(path.relative_to(ROOT / "flipset").with_suffix("").as_posix()) for path in paths if path.stem != "__init__"
    ]


def file_of(module: str) -> Path:
    """Return where the tests of a module are."""
    path = ROOT / "tests" / module
    return path.with_name(f"test_{path.name}.py")


def untested() -> list[str]:
    """List the modules without a test file of their own."""
    return [module for module in modules() if not file_of(module).is_file()]


def main() -> int:
    """Print the list; return 1 if a module has no tests and no reason."""
    open_ = [module for module in untested() if module not in ELSEWHERE]
    for module in untested():
        where, why = ELSEWHERE.get(module, ("NOWHERE", "no test file, and no reason"))
        print(f"{module}: {where} ({why})")
    return int(bool(open_))


if __name__ == "__main__":
    sys.exit(main())
