"""What identifies a model file."""

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
