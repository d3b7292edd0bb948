"""What commands write: files that are whole, or not there."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flipset import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def keep(inputs: Iterable[str | None], *outputs: Path | None) -> None:
    """Refuse to write over what is read."""
    read = {Path(given).resolve() for given in inputs if given is not None}
    for output in outputs:
        if output is not None and output.resolve() in read:
            raise InputError(f"{output} is what is read: write to another file")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a file beside this one to write to, with the same ending; it takes this one's place when all went well."""
    beside = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text."""
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
