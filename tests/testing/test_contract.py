"""Contracts run under pytest, under unittest, and by themselves."""

import subprocess
import sys
import unittest

import pytest

from flipset.paper import ball_search
from flipset.protocol import Flips, Search
from flipset.testing import Contract, SearchContract, run_contract
from flipset.testing.contract import check


class Ball(SearchContract):
    seeds = range(8)
    most_features = 4

    def search(self, d: int, *, batch: int) -> Search[tuple[Flips, ...]]:
        return ball_search(d, batch=batch)


def test_all_checks_of_a_contract_are_run_and_named() -> None:
    names = run_contract(Ball())
    assert names == sorted(name for name in vars(SearchContract) if name.startswith("test_"))
    assert len(names) >= 8


def test_the_first_check_that_fails_raises() -> None:
    class Fails(Contract):
        def test_a(self) -> None:
            check(True, "never")

        def test_b(self) -> None:
            check(False, "what is wrong")

    with pytest.raises(AssertionError, match="what is wrong"):
        run_contract(Fails())


def test_a_contract_is_a_unittest_case_too() -> None:
    class BallCase(Ball, unittest.TestCase):
        seeds = range(4)

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(BallCase)
    result = unittest.TestResult()
    suite.run(result)
    assert result.wasSuccessful()
    assert result.testsRun == len(run_contract(Ball()))


def test_cases_are_the_same_each_time_and_differ_from_each_other() -> None:
    def drawn() -> list[tuple[str, list[bool]]]:
        return [(case.name, [case.g(query) for query in range(1 << case.d)]) for case in Contract().cases()]

    assert drawn() == drawn()
    assert len({str(answers) for _, answers in drawn()}) > 30


def test_shipping_contracts_imports_no_test_framework() -> None:
    code = "import sys, flipset.testing; print(*{'pytest', 'unittest', 'hypothesis', 'numpy.testing'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
