"""Whose fault it is when a store fails: the store's, unless the model behind it raised."""

from typing import Any

import numpy as np
import pytest

from flipset import Explainer, Feature, OracleError, Space, StorageError
from flipset.journal.store import blaming_the_store
from tests.journal.test_journal import Remembered

SPACE = Space([Feature(name, "integer", direction=+1, lower=0, upper=9) for name in "abc"])
ROWS = np.random.default_rng(0).integers(0, 6, (12, 3))


class Failing(Remembered):
    """A store that fails after some answers."""

    def before(self, predict: Any) -> Any:
        ask = super().before(predict)

        def failing(rows: Any) -> Any:
            if len(self.answers) > 20:
                raise OSError("the shelf broke")
            return ask(rows)

        return failing


def test_c3_a_store_of_another_kind_is_blamed_for_its_own_faults_and_the_run_ends() -> None:
    calls = []

    def predict(rows: Any) -> Any:
        calls.append(len(rows))
        return np.asarray(rows).sum(axis=1) >= 12

    found = Explainer(predict, SPACE, journal=Failing()).explain_table(ROWS, batch=4, width=2)
    faults = {str(result) for result in found if isinstance(result, StorageError)}
    assert faults == {"the journal Failing failed: OSError: the shelf broke"}
    assert not any(isinstance(result, OracleError) for result in found)


def test_a_model_behind_a_store_is_blamed_for_its_own() -> None:
    def predict(rows: Any) -> Any:
        raise ValueError("not today")

    with pytest.raises(OracleError, match="the model raised ValueError"):
        Explainer(predict, SPACE, journal=Remembered()).explain(ROWS[0])


def test_errors_of_flipset_pass() -> None:
    with pytest.raises(OracleError), blaming_the_store(Remembered()):
        raise OracleError("rows", [])
