"""What the process answers, asked without a process."""

import pickle
from typing import Any

import numpy as np
import pytest

from flipset.errors import InputError, Untrusted
from flipset.models.isolated.child import LONGEST, OpenedModel
from flipset.models.monotone.shown import Declared
from tests.models import loaders

KEY = pickle.dumps(None)


def opened(model: Any) -> OpenedModel:
    made = OpenedModel()
    assert "error" not in made.answer(("open", lambda: model))[0]
    return made


def test_a_function_shows_nothing_about_its_directions() -> None:
    about, data = opened(lambda rows: rows).answer(("show", KEY, Declared(("a",), {"a": 1})))
    assert (about["proved"], list(about["why_not"]), data) == ([], ["a"], b"")


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int64", "uint8", "bool"])
def test_scores_cross_in_their_own_type(kind: str) -> None:
    scores = np.array([0, 1, 1], dtype=kind)
    about, data = opened(lambda rows: scores).answer(("predict", KEY, [[1], [2], [3]]))
    assert (about, data) == ({"dtype": kind}, scores.tobytes())


def test_long_doubles_that_fit_cross_as_floats() -> None:
    about, data = opened(lambda rows: np.array([0.5], dtype=np.longdouble)).answer(("predict", KEY, [[1]]))
    assert (about, data) == ({"dtype": "float64"}, np.array([0.5]).tobytes())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([0.5], "one score per row: shape (2,), got (1,)"),
        (["a", "b"], "numbers or booleans"),
        ([0.5, np.nan], "NaN for row 1"),
        ([2**60, 0], "too large for a score"),
        (np.ma.array([1.0, 2.0], mask=[True, False]), "masked score for row 0"),
    ],
)
def test_answers_that_are_no_scores_are_refused_in_the_words_of_the_library(answer: Any, words: str) -> None:
    about, data = opened(lambda rows: answer).answer(("predict", KEY, [[1], [2]]))
    assert about["error"] == "OracleError"
    assert words in about["message"]
    assert data == b""


@pytest.mark.filterwarnings("default")  # as in the process, where no test turns warnings into errors
def test_errors_and_warnings_are_data() -> None:
    def refuse(error: Exception) -> None:
        raise error

    fresh = OpenedModel()
    assert fresh.answer(("open", lambda: refuse(InputError("x" * 9_999))))[0] == {
        "error": "InputError",
        "message": "x" * LONGEST,
    }
    about = fresh.answer(("open", lambda: refuse(Untrusted("it holds types.", ["a.B"]))))[0]
    assert about == {"error": "Untrusted", "message": "it holds types.", "types": ["a.B"]}
    assert fresh.answer(("open", loaders.warn))[0] == {"labels": None, "warnings": ["made with another version"]}


def test_a_model_that_cannot_be_read_is_an_input_error() -> None:
    about = opened(3).answer(("read", KEY))[0]
    assert about["error"] == "InputError"
    assert "a model must be a function of rows" in about["message"]

    about = opened(loaders.Sum(None)).answer(("read", b"no pickle"))[0]
    assert about["error"] == "InputError"
    assert "cannot be read as a model" in about["message"]


def test_scorers_differ_by_what_is_positive() -> None:
    both = opened(lambda rows: np.array([[0.25, 0.75]] * len(rows)))
    for positive, score in ((0, 0.25), (1, 0.75), ([0, 1], 1.0)):
        _, data = both.answer(("predict", pickle.dumps(positive), [[1]]))
        assert np.frombuffer(data).tolist() == [score]
