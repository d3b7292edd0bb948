"""Tests do not depend on how fast the machine is: no deadlines, no sleeping, no looking at the clock."""

import ast
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@given(example=st.none())
def test_b17_no_test_has_a_deadline(example: None) -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def calls(path: Path) -> set[str]:
    """What a file calls, as it is written there: "time.sleep", "sleep"."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and not is_a_turn(node)}
    return {name.removeprefix("self.") for name in found}


def is_a_turn(call: ast.Call) -> bool:
    """Say whether a call only lets others go first, as `asyncio.sleep(0)` does."""
    return ast.unparse(call).endswith("sleep(0)")


def those_who_call(names: set[str], pattern: str) -> list[str]:
    """Return the files that call something of one of these names."""
    tests = Path(__file__).parent
    paths = sorted(tests.rglob(pattern))
    assert len(paths) > 50
    return [str(path.relative_to(tests)) for path in paths if {name.split(".")[-1] for name in calls(path)} & names]


def test_no_test_sleeps() -> None:
    assert those_who_call({"sleep"}, "*.py") == []


def test_no_test_looks_at_the_clock() -> None:
    clocks = {"perf_counter", "monotonic", "process_time", "perf_counter_ns", "monotonic_ns"}
    assert those_who_call(clocks, "test_*.py") == []
