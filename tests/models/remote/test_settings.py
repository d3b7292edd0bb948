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
        ("http://me:secret@a:99999/invocations", "'http://a:99999/invocations' is not an address"),
        ("http://me:sec/secret@a/invocations", "'http://\\*\\*\\*' is not an address"),
        ("https://a/score?key=secret", "not an address of a known kind"),
    ],
)
def test_addresses_that_are_none_are_refused_without_their_secrets(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Settings(url)
    assert "secret" not in str(caught.value)


def bearer() -> dict[str, str]:
    return {"Authorization": "Bearer secret"}


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("http://scores.example/invocations", {"headers": bearer}),
        ("http://10.0.0.7:8080/invocations", {"headers": bearer}),
        ("HTTP://scores.example/invocations", {"headers": bearer}),
        ("http://scores.example/invocations?key=secret", {}),
        ("http://localhost/invocations", {"headers": bearer, "proxy": "http://proxy.example:3128"}),
        ("http://localhost/invocations", {"headers": bearer, "trust_env": True}),
    ],
)
def test_c12_a_secret_over_plain_http_to_another_machine_needs_a_word(url: str, how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"plain http.*unencrypted.*use https, or set allow_plain_http") as caught:
        Settings(url, **how)
    assert "secret" not in str(caught.value).replace("may hold a secret", "")
    assert Settings(url, allow_plain_http=True, **how).allow_plain_http


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("https://scores.example/invocations?key=secret", {"headers": bearer}),
        ("https://scores.example/invocations", {"headers": bearer, "proxy": "http://proxy.example:3128"}),
        ("http://scores.example/invocations", {}),
        ("http://127.0.0.1:9/invocations?key=secret", {"headers": bearer}),
        ("http://localhost:9/invocations", {"headers": bearer}),
        ("http://[::1]:9/invocations", {"headers": bearer}),
    ],
)
def test_c12_encrypted_or_on_this_machine_needs_no_word(url: str, how: dict[str, Any]) -> None:
    assert Settings(url, **how).url == url


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"proxy": "http://me:secret@proxy:3128"}, "the proxy http://proxy:3128 is given with a name or a password"),
        ({"proxy": "proxy:3128"}, "'proxy:3128' is not a proxy: expected http"),
        ({"proxy": "http://proxy:99999"}, "with a port up to 65535"),
        ({"proxy": "http://proxy:3128", "trust_env": True}, "give the proxy once"),
    ],
)
def test_c12_proxies_that_cannot_be_meant_are_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Settings(URL, **how)
    assert "secret" not in str(caught.value)


def test_an_address_is_shown_without_what_may_be_a_secret() -> None:
    assert str(Settings(f"{URL}?key=secret")) == URL
    assert "secret" not in repr(Settings(f"{URL}?key=secret"))
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
