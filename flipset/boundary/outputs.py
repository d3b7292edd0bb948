"""Files that are written: each is complete or not there, and only a file is ever replaced.

A file is written under a random name in the folder of its target, readable by its owner alone, and takes the target's
place when it is complete. So a reader sees the old contents or the new ones, a failure leaves the old ones, and nobody
can prepare the temporary name.

Invariants
----------
- A file that exists keeps its mode, and its owner and group where the process may set them. Where the group cannot be
  kept, the new group gets no more than everybody has.
- A link stays a link; the file it leads to is replaced.
- Devices, pipes and the descriptors of this process (`/dev/null`, a FIFO, `/dev/stdout`) are written to.
- What goes wrong is an error of one line that names the file: a `StorageError` if the disk is full, failing or
  read-only, and otherwise an `InputError`.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from flipset.errors import FlipsetError, InputError, StorageError, is_disk_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTOR = re.compile(r"/(?:dev/fd|proc/self/fd)/([0-9]{1,6})")
NAMED_DESCRIPTORS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
MOST_LINKS = 40
"""Links that lead to links are followed this many times, as Linux does."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to; it takes the place of this path if nothing fails."""
    descriptor = descriptor_of(path)
    try:
        if descriptor is not None:
            with _descriptor(descriptor) as out:
                yield out
        elif is_stream(path):
            with _device(path) as out:
                yield out
        else:
            with _replacing(path) as out:
                yield out
    except BrokenPipeError as error:
        if descriptor is not None:  # the reader of this command's own output left, which is not an error of a file
            raise
        raise _cannot(path, error) from None
    except OSError as error:
        raise _cannot(path, error) from None
    # Python strings may hold half of a surrogate pair, which JSON can escape and no file in UTF-8 can hold.
    except UnicodeEncodeError as error:
        part = error.object[error.start : error.end][:8]
        raise InputError(f"{path} cannot be written: the text has {part!a}, which is not a character") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with whole_file(path) as out:
        out.write(text.encode("utf-8"))


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    if descriptor_of(path) is not None:
        return
    try:
        target = _target(path)
        before = _existing(path)
        if before is not None:
            if stat.S_ISDIR(before.st_mode):
                raise IsADirectoryError(None, "it is a folder")
            # A read-only file could be replaced in a folder that is not read-only, but it is probably meant to stay.
            _must_allow(target, os.W_OK, "it is read-only for this user")
        if before is None or stat.S_ISREG(before.st_mode):
            os.stat(target.parent)
            _must_allow(target.parent, os.W_OK | os.X_OK, "its folder is read-only for this user")
    except OSError as error:
        raise _cannot(path, error) from None


def descriptor_of(path: Path) -> int | None:
    """Return the number of the descriptor that a path such as `/dev/stdout` stands for; None for any other path."""
    text = os.path.abspath(path)
    if "\0" in text:  # the system's functions raise a bare `ValueError`, each in its own words
        raise InputError(f"{text!r} cannot be written: it has a null character, which is not part of any name")
    for _ in range(MOST_LINKS):
        if text in NAMED_DESCRIPTORS:
            return NAMED_DESCRIPTORS[text]
        if match := DESCRIPTOR.fullmatch(text):
            return int(match[1])
        try:
            # Step by step: resolving `/dev/stdout` at once gives the file behind it, which must not be replaced.
            text = os.path.normpath(os.path.join(os.path.dirname(text), os.readlink(text)))
        except OSError:
            return None
    return None


def is_stream(path: Path) -> bool:
    """Say whether a path is a device, a pipe or a socket, or a descriptor of this process."""
    if descriptor_of(path) is not None:
        return True
    try:
        before = _existing(path)
    except OSError:
        return False
    return before is not None and not (stat.S_ISREG(before.st_mode) or stat.S_ISDIR(before.st_mode))


# --- three ways to write ----------------------------------------------------------------------------------------------


@contextmanager
def _descriptor(number: int) -> Iterator[BinaryIO]:
    # Opening `/dev/stdout` again would start at the beginning of a file that it was redirected to.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with os.fdopen(os.dup(number), "wb") as out:
        yield out


@contextmanager
def _device(path: Path) -> Iterator[BinaryIO]:
    # Without O_CREAT and O_TRUNC: if the device has gone, nothing is made in its place.
    with os.fdopen(os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)), "wb") as out:
        yield out


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    check_writable(path)
    target, before = _target(path), _existing(path)
    # O_EXCL, O_NOFOLLOW and mode 0600. The name does not contain the target's, which may be as long as names can be.
    descriptor, name = tempfile.mkstemp(prefix=".flipset-", suffix=".unfinished", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            # Before the file gets its name: nobody can open it with a mode that is too open, not even for a moment.
            _take_after(descriptor, name, target, before)
            os.fsync(descriptor)  # after a crash of the machine, the new name must not lead to an empty file
        os.replace(name, target)
    except BaseException:  # an interrupt, too
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _take_after(descriptor: int, name: str, target: Path, before: os.stat_result | None) -> None:
    """Give a new file the mode, owner and further attributes of the one it replaces, or those of a new file."""
    place = descriptor if os.chmod in os.supports_fd else name
    if before is None:
        os.chmod(place, 0o666 & ~_umask())
        return
    mode = stat.S_IMODE(before.st_mode)
    if hasattr(os, "fchown"):
        # The group first, because a process that gives the file away may no longer change it.
        now = os.fstat(descriptor)
        with suppress(PermissionError):
            if now.st_gid != before.st_gid:
                os.fchown(descriptor, -1, before.st_gid)
        with suppress(PermissionError):
            if now.st_uid != before.st_uid:
                os.fchown(descriptor, before.st_uid, -1)
        if os.fstat(descriptor).st_gid != before.st_gid:
            mode &= ~0o070 | (mode & 0o007) << 3
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # not every file system has them, and some may be set by root alone
            for attribute in os.listxattr(target):
                os.setxattr(descriptor, attribute, os.getxattr(target, attribute))
    os.chmod(place, mode)  # last, because a change of the owner takes bits away


def _umask() -> int:
    # It can only be read by setting it. Another thread that makes a file meanwhile makes it too private, not too open.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _existing(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _must_allow(path: Path, access: int, problem: str) -> None:
    # By the effective user, as the system itself decides when the file is opened.
    if not os.access(path, access, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(None, problem)


def _cannot(path: Path, error: OSError) -> FlipsetError:
    kind = StorageError if is_disk_fault(error) else InputError
    return kind(f"{path} cannot be written: {error.strerror or error}")
