"""Open a page in a browser without its token in the list of processes.

The address that a browser is started with is an argument of its process, which every user of the machine can read. So
the browser is started with the name of a small file that leads to the address. Only its owner can read that file.
"""

from __future__ import annotations

import os
import webbrowser
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>flipset</title>
<p>Opening <a href="{address}">the page</a>.</p>
</html>
"""


@contextmanager
def opened_privately(address: str) -> Iterator[None]:
    """Open an address in a browser; the file that leads there is deleted when the block ends."""
    # The folder has mode 0700, and the name is random.
    with TemporaryDirectory(prefix="flipset-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "page.html"
        # O_EXCL and the mode at creation: there is no moment at which the file exists and others can read it.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(FILE.format(address=escape(address)))
        webbrowser.open(file.as_uri())
        # The file stays until the page is closed: the browser reads it when it gets round to it, which nobody is told.
        yield
