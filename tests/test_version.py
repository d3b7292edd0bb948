"""The version is in one place, from which the package, the build and the explanations take it."""

import re
import tomllib
from pathlib import Path

import flipset
from flipset.version import __version__


def test_there_is_one_version() -> None:
    assert flipset.__version__ == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", __version__)
    settings = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["hatch"]["version"]["path"] == "flipset/version.py"
