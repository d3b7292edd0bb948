"""The command line: parse, call the library, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cyclopts import App

from flipset import FlipsetError, __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

app = App(
    name="flipset",
    version=__version__,
    help="All smallest sets of features whose change flips a monotone model's decision, with a proof.",
)


@app.command
def demo() -> None:
    """Explain one real declined mortgage application.

    Example: flipset demo
    """
    from flipset.demo import tell

    for line in tell():
        print(line)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error of the user's or the model's is one line and exit code 2."""
    try:
        app(sys.argv[1:] if arguments is None else arguments)
    except FlipsetError as error:
        print(f"flipset: {error}", file=sys.stderr)
        sys.exit(2)
