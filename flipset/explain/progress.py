"""The progress of a long run: rows done, queries made, and the time left."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def reporting(progress: bool | Callable[[int, int, int], None], total: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the rows done and the queries made; it shows a bar or calls `progress`."""
    if callable(progress):
        yield lambda done, queries: progress(done, total, queries)
        return
    if not progress:
        yield lambda done, queries: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows, {task.fields[queries]:,} queries,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, queries=0)
        yield lambda done, queries: bar.update(task, completed=done, queries=queries)
