"""The files that a command reads and writes: declared with each option, and compared before the command runs.

An option that names a file says so in its type: `Reads` or `Writes`. `keep_files_apart` wraps every command. It
collects the files of a call from these declarations, and refuses a call in which an output is also an input or another
output. A test checks that every option that names a file is declared, so a new option cannot be forgotten.

Files are compared by device and inode, so links and different spellings of a path are recognised. Devices and pipes are
not compared: writing to them replaces nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter as Argument
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from flipset import InputError
from flipset.boundary.outputs import check_writable, is_stream

P = ParamSpec("P")
T = TypeVar("T")
Identity = tuple[Any, ...]

ENDINGS = {
    "a model": (".ubj", ".cbm", ".onnx", ".skops", ".pkl", ".pickle", ".joblib"),
    "a table": (".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl", ".feather", ".arrow"),
    "a space": (".toml",),
    "a report": (".html", ".htm"),
    "a journal": (".db", ".sqlite"),
}
"""Endings that belong to one kind of file only."""

STARTS = {
    "a model": (b"tree\n", b'{"learner"'),
    "a journal": (b"SQLite format 3\0",),
    "an explanation": (b'{"format": "flipset-explanation/',),
}
"""The first bytes of files whose endings say too little: LightGBM's text, XGBoost's JSON, SQLite, and explanations.

Explanations for several thresholds are JSON lines, as tables may be.
"""


@dataclass(frozen=True, slots=True)
class Reads:
    """The option names a file or a folder that is read, `-`, a URL, or a model as `python:package.module:object`."""


@dataclass(frozen=True, slots=True)
class Writes:
    """The option names a file that is written.

    Attributes
    ----------
    kind
        What is written, as `ENDINGS` has it. A file that is of another kind by its name or its start is not replaced.
    beside
        What the names of further files end in, which are written beside this one.
    folder
        Whether it may be a folder. The command then finds out by itself whether it can be written.
    in_place
        Whether the file is added to rather than replaced.
    also
        Another kind that may be written there, as `ENDINGS` has it.
    """

    kind: str
    beside: tuple[str, ...] = ()
    folder: bool = False
    in_place: bool = False
    also: str | None = None


InputFile = Annotated[Path, Reads()]
JournalFile = Annotated[Path, Writes("a journal", beside=("-wal", "-shm", "-journal"), in_place=True)]


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file of a call: the option that names it, how it is used, and where it is."""

    option: str
    use: Reads | Writes
    path: Path

    def __str__(self) -> str:
        return f"{self.path} ({self.option})"


def keep_files_apart(command: Callable[P, T]) -> Callable[P, T]:
    """Return the command, with a check before it that no output is an input or another output."""

    @wraps(command)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        # Defaults are not applied: an option that was not given names no file.
        given = signature(command).bind(*args, **kwargs)
        check(list(files_of(command, given.arguments)))
        return command(*args, **kwargs)

    return checked


# --- declarations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declared:
    """An option of a command: its name, its type, and how it uses the file that it names, if it names one.

    `attributes` lead from the arguments of the command to the value: the name of an argument, then fields.
    """

    option: str
    type: Any
    use: Reads | Writes | None
    attributes: tuple[str, ...]


def declared(command: Callable[..., Any]) -> Iterator[Declared]:
    """Yield all options of a command, those of its groups of options included."""
    hints = get_type_hints(command, include_extras=True)
    for name, argument in signature(command).parameters.items():
        positional = argument.kind is not Argument.KEYWORD_ONLY
        yield from _declared(hints[name], (name,), positional)


def _declared(hint: Any, attributes: tuple[str, ...], positional: bool) -> Iterator[Declared]:
    # Options in a dataclass are those of the command itself, whose declarations are one level further down.
    parts = list(_parts(hint))
    group = next((part for part in parts if isinstance(part, type) and is_dataclass(part)), None)
    if group is not None:
        for name, one in get_type_hints(group, include_extras=True).items():
            yield from _declared(one, (*attributes, name), False)
        return
    use = next((part for part in parts if isinstance(part, (Reads, Writes))), None)
    last = attributes[-1]
    yield Declared(last.upper() if positional else f"--{last.replace('_', '-')}", hint, use, attributes)


