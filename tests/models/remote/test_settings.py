"""How an endpoint is reached and may be used, checked once."""

from pathlib import Path
from typing import Any

import pytest

from flipset import InputError
from flipset.models.remote.settings import EnvironmentHeaders, Settings

URL = "http://127.0.0.1:9/invocations"


@pytest.mark.parametrize("name", ["in_flight", "rows_per_call", "attempts", "max_bytes"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None])
def test_counts_are_whole_numbers_from_1(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} must be a whole number from 1, got {value!r}"):
        Settings(URL, **{name: value})


@pytest.mark.parametrize("name", ["timeout", "patience", "backoff", "price_per_call", "price_per_row", "rate"])
@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), "3"])
def test_amounts_are_finite_numbers_from_0(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} must be a number from 0"):
        Settings(URL, **{name: value})


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://a/invocations", "expected http"),
        ("/invocations", "expected http"),
        ("http://a:99999/invocations", "is not an address"),
        ("http://me:secret@a/invocations", "use headers"),
        ("http://a/score?key=secret", "not an address of a known kind"),
    ],
)
def test_addresses_that_are_none_are_refused_without_their_secrets(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Settings(url)
    assert "secret" not in str(caught.value)


def test_an_address_is_shown_without_what_may_be_a_secret() -> None:
    assert str(Settings(f"{URL}?key=secret")) == URL
    assert "secret" not in repr(Settings(URL, headers=lambda: {"Authorization": "secret"}))


def test_certificates_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        Settings(URL, ca=tmp_path / "none.pem")


def test_headers_are_read_from_the_environment_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    headers = EnvironmentHeaders({"Authorization": "SCORING_AUTH"})
    monkeypatch.delenv("SCORING_AUTH", raising=False)
    with pytest.raises(InputError, match="SCORING_AUTH is not set"):
        headers()
    for value in ("one", "two"):
        monkeypatch.setenv("SCORING_AUTH", value)
        assert headers() == {"Authorization": value}
    assert "two" not in repr(headers)
