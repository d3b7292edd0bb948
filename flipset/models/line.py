"""The line to an endpoint: requests under way, faults that pass and faults that last, and what it all came to.

Requests live in an event loop of their own, in a thread of its own, so that the caller may be a plain function, a pool
of threads or a coroutine, and so that whatever is under way can be dropped at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from flipset.errors import BudgetExhausted, FlipsetError, Interrupted, OracleError, Unavailable, first_line
from flipset.known import Known
from flipset.models.pace import Pace
from flipset.models.wire import Garbled

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    import httpx2

    from flipset.models.remote import Endpoint

T = TypeVar("T")

ABOUT_ROWS = (400, 413, 422)
"""Refusals that other rows may not meet with."""

PASSING = (408, 425, 429)
"""Refusals that later requests may not meet with; so are all from 500 on, but 501 and 505."""

SHOWN = 200
"""Characters of a refusal that are passed on."""


class Passing(Exception):
    """A fault that may be gone the next time; `wait` says when, if the endpoint did."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Refused(Exception):
    """An answer that will be the same the next time."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class Bill:
    """What an endpoint was asked so far.

    Attributes
    ----------
    rows
        Rows that were answered.
    calls
        Requests that were sent, those included that failed.
    sent
        Rows in all these requests.
    failed
        Requests without an answer that could be used.
    price
        What the calls and the rows sent cost by the endpoint's prices: at most this, for some failed on the way.
    """

    rows: int = 0
    calls: int = 0
    sent: int = 0
    failed: int = 0
    price: float = 0.0

    def __str__(self) -> str:
        failed = f", {self.failed:,} of them in vain" if self.failed else ""
        price = f", for {self.price:,.2f} at most" if self.price else ""
        return f"{self.rows:,} rows answered in {self.calls:,} requests{failed}{price}"


class Room:
    """A thread with an event loop, and the connections that live in it."""

    def __init__(self, verify: ssl.SSLContext | bool, connections: int) -> None:
        import httpx2

        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="flipset-endpoint", daemon=True)
        self.thread.start()
        limits = httpx2.Limits(max_connections=connections)
        self.client = httpx2.AsyncClient(timeout=None, verify=verify, limits=limits, follow_redirects=False)

    def close(self) -> None:
        """Close the connections, and end the thread."""
        leaving = asyncio.run_coroutine_threadsafe(self._leave(), self.loop)
        if current_thread() is self.thread:  # whoever drops the last reference may be anybody
            return
        leaving.result()
        self.thread.join()
        self.loop.close()

    async def _leave(self) -> None:
        tasks = [task for task in asyncio.all_tasks(self.loop) if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # whoever waits for them is told
        await self.client.aclose()
        self.loop.call_soon(self.loop.stop)


class Line:
    """Requests to one endpoint from one process."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.pace = Pace()
        self.bill = Bill()
        self._lock = Lock()
        self._room: Room | None = None
        self._closing: finalize[..., Line] | None = None
        self._process = 0
        self._seats = asyncio.Semaphore(endpoint.in_flight)
        self._next = 0.0  # when the next request may go out
        self._good: tuple[Sequence[str], Sequence[Any]] | None = None  # a row that was answered
        self._version: str | None = None  # which its answers say they are of
        self._form: tuple[str, int] | None = None  # what its answers look like
        self._under_way: set[asyncio.Task[Any]] = set()

    # --- from other threads ---------------------------------------------------------------------------------------

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the line's own loop, and wait for it."""
        future = asyncio.run_coroutine_threadsafe(self._tracked(work), self._running())
        try:
            return future.result()
        except CancelledError:
            raise Interrupted(Known()) from None
        except BaseException:
            future.cancel()
            raise

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the line's own loop, for somebody in another one."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._tracked(work), self._running()))

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        try:
            return await task
        finally:
            self._under_way.discard(task)

    def drop(self) -> None:
        """Give up whatever is under way; whoever waits for it is told."""
        if self._room is not None:
            self._room.loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._under_way])

    def close(self) -> None:
        """Close the connections, and end the thread. The next question opens them again."""
        with self._lock:
            closing, self._closing, self._room = self._closing, None, None
        if closing is not None:
            closing()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._room is None or self._process != os.getpid():  # a thread is not taken along by a fork
                self._process = os.getpid()
                verify = True if self.endpoint.ca is None else ssl.create_default_context(cafile=self.endpoint.ca)
                self._room = Room(verify, self.endpoint.in_flight)
                self._seats = asyncio.Semaphore(self.endpoint.in_flight)
                self._closing = finalize(self, self._room.close)  # at the latest when nobody needs it any more
            return self._room.loop

    # --- in the loop ----------------------------------------------------------------------------------------------

    async def scores(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what the endpoint says to rows, in requests of at most so many."""
        most = self.endpoint.rows_per_call
        parts = [rows[start : start + most] for start in range(0, len(rows), most)]
        tasks = [asyncio.create_task(self._part(names, part)) for part in parts]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()  # where one has failed, nobody wants the others
        return [answer for answers in found for answer in answers]

    async def _part(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask about some rows in one request, again where that may help."""
        try:
            answers = await self._insist(names, rows)
        except Refused as error:
            if error.status in ABOUT_ROWS:
                raise OracleError(str(error), rows) from None
            raise Unavailable(str(error)) from None
        except Passing as error:
            message = f"{error} ({self.endpoint.attempts} attempts)"
            if await self._answers_others(names, rows):
                raise OracleError(message, rows) from None
            raise Unavailable(message) from None
        self._good = self._good or (names, rows[0])
        return answers

    async def _insist(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
        import stamina

        body = self._written(names, rows)
        backoff = self.endpoint.backoff
        tries = stamina.retry_context(
            on=self._again_after,
            attempts=self.endpoint.attempts,
            timeout=None,
            wait_initial=backoff,
            wait_jitter=backoff,
            wait_max=min(50 * backoff, self.endpoint.patience),
        )
        async for attempt in tries:
            with attempt:
                async with self._seats:
                    return await self._ask(body, len(rows))
        raise AssertionError("the last attempt returns or raises")

    def _again_after(self, error: Exception) -> bool | float:
        """Say whether to try again, or after how many seconds; nobody else need try before then either."""
        if not isinstance(error, Passing):
            return False
        if error.wait is None:
            return True
        self._next = max(self._next, time.monotonic() + error.wait)
        return error.wait + random.uniform(0.0, self.endpoint.backoff)

    async def _answers_others(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        """Find out whether it is the rows or the endpoint: ask once more what it has answered before, or one by one."""
        others = [self._good] if self._good is not None else [(names, row) for row in (rows[0], rows[-1])]
        if self._good is None and len(rows) == 1:
            return False
        for columns, row in others:
            with suppress(Passing, Refused, BudgetExhausted):
                async with self._seats:
                    await self._ask(self._written(columns, [row]), 1)
                return True
        return False

    def _written(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
        try:
            return json.dumps(self.endpoint.wire.write(names, rows), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise OracleError(f"the rows cannot be written as JSON: {first_line(error)}", rows) from None

    async def _ask(self, body: bytes, rows: int) -> list[Any]:
        await self._my_turn()
        secret = self._headers()
        self._charge(rows)
        start = time.perf_counter()
        try:
            answer = await self._exchange("POST", self.endpoint.url, secret, body)
            answers = self._read(answer, rows)
        except BaseException:
            self.bill.failed += 1
            raise
        self.pace.note(rows, time.perf_counter() - start)
        self.bill.rows += rows
        return answers

    def _read(self, answer: bytes, rows: int) -> list[Any]:
        try:
            told = json.loads(answer)
            self._watch(self.endpoint.wire.version(told))
            answers = self.endpoint.wire.read(told)
            form = form_of(answers, rows)
            self._form = self._form or form
            if form != self._form:
                raise Garbled(
                    f"{form[0]}, {form[1] or 1} a row, where it was {self._form[0]}, {self._form[1] or 1} a row"
                )
            return list(answers)
        except Garbled as error:
            raise Passing(f"{self.endpoint} answered something else than it should: {error}") from None
        except Refused:
            raise
        except Exception as error:  # whatever a protocol of the user's stumbles over
            kind = f"{type(error).__name__}: {first_line(error)}"
            raise Passing(f"{self.endpoint} answered something that cannot be read: {kind}") from None

    def _watch(self, version: str | None) -> None:
        """Refuse answers of another version than before: what is proved of one model is not proved of another."""
        self._version = self._version or version
        if version is not None and version != self._version:
            raise Refused(0, f"{self.endpoint} is now version {version}, and was version {self._version} when it began")

    async def _my_turn(self) -> None:
        """Wait until another request may go out."""
        now = time.monotonic()
        at = max(self._next, now)
        if self.endpoint.rate is not None:
            self._next = at + 1 / self.endpoint.rate
        if at > now:
            await asyncio.sleep(at - now)

    def _charge(self, rows: int) -> None:
        """Count a request before it goes out; none does that would be more than allowed."""
        most = self.endpoint.max_sent
        if most is not None and self.bill.sent + rows > most:
            raise BudgetExhausted(f"{most:,} rows sent to {self.endpoint}", Known())
        self.bill.calls += 1
        self.bill.sent += rows
        self.bill.price += self.endpoint.price_per_call + rows * self.endpoint.price_per_row

    # --- one request ----------------------------------------------------------------------------------------------

    async def get(self, url: str) -> bytes:
        """Return what is at an address beside the one that is asked."""
        return await self._exchange("GET", url, self._headers())

    async def _exchange(self, method: str, url: str, secret: dict[str, str], body: bytes | None = None) -> bytes:
        """Send one request; return what came back, or say whether to try again."""
        import httpx2

        room = self._room
        assert room is not None, "whatever is asked is asked in the room"
        headers = {"Accept": "application/json", **secret}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout),
                room.client.stream(method, url, content=body, headers=headers) as response,
            ):
                answer = await self._whole(response)
                if response.status_code != 200:
                    self._refuse(response, _blotted(answer, secret))
                return answer
        except TimeoutError:
            raise Passing(f"{self.endpoint} did not answer within {self.endpoint.timeout:g} seconds") from None
        except httpx2.TransportError as error:
            said = _blotted(first_line(error).encode(), secret)
            if "CERTIFICATE" in said:
                raise Refused(0, f"{self.endpoint} is not who it says: {said}") from None
            raise Passing(f"{self.endpoint} cannot be reached: {said}") from None
        except httpx2.DecodingError as error:
            raise Passing(f"{self.endpoint} answered something that cannot be read: {first_line(error)}") from None

    def _headers(self) -> dict[str, str]:
        if self.endpoint.headers is None:
            return {}
        try:
            return {str(name): str(value) for name, value in self.endpoint.headers().items()}
        except FlipsetError:
            raise
        except Exception as error:  # without what it says, which may be what nobody should read
            raise Unavailable(f"the headers for {self.endpoint} cannot be had: {type(error).__name__}") from None

    async def _whole(self, response: httpx2.Response) -> bytes:
        """Read an answer, as far as it may go."""
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > self.endpoint.max_bytes:
                raise Refused(0, f"{self.endpoint} answered more than {self.endpoint.max_bytes:,} bytes")
            parts.append(part)
        return b"".join(parts)

    def _refuse(self, response: httpx2.Response, said: str) -> None:
        status = response.status_code
        message = f"{self.endpoint} answered {status} {response.reason_phrase}: {said or 'nothing more'}"
        if status in PASSING or (status >= 500 and status not in (501, 505)):
            wait = _seconds(response.headers.get("Retry-After"))
            if wait is not None and wait > self.endpoint.patience:
                patience = f"{wait:,.0f} seconds, and patience is {self.endpoint.patience:g}"
                raise Refused(status, f"{message}; it asks to wait {patience}")
            raise Passing(message, wait)
        raise Refused(status, message)


def form_of(answers: Any, rows: int) -> tuple[str, int]:
    """Return what answers are, "numbers" or "texts", and how many for each row (0: not even a list).

    Refuses answers that are not one for each row, or not finite numbers or texts throughout.
    """
    if not isinstance(answers, (list, tuple)):
        raise Garbled(f"expected one score for each row, got {type(answers).__name__}")
    if len(answers) != rows:
        raise Garbled(f"{len(answers)} scores to {rows} rows")
    widths = {len(one) if isinstance(one, (list, tuple)) else 0 for one in answers}
    if len(widths) > 1:
        raise Garbled("rows of different lengths")
    cells = [cell for one in answers for cell in (one if isinstance(one, (list, tuple)) else [one])]
    if all(isinstance(cell, str) for cell in cells):
        return "texts", min(widths)
    for cell in cells:
        if not isinstance(cell, (int, float)) or not isfinite(cell):
            raise Garbled(f"expected finite numbers, got {cell!r}")
    return "numbers", min(widths)


def _seconds(text: str | None) -> float | None:
    """Read Retry-After: seconds, or a date."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _blotted(answer: bytes, secret: dict[str, str]) -> str:
    """Return the beginning of a text from outside, on one line, without what only we should know."""
    text = " ".join(answer.decode("utf-8", errors="replace").split())
    for value in secret.values():
        for part in (value, *value.split()):
            if len(part) > 3:
                text = text.replace(part, "***")
    return "".join(letter if letter.isprintable() else "?" for letter in text[:SHOWN])
