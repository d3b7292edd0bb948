"""Fingerprints: short texts by which a model is recognised later, in another process or on another machine.

There are four kinds:

- `sha256:…`: the hash of a model file, as `sha256sum` prints it (`folder-sha256:…` of a folder);
- `content-sha256:…`: the hash of what decides the scores of a model, whether it is in memory or in a file;
- `endpoint:NAME version V`: the name of an endpoint, and its version where that is known;
- `name:TEXT`: what the user says identifies the model, where nothing else does. Otherwise the name stands behind the
  hash: `content-sha256:… name=TEXT`. A name never hides a hash, and hashes that differ count more than equal names.

Invariant: two models that score differently do not share a fingerprint. So a model that holds a function or an object
of an unknown kind has none. The converse does not hold: a model that was fitted by another version of its library may
have another fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from flipset.errors import InputError
from flipset.models.canonical import NotCanonical, digest
from flipset.models.files import load_model
from flipset.models.hashes import file_hash
from flipset.models.isolated.model import IsolatedModel
from flipset.models.object_content import onnx_bytes, unfold
from flipset.models.remote.address import is_address
from flipset.models.remote.remote_model import RemoteModel

FILE = "sha256"
CONTENT = "content-sha256"
NAME = "name"
ENDPOINT = "endpoint"
POSITIVE = " positive="
VERSION = " version "
NAMED = " name="


def model_fingerprint(given: Any, positive: Any = None, identity: str | None = None) -> str | None:
    """Return the preferred one of `model_fingerprints`, without looking for the others; None if there is none."""
    return next(_each(given, positive, identity), None)


def model_fingerprints(given: Any, positive: Any = None, identity: str | None = None) -> tuple[str, ...]:
    """Return the fingerprints by which a model can be recognised, the preferred one first; none if there is none.

    Parameters
    ----------
    given
        A model that `Explainer` takes: the name of a file, an address, a fitted model, an endpoint. No query is asked
        and no request is sent. A file is opened, unless opening it may run code.
    positive
        The class, or the classes, whose probability is the score. The score of another class is another fingerprint.
    identity
        What the user says identifies the model: a hash of its file, or any other text.
    """
    return tuple(_each(given, positive, identity))


def _each(given: Any, positive: Any, identity: str | None) -> Iterator[str]:
    after = "" if positive is None else POSITIVE + _canonical(positive)
    if identity is None or identity.startswith(f"{FILE}:"):
        yield from () if identity is None else [identity + after]
        yield from (one + after for one in _fingerprints(given, positive))
    else:
        yield from (f"{one}{after}{NAMED}{identity}" for one in _fingerprints(given, positive))
        yield f"{NAME}:{identity}{after}"


def _fingerprints(given: Any, positive: Any) -> Iterator[str]:
    if isinstance(given, IsolatedModel):
        yield given.hash
    elif not isinstance(given, (str, PathLike)):
        yield from _endpoint(given) if isinstance(given, RemoteModel) else _content(given, positive)
    elif is_address(str(given)):
        from flipset.models.remote.endpoint import Endpoint

        yield from _endpoint(Endpoint(str(given)))
    else:
        yield file_hash(given)
        yield from _content_of_file(Path(given), positive)


def _content_of_file(file: Path, positive: Any) -> list[str]:
    """Return the fingerprint of the model in a file, if the file can be opened and runs no code."""
    if file.suffix.lower() == ".onnx":
        # A session does not say what is in it. The bytes of the file do.
        try:
            return [_hash(("onnxruntime", onnx_bytes(file.read_bytes())))]
        except NotCanonical:
            return []
    try:
        return _content(load_model(file), positive)
    except InputError:
        return []


def _content(model: Any, positive: Any) -> list[str]:
    try:
        content = unfold(model)
        labels = None if positive is None else _labels(model)
        return [_hash(content if labels is None else (*content, labels))]
    except NotCanonical:
        return []


def _labels(model: Any) -> list[Any] | None:
    """Return the classes of an estimator, unless they are 0, 1, and so on.

    They are not in every booster. With `positive`, they decide which column of the probabilities is the score.
    """
    classes = getattr(model, "classes_", None)
    labels = None if classes is None else [_plain(label) for label in classes]
    return None if labels is None or labels == list(range(len(labels))) else labels


def _hash(content: tuple[Any, ...]) -> str:
    return f"{CONTENT}:{digest(content, unfold)}"


def _endpoint(model: RemoteModel) -> list[str]:
    kind = type(model)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return []  # its text would be a place in memory
    version = getattr(model, "version", None) or model.answered_as
    return [f"{ENDPOINT}:{model}{VERSION}{version}" if version else f"{ENDPOINT}:{model}"]


# --- positive ---------------------------------------------------------------------------------------------------------


def _canonical(positive: Any) -> str:
    """Return classes as text: the same for one class and for a list of it, in any order, and for 1, 1.0 and True."""
    several = isinstance(positive, Iterable) and not isinstance(positive, (str, bytes))
    labels = sorted(repr(_plain(label)) for label in (positive if several else [positive]))
    return labels[0] if len(labels) == 1 else f"[{', '.join(labels)}]"


def _plain(label: Any) -> Any:
    """Return a label as a plain value. Labels that are equal are the same class, so 1.0 and True become 1."""
    plain = label.item() if hasattr(label, "item") else label
    whole = isinstance(plain, (bool, float)) and plain == plain and abs(plain) < 1 << 53 and plain == int(plain)
    return int(plain) if whole else plain


# --- comparing --------------------------------------------------------------------------------------------------------


def is_same_model(recorded: str | None, own: Sequence[str]) -> bool | None:
    """Say whether a recorded fingerprint is that of a model; None if this cannot be said.

    Parameters
    ----------
    recorded
        A fingerprint that was written down earlier; None if there was none.
    own
        The fingerprints of the model at hand, from `model_fingerprints`.

    Examples
    --------
    >>> is_same_model("sha256:12", ["sha256:12"]), is_same_model("sha256:12", ["sha256:34", "content-sha256:56"])
    (True, False)
    >>> print(is_same_model("sha256:12", ["content-sha256:56"]))
    None
    >>> is_same_model("sha256:12 name=loans", ["sha256:34 name=loans"])
    False
    """
    if recorded is None:
        return None
    theirs, ours = _content_part(recorded), [_content_part(one) for one in own]
    if theirs is not None and theirs in ours:
        return True
    if theirs is not None and any(one is not None and _differ(theirs, one) for one in ours):
        return False
    name, names = _name_part(recorded), {_name_part(one) for one in own} - {None}
    return None if name is None or not names else name in names


def is_known_by_name_alone(recorded: str | None, own: Sequence[str]) -> bool:
    """Say whether a model is recognised, or not, by the name that its user gave it, because no hashes can be compared.

    Examples
    --------
    >>> is_known_by_name_alone("name:loans", ["sha256:34 name=loans", "name:loans"])
    True
    >>> is_known_by_name_alone("sha256:34 name=loans", ["sha256:34 name=loans", "name:loans"])
    False
    """
    if recorded is None:
        return False
    theirs = _content_part(recorded)
    unnamed = [one for one in map(_content_part, own) if one is not None]
    by_content = None if theirs is None else is_same_model(theirs, unnamed)
    return by_content is None and is_same_model(recorded, own) is not None


def _content_part(one: str) -> str | None:
    """Return a fingerprint without the name that the user gave; None if it is a name alone."""
    return None if one.startswith(f"{NAME}:") else one.partition(NAMED)[0]


def _name_part(one: str) -> str | None:
    """Return the name that the user gave, with the class that counts; None if there is none."""
    if one.startswith(f"{NAME}:"):
        return one.removeprefix(f"{NAME}:")
    content, named, name = one.partition(NAMED)
    _, positive, label = content.partition(POSITIVE)
    return name + positive + label if named else None


def _differ(one: str, other: str) -> bool:
    """Say whether two fingerprints, which are not equal, are certainly of different models or classes."""
    (one, _, one_class), (other, _, other_class) = one.partition(POSITIVE), other.partition(POSITIVE)
    kind, _, one_name = one.partition(":")
    other_kind, _, other_name = other.partition(":")
    if kind != other_kind:
        return False
    if one_name == other_name:
        return bool(one_class and other_class)  # without a class, it is the second one, whatever that is called
    if kind == ENDPOINT:
        (one_name, _, version), (other_name, _, other_version) = (
            name.partition(VERSION) for name in (one_name, other_name)
        )
        return one_name != other_name or bool(version and other_version)
    # The content of a model with a class may include the labels of its classes, which that without one does not.
    return kind != CONTENT or bool(one_class) == bool(other_class)
