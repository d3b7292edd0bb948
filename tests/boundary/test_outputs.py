"""What is written: files that are whole or not there, in place of files alone."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pytest

from flipset import InputError, StorageError
from flipset.boundary.outputs import check_writable, descriptor_of, is_stream, whole_file, write_text

as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_takes_its_place_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with whole_file(path) as out:
        out.write(b"new")
        out.flush()
        assert path.read_text() == "old"
        (beside,) = set(tmp_path.iterdir()) - {path}
        assert mode(beside) == 0o600
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail(out: BinaryIO) -> None:
        out.write(b"half")
        raise error

    with pytest.raises(error), whole_file(path) as out:
        fail(out)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_c4_a_full_disk_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "out.html"
    path.write_text("old")
    monkeypatch.setattr(os, failing, full)
    with pytest.raises(StorageError, match=r"out.html cannot be written: No space left on device$"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


LIMITED = """
import resource, sys
from pathlib import Path
from flipset import InputError, StorageError
from flipset.boundary.outputs import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_text(Path(sys.argv[1]), "x" * 1_000_000)
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such limit")
def test_c4_a_file_that_grows_beyond_the_limit_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path} cannot be written: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out.txt cannot be written: No such file"):
        write_text(tmp_path / "nowhere" / "out.txt", "text")
    with pytest.raises(InputError, match=r"cannot be written: it is a folder$"):
        write_text(tmp_path, "text")
    with pytest.raises(InputError, match=r"cannot be written: the text has '\\ud800', which is not a character$"):
        write_text(tmp_path / "out.txt", "a\ud800b")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        write_text(tmp_path / "file" / "out.txt", "text")
    write_text(tmp_path / "out.txt", "größer")
    assert (tmp_path / "out.txt").read_bytes() == "größer".encode()
    assert {path.name for path in tmp_path.iterdir()} == {"file", "out.txt"}


def test_the_longest_name_there_is(tmp_path: Path) -> None:
    write_text(tmp_path / ("a" * 255), "text")
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        write_text(tmp_path / ("a" * 256), "text")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("before", [0o600, 0o640, 0o664, 0o755])
def test_c4_a_file_keeps_its_mode(tmp_path: Path, before: int) -> None:
    path = tmp_path / "out.txt"
    path.touch()
    path.chmod(before)
    write_text(path, "new")
    assert mode(path) == before


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_usual_mode(tmp_path: Path, umask: int, expected: int) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "out.txt", "new")
        assert os.umask(umask) == umask  # it was put back
    finally:
        os.umask(before)
    assert mode(tmp_path / "out.txt") == expected


