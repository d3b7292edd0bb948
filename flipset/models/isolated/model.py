"""`IsolatedModel`: a model file that is opened and asked in a process of its own.

What the process says about the model (names, directions, threshold) becomes a `Scorer` like any other, so nothing else
in flipset knows where the model runs.

When the process dies, no other row can be scored either. So opening fails with `InputError`, and a call with
`Unavailable`, which ends a run and keeps what is finished. The process is not started again: what killed it would do so
again. After an interrupt, which ends the process too, the next call starts another one, if the file is still the same.
"""

from __future__ import annotations

import os
import pickle
import warnings
from dataclasses import dataclass
from functools import partial
from threading import TIMEOUT_MAX, Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from flipset.boundary.processes import renew_after_fork
from flipset.errors import InputError, Unavailable
from flipset.models.hashes import file_hash
from flipset.models.isolated.frames import Broken, Gone
from flipset.models.isolated.replies import (
    WIDEST,
    read_array,
    read_facts,
    read_labels,
    read_refusal,
    read_shown,
    read_warnings,
)
from flipset.models.scorer import Scorer
from flipset.plural import count, count_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import NoReturn

    from numpy.typing import NDArray

    from flipset.models.isolated.process import ModelProcess
    from flipset.models.monotone.shown import Declared, Shown

T = TypeVar("T")

CAUSES = "the file is damaged or hostile, or does not fit the installed library"


@dataclass(frozen=True, slots=True)
class Isolation:
    """The limits of a process that a model file is opened in.

    Attributes
    ----------
    open_seconds
        Seconds that opening the file may take, with the start of the process and the imports of the library.
    call_seconds
        Seconds that one call of the model may take; then the process is killed. None: no limit.
    memory
        The most bytes of addresses that the process may have (RLIMIT_AS), where the system can limit them; None: no
        limit. Libraries reserve far more addresses than they use, so leave several gigabytes.
    """

    open_seconds: float = 120.0
    memory: int | None = None
    call_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, seconds in (("open_seconds", self.open_seconds), ("call_seconds", self.call_seconds)):
            is_number = type(seconds) in (int, float) and 0 < seconds <= TIMEOUT_MAX  # type: ignore[operator]
            if not is_number and (name, seconds) != ("call_seconds", None):
                raise InputError(f"{name} must be a number of seconds above 0, got {seconds!r}")
        if self.memory is not None and (type(self.memory) is not int or self.memory < 1):
            raise InputError(f"memory must be a whole number of bytes from 1, got {self.memory!r}")


