"""Fingerprints: of files, folders, isolated models, endpoints and fitted models, and how they are compared."""

import hashlib
import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from flipset.models import load_model
from flipset.models.fingerprints import (
    is_known_by_name_alone,
    is_same_model,
    model_fingerprint,
    model_fingerprints,
)
from flipset.models.remote.endpoint import Endpoint

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > X[:, 1]).astype(int)


@pytest.fixture(scope="module")
def model() -> Any:
    return LogisticRegression().fit(X, Y)


@pytest.fixture
def file(model: Any, tmp_path: Path) -> Path:
    skops.io.dump(model, tmp_path / "model.skops")
    return tmp_path / "model.skops"


def test_a_file_is_its_hash_and_its_content(model: Any, file: Path) -> None:
    expected = f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert model_fingerprints(file) == model_fingerprints(str(file)) == (expected, *model_fingerprints(model))


def test_an_isolated_model_is_the_file_that_was_opened(file: Path) -> None:
    isolated = load_model(file, isolate=True)
    (mine,) = model_fingerprints(isolated)
    assert mine == model_fingerprints(file)[0]
    file.write_bytes(b"another file by now")
    assert model_fingerprints(isolated) == (mine,)
    isolated.close()


class Loaded:
    """Says so when a pickle of it is loaded."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("the pickle was loaded",)


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.skops", "model.txt", "model.unknown"])
def test_what_must_not_or_cannot_be_opened_has_the_hash_of_its_file_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(pickle.dumps(Loaded()))
    assert model_fingerprints(file) == (f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}",)


def test_a_folder_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "MLmodel").write_text("flavors: {}")
    (only,) = model_fingerprints(tmp_path)
    assert only.startswith("folder-sha256:")


# --- endpoints --------------------------------------------------------------------------------------------------------

ADDRESS = "https://scores.example/v2/models/loans/infer"


def test_an_endpoint_is_its_name_and_the_version_that_is_known_without_a_request() -> None:
    assert model_fingerprints(ADDRESS) == model_fingerprints(Endpoint(ADDRESS)) == (f"endpoint:{ADDRESS}",)
    assert model_fingerprints(Endpoint(ADDRESS, version="3")) == (f"endpoint:{ADDRESS} version 3",)
    endpoint = Endpoint(ADDRESS)
    endpoint._requests.version = "4"
    assert model_fingerprints(endpoint, positive=1) == (f"endpoint:{ADDRESS} version 4 positive=1",)


def test_secrets_in_an_address_do_not_appear() -> None:
    (only,) = model_fingerprints(f"{ADDRESS}?key=hunter2")
    assert "hunter2" not in only
    assert only.startswith("endpoint:https://scores.example/")


class Client(Endpoint):
    """A look-alike with a text of its own."""

    def __str__(self) -> str:
        return "loans"


def test_a_look_alike_goes_by_its_own_text() -> None:
    assert model_fingerprints(Client(ADDRESS, version="2")) == ("endpoint:loans version 2",)


class Nameless:
    """A look-alike whose text would be a place in memory."""

    in_flight = 1
    price_per_row = 0.0
    call_times = None
    answered_as = "5"

    def __call__(self, rows: Any, names: Any = None) -> Any: ...
    def ask(self, rows: Any, names: Any = None) -> Any: ...
    def fill(self) -> int:
        return 1

    def identity(self) -> str:
        return pytest.fail("a request was sent")

    def close(self) -> None: ...


def test_a_look_alike_without_a_text_has_no_fingerprint() -> None:
    assert model_fingerprints(Nameless()) == ()


# --- positive ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positive", "text"),
    [
        (0, "0"),
        (1, "1"),
        (1.0, "1"),
        (True, "1"),
        (np.int64(1), "1"),
        ([1], "1"),
        (0.5, "0.5"),
        ("yes", "'yes'"),
        (np.str_("yes"), "'yes'"),
        ("1", "'1'"),
        ([2, 0], "[0, 2]"),
        ({"b", "a"}, "['a', 'b']"),
        (np.array([2, 1]), "[1, 2]"),
    ],
)
def test_the_class_is_part_of_a_fingerprint(file: Path, positive: Any, text: str) -> None:
    plain = model_fingerprints(file)
    assert model_fingerprints(file, positive) == tuple(f"{one} positive={text}" for one in plain)


def test_labels_count_where_a_class_is_named() -> None:
    # Their boosters are equal. The class 0 is the first of one model and the second of the other.
    first, second = (
        lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(X, labels) for labels in (Y, Y - 1)
    )
    assert model_fingerprints(first) == model_fingerprints(second) == model_fingerprints(first.booster_)
    assert model_fingerprints(first, positive=0) != model_fingerprints(second, positive=0)
    assert model_fingerprints(first, positive=0)[0].startswith(model_fingerprints(first)[0])


# --- comparing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recorded", "own", "same"),
    [
        (None, ["sha256:1"], None),
        ("sha256:1", [], None),
        ("sha256:1", ["sha256:1"], True),
        ("sha256:1", ["sha256:2"], False),
        ("content-sha256:3", ["sha256:2", "content-sha256:3"], True),
        ("content-sha256:4", ["sha256:2", "content-sha256:3"], False),
        ("content-sha256:4", ["sha256:2"], None),
        ("sha256:1", ["folder-sha256:1"], None),
        ("sha256:1 positive=0", ["sha256:1 positive=0"], True),
        ("sha256:1 positive=0", ["sha256:1 positive=1"], False),
        ("sha256:1 positive=0", ["sha256:2 positive=0"], False),
        ("sha256:1 positive=0", ["sha256:2"], False),
        ("sha256:1 positive=1", ["sha256:1"], None),
        ("content-sha256:1 positive=1", ["content-sha256:2"], None),
        ("endpoint:a version 1", ["endpoint:a version 1"], True),
        ("endpoint:a version 1", ["endpoint:a version 2"], False),
        ("endpoint:a version 1", ["endpoint:a"], None),
        ("endpoint:a version 1", ["endpoint:b"], False),
        ("endpoint:a version 1", ["sha256:1"], None),
        ("endpoint:a version 1 positive=1", ["endpoint:a version 1 positive=0"], False),
        ("a fingerprint of another kind", ["sha256:1"], None),
    ],
)
def test_comparing(recorded: str | None, own: list[str], same: bool | None) -> None:
    assert is_same_model(recorded, own) is same


def test_a_name_does_not_hide_the_content() -> None:
    one, other = (LogisticRegression(C=c).fit(X, Y) for c in (1.0, 0.01))
    named, renamed = (model_fingerprints(one, 1, name) for name in ("loans, version 3", "loans, version 4"))
    assert named[0].startswith("content-sha256:")
    assert named[0].endswith(" positive=1 name=loans, version 3")
    assert named[-1] == "name:loans, version 3 positive=1"
    assert model_fingerprint(one, 1, "loans, version 3") == named[0]
    again = model_fingerprints(other, 1, "loans, version 3")
    assert is_same_model(named[0], again) is False  # the name is the same, the content is not
    assert is_same_model(named[0], renamed) is True  # the content is the same, the name is not
    assert is_same_model(named[0], model_fingerprints(one, 1)) is True
    assert is_same_model(model_fingerprint(one, 1), named) is True
    assert not any(is_known_by_name_alone(named[0], own) for own in (named, again, renamed))


def test_a_name_decides_only_where_no_content_can_be_compared() -> None:
    model = LogisticRegression().fit(X, Y)
    function = model_fingerprints(lambda rows: rows[:, 0], None, "loans")
    assert function == ("name:loans",)
    own = model_fingerprints(model, None, "loans")
    assert is_same_model("name:loans", own) is True
    assert is_known_by_name_alone("name:loans", own)
    assert is_same_model(own[0], function) is True
    assert is_known_by_name_alone(own[0], function)
    assert is_same_model("name:other", own) is False
    assert is_same_model(own[0], ["sha256:12"]) is None
    assert not is_known_by_name_alone(own[0], ["sha256:12"])
    assert not is_known_by_name_alone(None, own)
