"""docs/theory.md keeps its word: every symbol of its table imports, every test in it exists."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and "`flipset." in line
]


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_symbol_and_every_test_exists(row: list[str]) -> None:
    _, symbols, tests = row
    for symbol in re.findall(r"`(flipset\.[\w.]+)`", symbols):
        module, _, name = symbol.rpartition(".")
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:  # a method: module.Class.method
            module, _, owner = module.rpartition(".")
            found = getattr(importlib.import_module(module), owner)
        assert hasattr(found, name), symbol
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests)
    assert named, f"no test for {row[0]}"
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"