@as_root
def test_c4_a_file_keeps_its_owner_and_group(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.touch()
    path.chmod(0o4750)
    os.chown(path, 12345, 23456)
    path.chmod(0o4750)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (12345, 23456, 0o4750)


def test_c4_where_the_group_cannot_be_kept_it_gets_what_everybody_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    path.touch()
    path.chmod(0o664)
    real = os.stat

    def of_another_group(file: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        found = real(file, *args, **kwargs)
        if file != path:
            return found
        parts = list(found)
        parts[5] = found.st_gid + 1
        return os.stat_result(parts)

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "stat", of_another_group)
    monkeypatch.setattr(os, "fchown", refused)
    write_text(path, "new")
    monkeypatch.undo()
    assert (path.read_text(), mode(path)) == ("new", 0o644)


def test_c4_a_link_stays_and_its_target_is_rewritten(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target.txt"
    target.write_text("old")
    target.chmod(0o600)
    link, chain = tmp_path / "link", tmp_path / "chain"
    link.symlink_to("far/target.txt")
    chain.symlink_to("link")
    write_text(chain, "new")
    assert link.is_symlink()
    assert chain.is_symlink()
    assert (target.read_text(), mode(target), target.is_symlink()) == ("new", 0o600, False)
    dangling = tmp_path / "dangling"
    dangling.symlink_to("far/new.txt")
    write_text(dangling, "made")
    assert (tmp_path / "far" / "new.txt").read_text() == "made"
    assert dangling.is_symlink()
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(InputError, match="loop cannot be written: Too many levels"):
        write_text(loop, "text")


def test_c4_temporary_names_are_not_predictable(tmp_path: Path) -> None:
    secret, path = tmp_path / "secret", tmp_path / "out.txt"
    secret.write_text("secret")
    names = set()
    for _ in range(2):
        with whole_file(path):
            names |= {one.name for one in tmp_path.iterdir()} - {"secret", "out.txt"}
    assert len(names) == 2
    (tmp_path / ".out.unfinished.txt").symlink_to(secret)  # the name that was used before
    write_text(path, "text")
    assert secret.read_text() == "secret"
    assert (tmp_path / ".out.unfinished.txt").is_symlink()


def test_c4_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    write_text(Path("/dev/null"), "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    link = tmp_path / "null.html"
    link.symlink_to("/dev/null")
    write_text(link, "text")
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has it")
def test_c4_a_device_that_is_full_is_named() -> None:
    with pytest.raises(StorageError, match="/dev/full cannot be written: No space left on device"):
        write_text(Path("/dev/full"), "text")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_c4_pipes_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text(pipe, "text")
    reader.join()
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


TO_STDOUT = """
from pathlib import Path
import sys
from flipset.boundary.outputs import write_text
print("before")
write_text(Path(sys.argv[1]), "written\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_c4_standard_output_is_written_to_in_order(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    out = tmp_path / "out.txt"
    with out.open("w") as file:
        subprocess.run([sys.executable, "-c", TO_STDOUT, name], stdout=file, check=True, cwd=tmp_path)
    assert out.read_text() == "before\nwritten\nafter\n"
    piped = subprocess.run([sys.executable, "-c", TO_STDOUT, name], stdout=subprocess.PIPE, check=True, cwd=tmp_path)
    assert piped.stdout == b"before\nwritten\nafter\n"


def test_what_is_a_descriptor_and_what_is_a_stream(tmp_path: Path) -> None:
    assert descriptor_of(Path("/dev/stderr")) == 2
    assert descriptor_of(Path("/dev/fd/7")) == 7
    assert descriptor_of(Path("/dev/../dev/stdout")) == 1
    assert descriptor_of(tmp_path / "none") is None
    assert is_stream(Path("/dev/null"))
    assert not is_stream(tmp_path)
    assert not is_stream(tmp_path / "none")


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Yield a folder of a user who is not root, as that user."""
    with TemporaryDirectory() as name:  # not `tmp_path`, which only its owner may enter
        user = os.geteuid()
        if user == 0:
            os.chown(name, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.chmod(name, 0o700)
            os.seteuid(user)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such users")
def test_c4_what_is_read_only_stays() -> None:
    with as_nobody() as folder:
        path = folder / "out.txt"
        path.touch(0o400)
        with pytest.raises(InputError, match=r"out\.txt cannot be written: it is read-only for this user"):
            write_text(path, "text")
        folder.chmod(0o500)
        for write in (check_writable, lambda path: write_text(path, "text")):
            with pytest.raises(InputError, match=r"new\.txt cannot be written: its folder is read-only for this user"):
                write(folder / "new.txt")
        assert list(folder.iterdir()) == [path]


@as_root
def test_c4_a_file_of_somebody_else_is_replaced_where_the_folder_allows_it() -> None:
    with as_nobody() as folder:
        path = folder / "out.txt"
        path.touch()
        os.seteuid(0)
        os.chown(path, 12345, 23456)
        path.chmod(0o666)
        os.seteuid(65534)
        write_text(path, "text")
        # Neither the owner nor the group can be kept; the new group may do what everybody may.
        assert (path.stat().st_uid, mode(path)) == (65534, 0o666)
        os.seteuid(0)
        os.chown(path, 65534, 23456)
        path.chmod(0o640)
        os.seteuid(65534)
        write_text(path, "text")
        assert mode(path) == 0o600


def test_c4_what_is_read_only_is_asked_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    monkeypatch.setattr("flipset.boundary.outputs.os.access", lambda file, *_, **__: Path(file) != path)
    with pytest.raises(InputError, match=r"out.txt cannot be written: it is read-only for this user$"):
        write_text(path, "new")
    assert path.read_text() == "old"
    monkeypatch.setattr("flipset.boundary.outputs.os.access", lambda file, *_, **__: Path(file) != tmp_path)
    with pytest.raises(InputError, match="its folder is read-only for this user"):
        check_writable(tmp_path / "new.txt")


def test_a_path_that_can_be_written_is_left_alone(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.txt")
    check_writable(Path("/dev/stdout"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="No such file"):
        check_writable(tmp_path / "none" / "new.txt")


@pytest.mark.parametrize("use", [check_writable, is_stream, lambda path: write_text(path, "x")])
def test_a_null_character_in_a_path_is_an_error_of_one_line(use: Callable[[Path], object]) -> None:
    with pytest.raises(InputError, match=r"a\\x00b' cannot be written: it has a null character"):
        use(Path("a\0b"))
