"""Explanations in a file of JSON lines, as `Explanations.write` and `flipset table` write them, read one at a time.

Invariants:

- One line is in memory at a time, and of a line that is too long only the part that fits the limit.
- A line that cannot be read is an error in its place. Blank lines are passed over and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flipset.boundary.limits import MOST_CHARACTERS
from flipset.boundary.reading import Field, parse
from flipset.errors import FlipsetError, InputError, reason_of
from flipset.explain.explanation import Explanation
from flipset.results.from_json import read_explanation, read_id
from flipset.space.shared import Shared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike


def read_explanations(path: str | PathLike[str]) -> StoredExplanations:
    """Return the explanations of a file of JSON lines; it is read as they are iterated over.

    Examples
    --------
    >>> import tempfile
    >>> from flipset import Explainer, Feature, Space
    >>> space = Space([Feature("income", "integer", direction=+1, lower=0, upper=9)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Explainer(lambda rows: rows[:, 0] >= 7, space).explain_table([[3], [8]])
    ...     table.write(f"{folder}/explanations.jsonl")
    ...     [e.decision for e in read_explanations(f"{folder}/explanations.jsonl")]
    [False, True]
    """
    return StoredExplanations(Path(path))


@dataclass(frozen=True, slots=True)
class StoredExplanations:
    """The explanations of a file: its length is their number, and it may be iterated over more than once."""

    path: Path

    def __len__(self) -> int:
        return sum(1 for _ in self._lines())

    def __iter__(self) -> Iterator[Explanation | FlipsetError]:
        shared = Shared()
        for line in self._lines():
            try:
                yield _read(line, shared)
            except FlipsetError as error:
                yield InputError(f"the line cannot be read: {error}")

    def first(self) -> Explanation:
        """Return the first explanation that can be read."""
        errors: list[FlipsetError] = []
        for one in self:
            if isinstance(one, Explanation):
                return one
            errors += [one] if not errors else []
        raise InputError(f"{self.path} has no explanation" + (f" that can be read: {errors[0]}" if errors else ""))

    def _lines(self) -> Iterator[bytes | None]:
        """Yield the lines that are not blank; None for one that is too long."""
        try:
            with self.path.open("rb") as file:
                while line := file.readline(MOST_CHARACTERS + 1):
                    whole = line.endswith(b"\n") or len(line) <= MOST_CHARACTERS
                    while line and not whole and not line.endswith(b"\n"):
                        line = file.readline(MOST_CHARACTERS)  # the rest of a line that is too long
                    if not whole:
                        yield None
                    elif line.strip():
                        yield line
        except (OSError, ValueError) as error:  # a name with a null character is a ValueError
            raise InputError(f"{self.path} cannot be read: {reason_of(error)}") from None


def _read(line: bytes | None, shared: Shared) -> Explanation | FlipsetError:
    if line is None:
        raise InputError(f"it may have {MOST_CHARACTERS:,} bytes, and has more")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"it must be UTF-8: {error}") from None
    data: Any = parse(text, "an explanation")
    if isinstance(data, dict) and set(data) in ({"error"}, {"error", "id"}):
        failed = FlipsetError(str(data["error"]))
        failed.id = read_id(Field(data["id"], "id")) if "id" in data else None
        return failed
    return Explanation(**read_explanation(data, shared))
