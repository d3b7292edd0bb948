"""Where requests live: an event loop in a thread of its own, and the connections in it."""

from __future__ import annotations

import asyncio
from threading import Thread, current_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


class Room:
    """A thread with an event loop, and the connections that live in it."""

    def __init__(self, verify: ssl.SSLContext | bool, connections: int) -> None:
        import httpx2

        limits = httpx2.Limits(max_connections=connections)
        self.client = httpx2.AsyncClient(timeout=None, verify=verify, limits=limits, follow_redirects=False)
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="flipset-endpoint", daemon=True)
        self.thread.start()

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
