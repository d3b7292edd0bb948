"""Addresses are shown without secrets, whatever they look like, and read strictly."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flipset import InputError
from flipset.models.remote.address import is_address, is_loopback, read_address, shown


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://scores.example/v2/models/loans/infer", "https://scores.example/v2/models/loans/infer"),
        ("https://scores.example:8443/infer?key=secret#secret", "https://scores.example:8443/infer"),
        ("http://[::1]:80/infer", "http://[::1]:80/infer"),
        ("http://localhost:8080/v2/models/a@3/infer", "http://localhost:8080/v2/models/a@3/infer"),
        ("http://me:secret@there/infer", "http://there/infer"),
        ("http://me:secret@there:99999/infer", "http://there:99999/infer"),
        ("http://me:sec@ret@there/infer", "http://there/infer"),
        ("http://me:sec/ret@there/infer", "http://***"),
        ("http://me:sec?ret@there/infer", "http://***"),
        ("http://me:sec#ret@there/infer", "http://***"),
        ("http://me:secret", "http://***"),
        ("http:///me:secret@there", "http://***"),
        ("https://https://me:secret@there", "https://***"),
        ("http://there/http://me:secret@other/", "http://there/http://***@other/"),
        ("http://[me:secret@there/", "http://there/"),
        ("me:secret@there/infer", "***"),
        ("http:/me:secret@there", "***"),
        ("me:secret@there://x", "***"),
        ("loans/infer", "loans/infer"),
        ("http://there/\x1b[31m", "http://there/?[31m"),
    ],
)
def test_c12_addresses_are_shown_without_secrets(url: str, expected: str) -> None:
    assert shown(url) == expected


SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=4, max_size=12).map(
    lambda text: f"S{text}S"  # never a number, which would be the port of a host
)


@given(
    SECRETS,
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    st.sampled_from(["there", "there:99999", "there:x", "[::1", "", "there:80/infer", "there/a?key=1"]),
    st.sampled_from(["{scheme}://me:{secret}@{rest}", "{scheme}://{secret}@{rest}", "{scheme}://there/infer?{secret}"]),
)
@example(secret="S@/?#:S", scheme="http", rest="there:99999", form="{scheme}://me:{secret}@{rest}")
def test_c12_no_password_is_in_what_is_shown_or_in_an_error(secret: str, scheme: str, rest: str, form: str) -> None:
    url = form.format(scheme=scheme, secret=secret, rest=rest)
    # Without a name in front, a secret with one of these in it is a host, and more, for every client.
    if "{secret}@" in form and "me:" not in form and set(secret) & set("/\\?#"):
        return
    said = [shown(url)]
    try:
        read_address(url)
    except InputError as error:
        said.append(str(error))
    for text in said:
        assert secret not in text
        for part in secret.replace("@", "/").replace("?", "/").replace("#", "/").replace("\\", "/").split("/"):
            assert len(part) < 4 or part not in text


@given(st.text())
def test_whatever_is_given_is_shown_on_one_line(text: str) -> None:
    assert shown(text).isprintable() or shown(text) == ""


@given(
    st.sampled_from(["http", "https"]), st.from_regex(r"[a-z][a-z0-9.-]{0,20}", fullmatch=True), st.integers(0, 65535)
)
def test_an_address_that_is_in_order_is_shown_as_it_is(scheme: str, host: str, port: int) -> None:
    for url in (f"{scheme}://{host}/infer", f"{scheme}://{host}:{port}/a@b/infer"):
        assert shown(url) == url
        assert read_address(url).hostname == host


@pytest.mark.parametrize(
    "url",
    [
        "http://there:99999/infer",
        "http://there:port/infer",
        "http://[::1/infer",
        "ftp://there/infer",
        "http:///infer",
        "http://there/in fer",
        "http://there/in\nfer",
        "http://there\\@evil/infer",
        "loans/infer",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="is not an address: expected http://HOST:PORT"):
        read_address(url)


def test_c12_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError, match="use headers") as caught:
        read_address("http://u:hunter2@host/infer")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(InputError, match="'http://host:99999/' is not an address") as caught:
        read_address("http://u:hunter2@host:99999/")
    assert "hunter2" not in str(caught.value)


def test_what_is_meant_as_an_address() -> None:
    assert is_address("HTTPS://there/infer")
    assert not is_address("model.ubj")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("model.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("scores.example", False),
        (None, False),
    ],
)
def test_loopback_is_this_machine(host: str | None, expected: bool) -> None:
    assert is_loopback(host) is expected
