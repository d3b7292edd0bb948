"""Requests to one endpoint: rows in parts, again after faults that may pass, and no more than was allowed.

All of it is coroutines, in one event loop in a thread of its own: the connections belong to that loop. `submit` starts
one from anywhere and returns a future; there is no other way in.

`in_flight` is limited here, by one semaphore, and nowhere else. It is a promise to whoever runs the endpoint, so it
must hold for everybody who asks: direct calls with many rows, several tables at a time, coroutines, requests that are
sent again. (The runner of a table asks how many calls this can carry, to decide when to fill the next one: more would
only wait here, half empty.)
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from flipset.drivers.loop_thread import LoopThread
from flipset.errors import BudgetExhausted, OracleError, Unavailable, first_line
from flipset.models.remote.bill import Bill
from flipset.models.remote.call_times import CallTimes
from flipset.models.remote.faults import ABOUT_ROWS, Malformed, Refused, Transient, form_of
from flipset.models.remote.transport import Transport, open_client
from flipset.models.remote.wire import as_json
from flipset.plural import count
from flipset.processes import renew_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from concurrent.futures import Future

    import httpx2

    from flipset.models.remote.settings import Settings
    from flipset.models.remote.wire import Column

T = TypeVar("T")


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
                self._client = open_client(self.settings)
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
        most = self.settings.rows_per_call
        parts = [rows[start : start + most] for start in range(0, len(rows), most)]
        tasks = [asyncio.create_task(self._part(columns, part)) for part in parts]
        try:
            answers = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()  # where one has failed, nobody wants the others
        return [answer for part in answers for answer in part]

    async def get(self, url: str) -> bytes:
        """Return what is at an address beside the one that scores."""
        return await self._with_retries(lambda: self._send("GET", url, self._transport.headers()))

    async def _part(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask about some rows in one request, again where that may help."""
        body = self._written(columns, rows)
        try:
            answers = await self._with_retries(lambda: self._ask(body, len(rows)))
        except Refused as error:
            if error.status in ABOUT_ROWS:
                raise OracleError(str(error), rows) from None
            raise Unavailable(str(error)) from None
        except Transient as error:
            message = f"{error} ({self.settings.attempts} attempts)"
            if await self._answers_others(columns, rows):
                raise OracleError(message, rows) from None
            raise Unavailable(message) from None
        self._answered = self._answered or (columns, rows[0])
        return answers

    async def _with_retries(self, send: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Send something, again as long as that may help."""
        import stamina

        backoff = self.settings.backoff
        tries = stamina.retry_context(
            on=self._again_after,
            attempts=self.settings.attempts,
            timeout=None,
            wait_initial=backoff,
            wait_jitter=backoff,
            wait_max=min(50 * backoff, self.settings.patience),
        )
        async for attempt in tries:
            with attempt:
                async with self._slots:
                    return await send()
        raise AssertionError("the last attempt returns or raises")

    def _again_after(self, error: Exception) -> bool | float:
        """Say whether to try again, or after how many seconds; nobody else need try before then either."""
        if not isinstance(error, Transient):
            return False
        if error.wait is None:
            return True
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
                    await self._ask(self._written(known, [row]), 1)
                return True
        return False

    def _written(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> bytes:
        try:
            sent = self.settings.wire.write(columns, rows)
            return json.dumps(sent, allow_nan=False, default=as_json).encode()
        except (TypeError, ValueError, OverflowError) as error:
            raise OracleError(f"the rows cannot be written as JSON: {first_line(error)}", rows) from None

    # --- one request ----------------------------------------------------------------------------------------------

    async def _ask(self, body: bytes, rows: int) -> list[Any]:
        """Send rows once; whatever was sent is on the bill."""
        await self._wait_for_rate()
        secret = self._transport.headers()
        self._charge(rows)
        start = time.perf_counter()
        try:
            answers = self._read(await self._send("POST", self.settings.url, secret, body), rows)
        except BaseException:
            self.bill.failed += 1
            raise
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
        most = self.settings.max_sent
        if most is not None and self.bill.sent + rows > most:
            raise BudgetExhausted(f"{count(most, 'row')} sent to {self.settings}")
        self.bill.calls += 1
        self.bill.sent += rows
        self.bill.price += self.settings.price_per_call + rows * self.settings.price_per_row

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
