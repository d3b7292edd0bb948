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
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from flipset.errors import BudgetExhausted, FlipsetError, InputError, Interrupted, OracleError, Unavailable, first_line
from flipset.models.remote.bill import Bill
from flipset.models.remote.faults import Garbled, Passing, Refused, form_of, seconds_in
from flipset.models.remote.loop import Room
from flipset.models.remote.pace import Pace
from flipset.models.remote.wire import as_json
from flipset.plural import count

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    import httpx2

    from flipset.models.remote.endpoint import Endpoint
    from flipset.models.remote.wire import Column

T = TypeVar("T")

ABOUT_ROWS = (400, 413, 422)
"""Refusals that other rows may not meet with."""

PASSING = (408, 425, 429)
"""Refusals that later requests may not meet with; so are all from 500 on, but 501 and 505."""

SHOWN = 200
"""Characters of a refusal that are passed on."""


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
        self._good: tuple[Sequence[Column], Sequence[Any]] | None = None  # a row that was answered
        self.version: str | None = None  # which its answers say they are of
        self._form: tuple[str, int] | None = None  # what its answers look like
        self._secrets: set[str] = set()  # what must not be repeated
        self._waiting: dict[int, Future[Any]] = {}  # by thread

    # --- from other threads ---------------------------------------------------------------------------------------

    def wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do something in the line's own loop, and wait for it."""
        future = self._begin(work)
        self._waiting[get_ident()] = future
        try:
            return future.result()
        except CancelledError:
            raise Interrupted() from None
        except BaseException:
            future.cancel()
            raise
        finally:
            self._waiting.pop(get_ident(), None)

    async def awaited(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do something in the line's own loop, for somebody in another one."""
        try:
            return await asyncio.wrap_future(self._begin(work))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise Interrupted() from None  # the line was closed

    def drop(self, threads: Iterable[int]) -> None:
        """Give up what these threads wait for; they are told."""
        for thread in threads:
            if (future := self._waiting.get(thread)) is not None:
                future.cancel()

    def close(self) -> None:
        """Close the connections, and end the thread. The next question opens them again."""
        with self._lock:
            closing, self._closing, self._room = self._closing, None, None
            if closing is not None and self._process == os.getpid():
                closing()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Have something done in the room, which is opened if it is not open."""
        with self._lock:  # nobody closes it in between
            if self._room is None or self._process != os.getpid():  # a thread is not taken along by a fork
                self._process = os.getpid()
                self._room = Room(self._trusted(), self.endpoint.in_flight)
                self._seats = asyncio.Semaphore(self.endpoint.in_flight)
                self._closing = finalize(self, self._room.close)  # at the latest when nobody needs it any more
            return asyncio.run_coroutine_threadsafe(work(), self._room.loop)

    def _trusted(self) -> ssl.SSLContext | bool:
        if self.endpoint.ca is None:
            return True
        try:
            return ssl.create_default_context(cafile=self.endpoint.ca)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"{self.endpoint.ca} holds no certificates that can be read: {first_line(error)}"
            ) from None

    # --- in the loop ----------------------------------------------------------------------------------------------

    async def scores(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what the endpoint says to rows, in requests of at most so many."""
        most = self.endpoint.rows_per_call
        parts = [rows[start : start + most] for start in range(0, len(rows), most)]
        tasks = [asyncio.create_task(self._part(columns, part)) for part in parts]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()  # where one has failed, nobody wants the others
        return [answer for answers in found for answer in answers]

    async def _part(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask about some rows in one request, again where that may help."""
        body = self._written(columns, rows)
        try:
            answers = await self.insist(lambda: self._ask(body, len(rows)))
        except Refused as error:
            if error.status in ABOUT_ROWS:
                raise OracleError(str(error), rows) from None
            raise Unavailable(str(error)) from None
        except Passing as error:
            message = f"{error} ({self.endpoint.attempts} attempts)"
            if await self._answers_others(columns, rows):
                raise OracleError(message, rows) from None
            raise Unavailable(message) from None
        self._good = self._good or (columns, rows[0])
        return answers

    async def insist(self, send: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Send something, again as long as that may help."""
        import stamina

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
                    return await send()
        raise AssertionError("the last attempt returns or raises")

    def _again_after(self, error: Exception) -> bool | float:
        """Say whether to try again, or after how many seconds; nobody else need try before then either."""
        if not isinstance(error, Passing):
            return False
        if error.wait is None:
            return True
        self._next = max(self._next, time.monotonic() + error.wait)
        return error.wait + random.uniform(0.0, self.endpoint.backoff)

    async def _answers_others(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> bool:
        """Find out whether it is the rows or the endpoint: ask once more what it has answered before, or one by one."""
        others = [self._good] if self._good is not None else [(columns, row) for row in (rows[0], rows[-1])]
        if self._good is None and len(rows) == 1:
            return False
        for known, row in others:
            with suppress(Passing, Refused, BudgetExhausted):
                async with self._seats:
                    await self._ask(self._written(known, [row]), 1)
                return True
        return False

    def _written(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> bytes:
        try:
            sent = self.endpoint.wire.write(columns, rows)
            return json.dumps(sent, allow_nan=False, default=as_json).encode()
        except (TypeError, ValueError, OverflowError) as error:
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
            raise Passing(f"{self.endpoint} answered something else than it should: {self._blot(str(error))}") from None
        except Refused:
            raise
        except Exception as error:  # whatever a protocol of the user's stumbles over
            kind = self._blot(f"{type(error).__name__}: {first_line(error)}")
            raise Passing(f"{self.endpoint} answered something that cannot be read: {kind}") from None

    def _watch(self, version: str | None) -> None:
        """Refuse answers of another version than before: what is proved of one model is not proved of another."""
        self.version = self.version or version
        if version is not None and version != self.version:
            now, before = self._blot(version), self._blot(str(self.version))
            raise Refused(0, f"{self.endpoint} is now version {now}, and was version {before} when it began")

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
            raise BudgetExhausted(f"{count(most, 'row')} sent to {self.endpoint}")
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
                if response.status_code != 200:
                    self._refuse(response, await self._beginning(response))
                return await self._whole(response)
        except TimeoutError:
            raise Passing(f"{self.endpoint} did not answer within {self.endpoint.timeout:g} seconds") from None
        except httpx2.TransportError as error:
            said = self._blot(first_line(error))
            if "CERTIFICATE" in said:
                raise Refused(0, f"{self.endpoint} is not who it says: {said}") from None
            raise Passing(f"{self.endpoint} cannot be reached: {said}") from None
        except httpx2.DecodingError as error:
            said = self._blot(first_line(error))
            raise Passing(f"{self.endpoint} answered something that cannot be read: {said}") from None
        except httpx2.InvalidURL as error:
            raise Refused(0, f"{self.endpoint} is no address: {self._blot(first_line(error))}") from None

    def _headers(self) -> dict[str, str]:
        if self.endpoint.headers is None:
            return {}
        try:
            headers = {str(name): str(value).strip() for name, value in self.endpoint.headers().items()}
        except FlipsetError:
            raise
        except Exception as error:  # without what it says, which may be what nobody should read
            raise Unavailable(f"the headers for {self.endpoint} cannot be had: {type(error).__name__}") from None
        for name, value in headers.items():
            if not value.isascii() or not value.isprintable():
                raise InputError(f"the header {name} for {self.endpoint} holds letters that cannot be sent")
        self._secrets.update(part for value in headers.values() for part in (value, *value.split()) if len(part) > 3)
        return headers

    def _blot(self, text: str) -> str:
        """Return the beginning of a text from outside, on one line, without what only we should know."""
        text = " ".join(text[: 100 * SHOWN].split())
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return "".join(letter if letter.isprintable() else "?" for letter in text[:SHOWN])

    async def _whole(self, response: httpx2.Response) -> bytes:
        """Read an answer, as far as it may go."""
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > self.endpoint.max_bytes:
                raise Refused(0, f"{self.endpoint} answered more than {self.endpoint.max_bytes:,} bytes")
            parts.append(part)
        return b"".join(parts)

    async def _beginning(self, response: httpx2.Response) -> str:
        """Read as much of a refusal as is passed on."""
        said = b""
        async for part in response.aiter_bytes():
            said += part
            if len(said) > 10 * SHOWN:
                break
        return self._blot(said[: 100 * SHOWN].decode("utf-8", errors="replace"))

    def _refuse(self, response: httpx2.Response, said: str) -> None:
        status = response.status_code
        reason = self._blot(response.reason_phrase)
        message = f"{self.endpoint} answered {status} {reason}: {said or 'nothing more'}"
        if status in PASSING or (status >= 500 and status not in (501, 505)):
            wait = seconds_in(response.headers.get("Retry-After"))
            if wait is not None and wait > self.endpoint.patience:
                patience = f"{wait:,.0f} seconds, and patience is {self.endpoint.patience:g}"
                raise Refused(status, f"{message}; it asks to wait {patience}")
            raise Passing(message, wait)
        raise Refused(status, message)
