"""What runs in the process of a model: it opens the file, then answers requests until the program is gone.

Requests name what they are about in full (`positive` as the program was given it), so the process keeps nothing that
the program would have to know about, and another process can take its place.

Invariant: scores cross as the bytes of the array that the model returned, in its own type. So they are the same to the
last bit. Answers that are not one number for each row do not cross. They are refused here, with the words that
`checked_scores` has for them.
"""

from __future__ import annotations

import os
import pickle
import warnings
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from flipset.boundary.processes import end_with_the_program
from flipset.drivers.answers import as_model_errors
from flipset.errors import FlipsetError, InputError, OracleError, Untrusted, first_line
from flipset.models import labels_of, read_model
from flipset.models.isolated.frames import Gone, read_request, write_reply
from flipset.models.monotone.show import SCORES_ALONE
from flipset.models.monotone.shown import nothing_shown
from flipset.models.scores import as_array, checked_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from flipset.models.monotone.shown import Declared
    from flipset.models.scorer import Scorer

Reply = tuple[dict[str, Any], bytes]

MOST_PRINTED = 64 * 1024 * 1024
"""The most bytes that the process may write to a file. What it prints goes to one, and must not fill the disk."""

LONGEST = 2_000
"""The most characters of an error or a warning that are passed on."""

MOST_WARNINGS = 20


def main(start: dict[str, Any]) -> None:
    """Answer requests until the program is gone."""
    # First of all: whatever happens next, this process must not outlive the program.
    end_with_the_program(start["life"])
    limit_resources(start["memory"])
    requests, replies = take_pipes()
    model = OpenedModel()
    with suppress(Gone):
        while True:
            write_reply(replies, *model.answer(read_request(requests)))
    os._exit(0)  # without the destructors of libraries, some of which wait for threads


def limit_resources(memory: int | None) -> None:
    """Limit what a hostile file can use up: no core files, little disk, and memory as told.

    Where memory runs out all the same, Linux is told to end this process rather than the program.
    """
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _lower(resource.RLIMIT_FSIZE, MOST_PRINTED)
        if memory is not None:
            _lower(resource.RLIMIT_AS, memory)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as adjustment:
        adjustment.write("1000")


def _lower(limit: int, most: int) -> None:
    import resource

    _, hard = resource.getrlimit(limit)
    # Only ever downwards. Where the administrator allows less, that stays.
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(limit, (most, most))


def take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipes of requests and replies; what libraries print goes where errors go, and they read nothing."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    # A library that prints to standard output would otherwise write into the middle of a reply.
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


class OpenedModel:
    """The model of this process, and its scorers."""

    def __init__(self) -> None:
        self._model: Any = None
        self._scorers: dict[bytes, Scorer] = {}  # by the pickle of `positive`, which need not be hashable

    def answer(self, request: tuple[Any, ...]) -> Reply:
        """Return the reply to a request; errors and warnings are part of it."""
        verb, *arguments = request
        with warnings.catch_warnings(record=True) as noted:
            try:
                about, data = getattr(self, f"_{verb}")(*arguments)
            except FlipsetError as error:
                about, data = _refusal(error), b""
        if noted:
            about["warnings"] = [str(one.message)[:LONGEST] for one in noted[:MOST_WARNINGS]]
        return about, data

    def _open(self, load: Callable[[], Any]) -> Reply:
        self._model = load()
        labels = labels_of(self._model)
        if labels is None:
            return {"labels": None}, b""
        plain = {text: value for text, value in labels.items() if isinstance(value, (str, int, float))}
        return {"labels": list(plain.items())}, b""

    def _read(self, positive: bytes) -> Reply:
        try:
            scorer = self._scorer(positive)
        except FlipsetError:
            raise
        except Exception as error:  # a damaged file may be opened and still not be a model
            raise InputError(f"it cannot be read as a model: {first_line(error)}") from None
        return {
            "names": None if scorer.names is None else list(map(str, scorer.names)),
            "directions": {str(name): int(sign) for name, sign in scorer.directions.items()},
            "numbered": None if scorer.numbered is None else list(scorer.numbered),
            "signs": list(map(int, scorer.signs)),
            "threshold": None if scorer.threshold is None else float(scorer.threshold),
            "has_own_threshold": scorer.has_own_threshold,
            "decides": scorer.decides is not None,
            "gives_probabilities": scorer.gives_probabilities,
        }, b""

    def _scorer(self, positive: bytes) -> Scorer:
        if positive not in self._scorers:
            self._scorers[positive] = read_model(self._model, pickle.loads(positive))
        return self._scorers[positive]

    def _predict(self, positive: bytes, rows: Any) -> Reply:
        with as_model_errors(rows):
            scores = as_array(self._scorer(positive).predict(rows))
        checked = checked_scores(scores, rows)
        # A long double that is checked is a float64 without loss.
        return _array(checked if scores.dtype.itemsize > 8 else np.asarray(scores))

    def _show(self, positive: bytes, declared: Declared) -> Reply:
        structure = self._scorer(positive).structure
        shown = nothing_shown(declared, SCORES_ALONE) if structure is None else structure(declared)
        return {
            "proved": sorted(shown.proved),
            "why_not": dict(shown.why_not),
            "suspects": [[one.feature, dict(one.worse), dict(one.better), one.tree] for one in shown.suspects],
            "notes": list(shown.notes),
            "out_of_order": sorted(shown.out_of_order),
        }, b""

    def _decide(self, positive: bytes, rows: Any) -> Reply:
        decides = self._scorer(positive).decides
        assert decides is not None, "asked only where the reply to `read` says so"
        with as_model_errors(rows):
            decisions = np.asarray(decides(rows), dtype=np.bool_)
        if decisions.shape != (len(rows),):
            raise OracleError(f"the model must return one decision per row, got shape {decisions.shape}", rows)
        return _array(decisions)


def _array(values: Any) -> Reply:
    return {"dtype": values.dtype.name}, np.ascontiguousarray(values).tobytes()


def _refusal(error: FlipsetError) -> dict[str, Any]:
    """Return an error as data. Errors of other kinds than these are about the model, as `OracleError` is."""
    kind = next((kind for kind in (Untrusted, InputError) if isinstance(error, kind)), OracleError)
    about: dict[str, Any] = {"error": kind.__name__, "message": str(error)[:LONGEST]}
    if isinstance(error, Untrusted):
        about |= {"message": error.problem[:LONGEST], "types": list(error.types)}
    return about
