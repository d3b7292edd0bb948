"""What identifies a model in a file: a hash of its contents."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike


def file_hash(path: str | PathLike[str]) -> str:
    """Return what identifies a model in a file or a folder: a hash of its contents."""
    place = Path(path)
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"
