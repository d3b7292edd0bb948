"""The documentation says all there is, and its links lead somewhere."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import flipset
from flipset.cli import app, options

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = ("demo", "explain", "space", "table", "audit", "verify", "journal", "bench", "serve")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    section = text.split(f"## flipset {name}\n")[1].split("\n## ")[0]
    command = app[name].default_command
    assert command is not None
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in ("model_options", "space_options", "search_options"):
            continue
        option = f"--{parameter.name.replace('_', '-')}"
        flag = parameter.name.upper() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else option
        assert f"`{flag}`" in section, flag


def test_every_shared_option_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for shared in (options.ModelOptions, options.EndpointOptions, options.SpaceOptions, options.SearchOptions):
        for each in fields(shared):
            if each.name != "endpoint":
                assert f"`--{each.name.replace('_', '-')}`" in text, each.name


def test_every_public_name_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in flipset.__all__ if f"`{name}`" not in text and name != "__version__"] == []


def test_every_module_in_the_reference_has_the_names_beside_it() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(flipset\.[\w.]+)` \| (.+?) \|", text, flags=re.MULTILINE)
    assert len(rows) > 8
    for module, names in rows:
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page if not path else (page.parent / path).resolve()
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}, target


def test_every_how_to_is_listed() -> None:
    listed = (ROOT / "docs" / "howto" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "howto").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in listed


def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict", "--config-file", str(tmp_path / "mkdocs.yml")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//", text), page
