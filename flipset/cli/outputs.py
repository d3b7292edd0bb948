"""Files that commands write: each is complete or does not exist."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flipset import InputError, StorageError
from flipset.errors import is_disk_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def keep(inputs: Iterable[str | None], *outputs: Path | None) -> None:
    """Refuse an output that is also an input."""
    read = {Path(given).resolve() for given in inputs if given is not None}
    for output in outputs:
        if output is not None and output.resolve() in read:
            raise InputError(f"{output} is also an input: write to another file")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside this one, with the same suffix; it replaces this one if nothing fails."""
    beside = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    except OSError as error:
        kind = StorageError if is_disk_fault(error) else InputError
        raise kind(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
