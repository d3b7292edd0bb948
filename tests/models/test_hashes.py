"""What identifies a model file."""

import hashlib
from pathlib import Path

from flipset.models.hashes import file_hash


def test_contents_count_and_names_do_not(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("a.ubj", "b.ubj", "c.ubj"))
    first.write_bytes(b"model")
    second.write_bytes(b"model")
    other.write_bytes(b"another")
    assert file_hash(first) == file_hash(str(second)) != file_hash(other)
    assert file_hash(first).startswith("sha256:")


def test_a_folder_is_all_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "model").write_bytes(b"model")
    before = file_hash(tmp_path)
    (tmp_path / "MLmodel").write_bytes(b"more")
    assert file_hash(tmp_path) != before


def test_the_hash_of_a_file_is_what_sha256sum_prints(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_bytes(b"model" * 100_000)
    assert file_hash(file) == f"sha256:{hashlib.sha256(b'model' * 100_000).hexdigest()}"


def test_names_and_borders_of_the_files_in_a_folder_count(tmp_path: Path) -> None:
    contents = [{"a": b"12", "b": b"3"}, {"a": b"1", "b": b"23"}, {"a": b"12", "c": b"3"}, {"a": b"123"}]
    contents += [{"a": b"12", "b/b": b"3"}, {"a": b"12", "b": b"3", "c": b""}]
    hashes = set()
    for i, files in enumerate(contents):
        for place in (tmp_path / str(i), tmp_path / f"copy {i}"):
            for name, content in files.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
        hashes.add(file_hash(tmp_path / str(i)))
        assert file_hash(tmp_path / f"copy {i}") in hashes
    assert len(hashes) == len(contents)
    assert all(one.startswith("folder-sha256:") for one in hashes)
