"""Bodies: what cannot be read is said in words, and everything can be written."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipset import InputError
from flipset.boundary.limits import MOST_PROBLEMS, MOST_REQUEST_NAMES
from flipset.serve.bodies import Malformed, read_body, takes, write_json
from flipset.serve.cases import Case, Cases, Change, Claim, Pair

SHAPES = (Case, Cases, Change, Claim, Pair)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\xff", "UTF-8"),
        (b"", "must be JSON"),
        (b"{", "must be JSON"),
        (b"[" * 100_000, "not nested so deeply"),
        (b'{"row": ' + b"9" * 5_000 + b"}", "must be JSON"),
        (b'{"row": NaN}', "NaN"),
        (b'{"row": 1, "row": 2}', "twice"),
    ],
)
def test_c9_what_is_no_request_is_an_input_error(body: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_body(body, Case)


def test_c9_the_first_errors_are_listed_without_the_input() -> None:
    bounds = {f"\ud800{i}": "wrong" for i in range(1_000)}
    with pytest.raises(Malformed) as refused:
        read_body(json.dumps({"bounds": bounds}).encode(), Change)
    assert len(refused.value.problems) == MOST_PROBLEMS
    assert "wrong" not in str(refused.value.problems)
    write_json(refused.value.problems)


def test_more_names_than_allowed_are_refused() -> None:
    assert len(read_body(json.dumps({"fixed": ["a"] * MOST_REQUEST_NAMES}).encode(), Change).fixed) == 10_000
    with pytest.raises(Malformed):
        read_body(json.dumps({"fixed": ["a"] * (MOST_REQUEST_NAMES + 1)}).encode(), Change)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=20,
)


@given(ANYTHING)
def test_c9_any_value_is_written_as_json(value: object) -> None:
    json.loads(write_json(value).decode("utf-8"))


def test_half_of_a_surrogate_pair_comes_back() -> None:
    assert write_json({"a": "\ud800"}) == rb'{"a":"\ud800"}'
    assert json.loads(write_json("\ud800é")) == "\ud800é"


@settings(max_examples=300)
@given(st.sampled_from(SHAPES), st.dictionaries(st.sampled_from(["row", "values", "fixed", "rows", "x"]), ANYTHING))
def test_c9_any_object_is_a_request_or_refused(shape: type, value: dict[str, object]) -> None:
    with suppress(InputError, Malformed):
        read_body(json.dumps(value).encode(), shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_interface_says_what_it_takes(shape: type) -> None:
    schema = takes(shape)["requestBody"]["content"]["application/json"]["schema"]
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