def _parts(hint: Any) -> Iterator[Any]:
    """Yield the types of a union and what they are annotated with."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        yield from _parts(hint.__origin__)
    elif get_args(hint):
        for one in get_args(hint):
            yield from _parts(one)
    else:
        yield hint


def files_of(command: Callable[..., Any], arguments: Mapping[str, Any]) -> Iterator[NamedFile]:
    """Yield the files that a call of a command names, with those that are written beside them."""
    for one in declared(command):
        value: Any = arguments.get(one.attributes[0])
        for attribute in one.attributes[1:]:
            value = getattr(value, attribute, None)
        if one.use is None or value is None:
            continue
        if isinstance(one.use, Reads):
            for path in [value] if isinstance(value, Path) else _paths(value):
                yield NamedFile(one.option, one.use, path)
        else:
            for ending in ("", *one.use.beside):
                path = value.with_name(value.name + ending) if value.name else value
                yield NamedFile(one.option, one.use, path)


def _paths(spec: str) -> Iterator[Path]:
    """Yield the local files behind a model or a table."""
    if spec.startswith("python:"):
        module = spec.removeprefix("python:").partition(":")[0].partition(".")[0]
        yield from (path for path in (Path(f"{module}.py"), Path(module)) if path.exists())
    elif spec != "-" and "://" not in spec:
        yield Path(spec)


# --- the check --------------------------------------------------------------------------------------------------------


def check(files: list[NamedFile]) -> None:
    """Refuse outputs that are inputs or other outputs, that replace a file of another kind, or cannot be written."""
    if no_name := next((one for one in files if "\0" in str(one.path)), None):  # else a bare `ValueError` of the system
        raise InputError(f"{no_name} has a null character, which is not part of any name")
    outputs = [one for one in files if isinstance(one.use, Writes) and not is_stream(one.path)]
    if not outputs:
        return
    taken: dict[Identity, str] = {}
    read = [one for one in files if isinstance(one.use, Reads)]
    for identity, name in _standard_streams():
        taken[identity] = name
    for one in read:
        taken.setdefault(_identity(one.path), f"an input ({one.option})")
    folders = [(one, os.path.realpath(one.path)) for one in read if one.path.is_dir()]
    for one in outputs:
        identity, real = _identity(one.path), os.path.realpath(one.path)
        if identity in taken:
            raise InputError(f"{one} is also {taken[identity]}: write to another file")
        # A model may be a folder (MLflow), and a table, too. Writing into it would change what is read.
        for folder, inside in folders:
            if real.startswith(os.path.join(inside, "")):
                raise InputError(f"{one} is inside the input {folder}: write to another folder")
        # From here on it is taken for the outputs that follow, so that two of them cannot be the same file.
        taken[identity] = f"the output of {one.option}"
        _check_kind(one)
        if isinstance(one.use, Writes) and not one.use.in_place and not one.use.folder:
            check_writable(one.path)


def _standard_streams() -> Iterator[tuple[Identity, str]]:
    """Yield the files that standard input and output were redirected to."""
    for stream, name in ((sys.stdin, "standard input"), (sys.stdout, "standard output")):
        try:
            found = os.fstat(stream.fileno())
        except (OSError, ValueError, AttributeError):  # closed, or not a file at all
            continue
        if stat.S_ISREG(found.st_mode):
            yield (found.st_dev, found.st_ino), name


def _identity(path: Path) -> Identity:
    """Return a key that is equal for paths to the same file, also where there is no such file yet."""
    # Two names of one inode are one file, whatever the spelling. A file that is not there yet has no inode, but its
    # folder has one.
    real = os.path.realpath(path)
    try:
        found = os.stat(real)
        return found.st_dev, found.st_ino
    except OSError:
        folder, name = os.path.split(real)
    try:
        found = os.stat(folder)
        return found.st_dev, found.st_ino, name
    except OSError:
        return (os.path.normcase(real),)


def _check_kind(one: NamedFile) -> None:
    """Refuse to replace a file that is of another kind: it was probably named by mistake."""
    if not isinstance(one.use, Writes) or not one.path.is_file():
        return
    name = one.path.name.lower()
    kind = next((kind for kind, endings in ENDINGS.items() if name.endswith(endings)), None)
    try:
        with one.path.open("rb") as file:
            start = file.read(max(len(start) for starts in STARTS.values() for start in starts))
    except OSError:
        start = b""
    # What a file begins with counts more than what it is called.
    kind = next((kind for kind, starts in STARTS.items() if start.startswith(starts)), kind)
    if kind not in (None, one.use.kind, one.use.also):
        otherwise = "" if one.use.in_place else ", or delete it first"
        raise InputError(f"{one} exists and is {kind}, not {one.use.kind}: choose another name{otherwise}")


def must_exist(path: Path) -> None:
    """Refuse a path that is not a file."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
