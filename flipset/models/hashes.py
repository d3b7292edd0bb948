"""What identifies a model in a file or a folder: a hash of its contents."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

FOLDER = "folder-sha256:"
"""What the hash of a folder begins with. Earlier versions wrote `sha256:`, and hashed the contents without names."""


def file_hash(path: str | PathLike[str]) -> str:
    """Return what identifies a model in a file or a folder.

    Of a file, this is `sha256:` and what `sha256sum` prints. Of a folder, it is `folder-sha256:` and the hash of the
    relative names, lengths and contents of all files in it.
    """
    place = Path(path)
    if not place.is_dir():
        return f"sha256:{_digest(place).hex()}"
    digest = hashlib.sha256()
    # Sorted by the names that are hashed: those of `Path` sort in another way on Windows.
    files = {file.relative_to(place).as_posix(): file for file in place.rglob("*") if file.is_file()}
    for name, file in sorted(files.items()):
        encoded = name.encode("utf-8", "surrogateescape")
        # Lengths and digests of fixed width make it clear where each name and each file ends.
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
        digest.update(file.stat().st_size.to_bytes(8, "big") + _digest(file))
    return f"{FOLDER}{digest.hexdigest()}"


def _digest(file: Path) -> bytes:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").digest()
