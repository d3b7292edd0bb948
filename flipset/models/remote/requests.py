"""Requests to one endpoint: rows in parts, again after faults that may pass, and no more than was allowed.

All of it is coroutines, in one event loop in a thread of its own: the connections belong to that loop. `submit` starts
one from anywhere and returns a future; there is no other way in.

`in_flight` is limited here, by one semaphore, and nowhere else. It is a promise to whoever runs the endpoint, so it
must hold for everybody who asks: direct calls with many rows, several tables at a time, coroutines, requests that are
sent again. (The runner of a table asks how many calls this can carry, to decide when to fill the next one: more would
only wait here, half empty.)

Rows that were sent are paid for. So a call whose rows could not all be sent within `max_sent` is refused before its
first request, and where one request of a call fails, the answers of the others are kept for the next call with these
rows.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from flipset.boundary.processes import renew_after_fork
from flipset.drivers.loop_thread import LoopThread
from flipset.errors import BudgetExhausted, Fault, FlipsetError, OracleError, Unavailable, first_line
from flipset.models.remote.bill import Bill
from flipset.models.remote.call_times import CallTimes
from flipset.models.remote.faults import ABOUT_ROWS, Malformed, Refused, Transient, form_of
from flipset.models.remote.transport import Transport, open_client
from flipset.models.remote.wire import as_json
from flipset.plural import count
from flipset.space.identity import row_key

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from concurrent.futures import Future

    import httpx2

    from flipset.models.remote.settings import Settings
    from flipset.models.remote.wire import Column

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Call:
    """A call that takes several requests, each made by a task.

    Attributes
    ----------
    reserved
        For each task whose rows were not sent yet, how many rows it will send. They count against `max_sent`.
    under_way
        Tasks that wait for the endpoint's answer.
    ended
        Whether some request failed for good, so that no other is sent.
    """

    reserved: dict[asyncio.Task[Any], int] = field(default_factory=dict)
    under_way: set[asyncio.Task[Any]] = field(default_factory=set)
    ended: bool = False


async def _errors_of(tasks: Sequence[asyncio.Task[Any]], call: _Call, grace: float) -> list[BaseException]:
    """Wait until all requests of a call have ended, and return the errors of those that failed.

    After an error, requests that are not sent yet are given up. Those under way are waited for, since they are paid
    for; after a fault for `grace` seconds only, because the endpoint may never answer.
    """
    pending: set[asyncio.Task[Any]] = set(tasks)
    errors: list[BaseException] = []
    end: float | None = None  # when the grace is over
    while pending:
        left = None if end is None else max(0.0, end - time.monotonic())
        done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_EXCEPTION)
        errors += [error for task in done if not task.cancelled() and (error := task.exception()) is not None]
        call.ended = bool(errors)
        if end is None and any(isinstance(error, Fault) for error in errors):
            end = time.monotonic() + grace
        is_over = end is not None and time.monotonic() >= end
        for task in pending:
            if is_over or task not in call.under_way:
                task.cancel()
    return errors


class Requests:
    """Requests to one endpoint from one process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.call_times = CallTimes()
        self.bill = Bill()
        self.version: str | None = None  # which its answers say they are of
        self._transport = Transport(settings)
        self.redactor = self._transport.redactor
        self._lock = Lock()
        self._thread: LoopThread | None = None
        self._client: httpx2.AsyncClient | None = None
        self._closing: finalize[..., Requests] | None = None
        self._process = 0
        self._slots = asyncio.Semaphore(settings.in_flight)
        self._next = 0.0  # when the next request may go out
        self._answered: tuple[Sequence[Column], Sequence[Any]] | None = None  # a row that was answered
        self._form: tuple[str, int] | None = None  # what its answers look like
        self._reserved = 0  # rows of calls under way that were not sent yet
        self._kept: dict[Any, Any] = {}  # answers of calls that failed in another part, by columns and row
        renew_after_fork(self)

    def renew(self) -> None:
        """Leave the thread, which a fork does not copy, and the connections to the process that was forked."""
        self._lock, self._thread = Lock(), None
        if self._closing is not None:
            self._closing.detach()  # it would wait for a thread that does not exist here
            self._closing = None

    # --- from other threads ---------------------------------------------------------------------------------------

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start a coroutine where the connections are, which are opened if they are not open."""
        with self._lock:  # nobody closes them in between
            if self._thread is None or self._process != os.getpid():  # a thread is not taken along by a fork
                self._client = open_client(self.settings, self.redactor)
                self._thread = LoopThread("flipset-endpoint")
                self._process = os.getpid()
                self._slots = asyncio.Semaphore(self.settings.in_flight)
                # At the latest when nobody needs them any more.
                self._closing = finalize(self, self._thread.close, self._client.aclose)
            return self._thread.submit(work())

    def close(self) -> None:
        """Give up all requests, close the connections and end the thread. The next request opens them again."""
        with self._lock:
            closing, self._closing, self._thread = self._closing, None, None
            if closing is not None and self._process == os.getpid():
                closing()

    # --- in the loop ----------------------------------------------------------------------------------------------

    async def scores(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what the endpoint says to rows, in requests of at most `rows_per_call`."""
        kept = self._take_kept(columns, rows)
        new = [row for i, row in enumerate(rows) if i not in kept] if kept else rows
        most = self.settings.rows_per_call
        parts = [new[start : start + most] for start in range(0, len(new), most)]
        try:
            answers = await self._parts(columns, parts)
        except BaseException as error:
            self._keep(columns, [rows[i] for i in kept], list(kept.values()))
            if isinstance(error, FlipsetError) and self._kept:
                error.kept = [i for i, row in enumerate(rows) if (columns, row_key(row)) in self._kept]
            raise
        if not kept:
            return answers
        left = iter(answers)
        return [kept[i] if i in kept else next(left) for i in range(len(rows))]

    async def _parts(self, columns: Sequence[Column], parts: Sequence[Sequence[Sequence[Any]]]) -> list[Any]:
        """Ask about the rows of all parts at once; where one fails, keep the answers to the others."""
        self._check_allowance(sum(map(len, parts)))
        call = _Call()
        tasks = [asyncio.create_task(self._part(columns, part, call)) for part in parts]
        call.reserved.update((task, len(part)) for task, part in zip(tasks, parts, strict=True))
        self._reserved += sum(call.reserved.values())
        try:
            errors = await _errors_of(tasks, call, self.settings.grace)
        finally:
            self._reserved -= sum(call.reserved.values())
            for task in tasks:
                task.cancel()  # if this was cancelled itself
        if not errors:
            return [answer for task in tasks for answer in task.result()]
        for rows, task in zip(parts, tasks, strict=True):
            if not task.cancelled() and task.exception() is None:
                self._keep(columns, rows, task.result())
        # An endpoint that is gone is more than a row that it refuses.
        raise next((error for error in errors if isinstance(error, Fault)), errors[0])

    def _keep(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]], answers: Sequence[Any]) -> None:
        """Keep answers for the next call that asks about these rows."""
        self._kept |= {(columns, row_key(row)): answer for row, answer in zip(rows, answers, strict=True)}

    def _take_kept(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> dict[int, Any]:
        """Return the answers that were kept for these rows, by their places; they are kept no longer."""
        if not self._kept:
            return {}
        keys = [(columns, row_key(row)) for row in rows]
        return {i: self._kept.pop(key) for i, key in enumerate(keys) if key in self._kept}

    async def get(self, url: str) -> bytes:
        """Return what is at an address beside the one that scores."""
        return await self._with_retries(lambda: self._send("GET", url, self._transport.headers()))

    async def _part(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]], call: _Call) -> list[Any]:
        """Ask about some rows in one request, again where that may help."""
        body = self._written(columns, rows)
        try:
            answers = await self._with_retries(lambda: self._ask(body, len(rows), call), call)
        except Refused as error:
            if error.status in ABOUT_ROWS:
                raise OracleError(str(error), rows) from None
            raise Unavailable(str(error)) from None
        except Transient as error:
            if call.ended:  # by another part, whose error is the one to report
                raise asyncio.CancelledError from None
            message = f"{error} ({self.settings.attempts} attempts)"
            if await self._answers_others(columns, rows):
                raise OracleError(message, rows) from None
            raise Unavailable(message) from None
        self._answered = self._answered or (columns, rows[0])
        return answers

    async def _with_retries(self, send: Callable[[], Coroutine[Any, Any, T]], call: _Call | None = None) -> T:
        """Send something, again as long as that may help and the call has not ended."""
        import stamina

        backoff = self.settings.backoff
        tries = stamina.retry_context(
            on=lambda error: (call is None or not call.ended) and self._again_after(error),
            attempts=self.settings.attempts,
            timeout=None,
            wait_initial=backoff,
            wait_jitter=backoff,
            wait_max=min(50 * backoff, self.settings.patience),
        )
        async for attempt in tries:
            with attempt:
                # For each attempt, not for all: a request that waits before it tries again holds up nobody.
                async with self._slots:
                    return await send()
        raise AssertionError("the last attempt returns or raises")

    def _again_after(self, error: Exception) -> bool | float:
        """Say whether to try again, or after how many seconds; nobody else need try before then either."""
        if not isinstance(error, Transient):
            return False
        if error.wait is None:
            return True
        # For all requests: an endpoint that asks one of them to wait is overloaded for the others, too.
        self._next = max(self._next, time.monotonic() + error.wait)
        return error.wait + random.uniform(0.0, self.settings.backoff)

    async def _answers_others(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> bool:
        """Find out whether it is the rows or the endpoint: ask once more what it has answered before, or one by one."""
        others = [self._answered] if self._answered is not None else [(columns, row) for row in (rows[0], rows[-1])]
        if self._answered is None and len(rows) == 1:
            return False
        for known, row in others:
            with suppress(Transient, Refused, BudgetExhausted):
                async with self._slots:
                    answer = await self._ask(self._written(known, [row]), 1)
                if self._answered is None:  # the row was not answered before, and will be asked for again
                    self._keep(known, [row], answer)
                return True
        return False

    def _written(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> bytes:
        try:
            sent = self.settings.wire.write(columns, rows)
            return json.dumps(sent, allow_nan=False, default=as_json).encode()
        except (TypeError, ValueError, OverflowError) as error:
            raise OracleError(f"the rows cannot be written as JSON: {first_line(error)}", rows) from None

    # --- one request ----------------------------------------------------------------------------------------------

    async def _ask(self, body: bytes, rows: int, call: _Call | None = None) -> list[Any]:
        """Send rows once; whatever was sent is on the bill."""
        # Before the bill: what waits here has not been sent, and can be cancelled without any cost.
        await self._wait_for_rate()
        secret = self._transport.headers()
        call = call or _Call()
        task = asyncio.current_task()
        assert task is not None, "requests are made by tasks"
        self._reserved -= call.reserved.pop(task, 0)  # the first time; what is sent again was not reserved
        self._charge(rows)
        call.under_way.add(task)
        start = time.perf_counter()
        try:
            answers = self._read(await self._send("POST", self.settings.url, secret, body), rows)
        except BaseException:
            self.bill.failed += 1
            raise
        finally:
            call.under_way.discard(task)
        self.call_times.note(rows, time.perf_counter() - start)
        self.bill.rows += rows
        return answers

    async def _send(self, method: str, url: str, secret: dict[str, str], body: bytes | None = None) -> bytes:
        assert self._client is not None, "requests are made in the loop, which is opened with the connections"
        return await self._transport.send(self._client, method, url, secret, body)

    async def _wait_for_rate(self) -> None:
        """Wait until another request may go out."""
        now = time.monotonic()
        at = max(self._next, now)
        if self.settings.rate is not None:
            self._next = at + 1 / self.settings.rate
        if at > now:
            await asyncio.sleep(at - now)

    def _charge(self, rows: int) -> None:
        """Count a request before it goes out; none does that would be more than allowed."""
        self._check_allowance(rows)
        self.bill.calls += 1
        self.bill.sent += rows
        self.bill.price += self.settings.price_per_call + rows * self.settings.price_per_row

    def _check_allowance(self, rows: int) -> None:
        most = self.settings.max_sent
        if most is not None and self.bill.sent + self._reserved + rows > most:
            raise BudgetExhausted(f"{count(most, 'row')} sent to {self.settings}")

    def _read(self, answer: bytes, rows: int) -> list[Any]:
        redacted = self._transport.redacted
        try:
            parsed = json.loads(answer)
            self._check_version(self.settings.wire.version(parsed))
            answers = self.settings.wire.read(parsed)
            form = form_of(answers, rows)
            self._check_form(form)
            return self._without_secrets(answers) if form[0] == "texts" else list(answers)
        except Malformed as error:
            raise Transient(f"{self.settings} answered something else than it should: {redacted(str(error))}") from None
        except Refused:
            raise
        except Exception as error:  # a protocol of the user's may raise anything
            kind = redacted(f"{type(error).__name__}: {first_line(error)}")
            raise Transient(f"{self.settings} answered something that cannot be read: {kind}") from None

    def _without_secrets(self, answers: Sequence[Any]) -> list[Any]:
        """Return labels, which messages may repeat."""
        masked = self.redactor.masked
        return [masked(one) if isinstance(one, str) else [masked(cell) for cell in one] for one in answers]

    def _check_form(self, form: tuple[str, int]) -> None:
        """Refuse answers of another form than the first."""
        # The first answer decides. An endpoint whose answers change their form has itself been changed.
        self._form = self._form or form
        if form != self._form:
            raise Malformed(
                f"{form[0]}, {form[1] or 1} a row, where it was {self._form[0]}, {self._form[1] or 1} a row"
            )

    def _check_version(self, version: str | None) -> None:
        """Refuse answers of another version than before: what is proved of one model is not proved of another."""
        version = None if version is None else self.redactor.masked(version)  # it will be in the journal
        self.version = self.version or version
        if version is not None and version != self.version:
            now, before = self._transport.redacted(version), self._transport.redacted(str(self.version))
            raise Refused(0, f"{self.settings} is now version {now}, and was version {before} when it began")
