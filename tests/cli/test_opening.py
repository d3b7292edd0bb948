"""Opening the page: the token is in a private file, and not among the arguments of the browser."""

import stat
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from flipset.cli.opening import opened_privately

ADDRESS = "http://127.0.0.1:8765/#token=secret&row=1"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser is started with."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    return opened


def test_c11_the_token_is_not_an_argument_of_the_browser(opened: list[str]) -> None:
    with opened_privately(ADDRESS):
        (given,) = opened
        assert "secret" not in given
        file = Path(url2pathname(urlsplit(given).path))
        assert 'content="0; url=http://127.0.0.1:8765/#token=secret&amp;row=1"' in file.read_text(encoding="utf-8")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not file.parent.exists()


def test_the_file_is_deleted_after_an_error(opened: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt), opened_privately(ADDRESS):
        raise KeyboardInterrupt
    assert not Path(url2pathname(urlsplit(opened[0]).path)).exists()