class IsolatedModel:
    """A model file, opened and asked in a process of its own. `load_model(..., isolate=True)` makes one.

    Several threads may call it; the calls are made one at a time.

    Attributes
    ----------
    file
        The file.
    hash
        The hash of the file as it was when it was opened.
    labels
        The classes of the model by their names, as `labels_of` has them; None if it has none.
    """

    def __init__(self, file: Path, load: Callable[[], Any], limits: Isolation) -> None:
        self.file = file
        self.labels: dict[str, Any] | None = None
        self._load = load  # runs in the process, so it must be possible to pickle it
        self._limits = limits
        self.hash = file_hash(file)  # so that no other process opens another model under this name
        self._lock = Lock()
        self._process: ModelProcess | None = None
        self._ending: finalize[..., IsolatedModel] | None = None
        self._lost = ""  # why the model cannot be asked any more
        renew_after_fork(self)
        self._start()

    def renew(self) -> None:
        """Release the lock, which another thread of the process that was forked may have held."""
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Whoever unpickles this opens the file anew, in another process.
        return IsolatedModel, (self.file, self._load, self._limits)

    def __repr__(self) -> str:
        return f"IsolatedModel({self.file.name!r})"

    @property
    def pid(self) -> int | None:
        """The number of the process; None if there is none."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """End the process. The next call starts another one."""
        with self._lock:
            self._end()

    def scorer(self, positive: Any) -> Scorer:
        """Return the scorer of the model."""
        # Sent with every call, so that the process need not remember it, and another one can take its place.
        key = pickle.dumps(positive)
        facts = self._ask(("read", key), (), lambda about, _: read_facts(about))
        return Scorer(
            partial(self._scores, "predict", key),
            facts.names,
            facts.directions,
            facts.threshold,
            has_own_threshold=facts.has_own_threshold,
            decides=partial(self._scores, "decide", key) if facts.decides else None,
            structure=partial(self._shown, key),
            gives_probabilities=facts.gives_probabilities,
            numbered=facts.numbered,
            signs=facts.signs,
        )

    def _shown(self, key: bytes, declared: Declared) -> Shown:
        """Return what the process says that the model's structure shows."""
        return self._ask(("show", key, declared), (), lambda about, _: read_shown(about, declared))

    def _scores(self, verb: str, key: bytes, rows: Any) -> NDArray[Any]:
        """Return one number for each row."""
        return self._ask((verb, key, rows), rows, lambda about, data: read_array(about, data, len(rows)))

    def _ask(self, request: tuple[Any, ...], rows: Any, read: Callable[[dict[str, Any], bytes], T]) -> T:
        """Return what `read` makes of the reply to a request; raise the error that the reply is."""
        with self._lock:
            process = self._running()
            try:
                about, data = process.ask(request, WIDEST * len(rows), self._limits.call_seconds)
                noted, refusal = read_warnings(about), read_refusal(about, rows)
                if refusal is None:
                    result = read(about, data)
            except Gone:
                self._lose(f"died{_when(rows)} ({process.fate()})")
            except TimeoutError:
                allowed = count_seconds(self._limits.call_seconds or 0)
                self._lose(f"did not answer{_when(rows)} within {allowed}, and was killed")
            except Broken as error:
                self._end()
                self._lose(f"died{_when(rows)} (it sent {error})")
            except BaseException:  # an interrupt: the reply on its way must not be taken for one to the next request
                self._end()
                raise
        # Outside of the lock: a warning may run code of the user, which may call the model.
        self._warn(noted)
        if refusal is not None:
            raise refusal
        return result

    def _running(self) -> ModelProcess:
        """Return the process; start one if an interrupt or a fork has left none."""
        if self._lost:
            raise Unavailable(self._lost)
        if self._process is not None and self._process.started_by == os.getpid():
            return self._process
        if file_hash(self.file) != self.hash:
            raise Unavailable(f"{self.file.name} has changed since it was opened: open it again")
        try:
            return self._start()
        except InputError as error:  # as an `InputError`, it would be taken for an error about rows
            raise Unavailable(str(error)) from None

    def _start(self) -> ModelProcess:
        """Start a process and open the file there."""
        from flipset.models.isolated.process import ModelProcess

        name, seconds = self.file.name, self._limits.open_seconds
        try:
            process = ModelProcess(self._limits.memory)
        except OSError as error:
            raise InputError(f"no process can be started to open {name}: {error.strerror}") from None
        # From here on the process ends with this object, at the latest.
        self._process, self._ending = process, finalize(self, process.end)
        try:
            about, _ = process.ask(("open", self._load), 0, seconds)
            noted, refusal = read_warnings(about), read_refusal(about, ())
            self.labels = None if refusal is not None else read_labels(about)
        except Gone:
            raise InputError(f"{name} killed the process that opened it ({process.fate()}): {CAUSES}") from None
        except Broken as error:
            self._end()
            raise InputError(f"{name}: the process that opened it sent {error}: {CAUSES}") from None
        except TimeoutError:
            self._end()
            raise InputError(f"{name} was not open after {seconds:g} seconds: allow more time, or {CAUSES}") from None
        except BaseException:
            self._end()
            raise
        self._warn(noted)
        if refusal is not None:
            self._end()
            raise refusal
        return process

    def _end(self) -> None:
        """End the process, if there is one."""
        # The finalizer is called rather than the process itself: it runs once, and is not run again at exit.
        ending, self._ending, self._process = self._ending, None, None
        if ending is not None:
            ending()

    def _lose(self, how: str) -> NoReturn:
        """Give the model up: remember why, and say so."""
        self._end()
        self._lost = f"the process that ran {self.file.name} {how}: {CAUSES}, or memory or time ran out"
        raise Unavailable(self._lost)

    def _warn(self, noted: list[str]) -> None:
        for text in noted:
            warnings.warn(f"{self.file.name}: {text}", stacklevel=2)


def _when(rows: Any) -> str:
    """Say how many queries a call had; nothing where it had none."""
    return f" when asked {count(len(rows), 'query')}" if len(rows) else ""
