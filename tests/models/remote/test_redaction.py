"""No secret is left in a text, in whatever form it is repeated there."""

import html
import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flipset.models.remote.redaction import FEWEST, KEPT, STEM, Redactor

# Texts around secrets are shorter than any secret: one that occurs in them would rightly be hidden there, too.
SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=FEWEST, max_size=40)
AROUND = st.text(st.sampled_from("xyz 0189:,.{}[]\"'<>é\n"), max_size=12)

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "percent": lambda text: quote(text, safe=""),
    "percent, but for slashes": quote,
    "percent, small letters": lambda text: quote(text, safe="").lower() if text.islower() else quote(text, safe=""),
    "every letter in percent": lambda text: "".join(f"%{ord(letter):02x}" for letter in text),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "a form": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "JSON, every letter": lambda text: "".join(f"\\u{ord(letter):04X}" for letter in text),
    "JSON with slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "HTML": html.escape,
    "JSON of percent": lambda text: json.dumps(quote(text))[1:-1],
    "Python": lambda text: repr(text)[1:-1],
    "capitals": str.upper,
    "small letters": str.lower,
    "hexadecimal": lambda text: text.encode().hex(),
    "capitals of hexadecimal": lambda text: text.encode().hex().upper(),
}


def encoded(form: str, secret: str) -> str:
    return FORMS[form](secret)


@pytest.mark.parametrize("form", FORMS)
@given(secret=SECRETS, before=AROUND, after=AROUND)
@example(secret="a+b/c=d&e", before="", after="")
@example(secret='s"l\\ash', before="", after="")
@example(secret="%41BCD", before="%", after="")
def test_c12_no_form_of_a_secret_is_left(form: str, secret: str, before: str, after: str) -> None:
    redactor = Redactor()
    redactor.add_header(secret)
    said = redactor.masked(f"{before}|{encoded(form, secret)}|{after}")
    assert encoded(form, secret) not in said
    assert secret not in said
    assert "***" in said


@given(secret=SECRETS, before=st.binary(max_size=7), after=st.binary(max_size=7), safe=st.booleans())
def test_c12_a_secret_inside_of_base64_is_not_left(secret: str, before: bytes, after: bytes, safe: bool) -> None:
    redactor = Redactor()
    redactor.add_header(f"Bearer {secret}")
    whole = (urlsafe_b64encode if safe else b64encode)(before + secret.encode() + after).decode()
    assert redactor.masked(f"is {whole} no") == "is *** no"
    assert "***" in redactor.masked(quote(whole, safe=""))


@pytest.mark.parametrize("form", ["as it is", "every letter in percent", "JSON, every letter", "a form"])
@pytest.mark.parametrize("end", ["", "...", "…", '"'])
@given(secret=SECRETS, length=st.integers(FEWEST, 40))
def test_c12_the_beginning_of_a_secret_at_the_end_of_a_text_is_not_left(
    form: str, end: str, secret: str, length: int
) -> None:
    redactor = Redactor()
    redactor.add_header(secret)
    cut = encoded(form, secret[:length])
    said = redactor.masked(f"is {cut}{end}")
    assert said.startswith("is ***")
    assert end.endswith(said.removeprefix("is ***"))  # some of the marks may be the next letters of the secret


@given(secret=st.text(st.sampled_from("abcdef012345"), min_size=STEM, max_size=60), length=st.integers(STEM, 60))
def test_c12_the_beginning_of_a_secret_is_hidden_anywhere(secret: str, length: int) -> None:
    redactor = Redactor()
    redactor.add_header(secret)
    assert redactor.masked(f"<{secret[:length]}> is wrong") == "<***> is wrong"


@pytest.mark.parametrize("form", ["as it is", "every letter in percent", "JSON", "hexadecimal", "capitals"])
@given(
    secret=st.text(st.sampled_from('abcdef012345/+"'), min_size=STEM, max_size=60),
    start=st.integers(0, 52),
    length=st.integers(STEM, 60),
)
def test_c12_any_letters_in_a_row_of_a_secret_are_hidden(form: str, secret: str, start: int, length: int) -> None:
    redactor = Redactor()
    redactor.add_header(secret)
    piece = secret[min(start, len(secret) - STEM) :][:length]
    assert redactor.masked(f"<{encoded(form, piece)}> is wrong") == "<***> is wrong"


def test_c12_a_secret_over_several_lines_is_hidden() -> None:
    redactor = Redactor()
    secret = "".join(f"{number:04}" for number in range(1, 60))
    redactor.add_header(f"Bearer {secret}")
    lines = [secret[i : i + 76] for i in range(0, len(secret), 76)]
    assert redactor.masked("\n".join(lines)) == "\n".join(["***"] * len(lines))
    assert set(redactor.masked(encodebytes(secret.encode()).decode()).split()) == {"***"}


def test_basic_authentication_hides_name_and_password() -> None:
    redactor = Redactor()
    redactor.add_header("Basic " + b64encode(b"somebody:hunter22").decode())
    assert redactor.masked("no user somebody:hunter22") == "no user ***"
    assert redactor.masked("the password hunter22 is wrong") == "the password *** is wrong"


def test_what_an_address_has_after_the_question_mark_is_a_secret() -> None:
    redactor = Redactor()
    redactor.add_address("https://scores.example/infer?key=s3cr3t%2Fvalue&version=1")
    for text in ("s3cr3t/value", "s3cr3t%2Fvalue", "s3cr3t%2fvalue", "key=s3cr3t%2Fvalue&version=1"):
        assert "s3cr" not in redactor.masked(f"no such key: {text}")
    redactor.add_address("http://me:p%40ssword@proxy.example:3128")
    for text in ("p@ssword", "p%40ssword"):
        assert "ssword" not in redactor.masked(f"refused {text}")
    redactor.add_address("http://[broken")


def test_words_in_front_of_a_credential_are_not_hidden() -> None:
    redactor = Redactor()
    redactor.add_header("Bearer tok-abcdefgh")
    assert redactor.masked("Invalid Bearer token") == "Invalid Bearer token"
    assert redactor.masked("Bearer tok-abcdefgh expired") == "Bearer *** expired"


def test_parts_of_a_header_are_secrets_too() -> None:
    redactor = Redactor()
    redactor.add_header('Digest username="somebody", response="6629fae49393a053"')
    assert redactor.masked("got 6629fae49393a053") == "got ***"
    redactor.add_header("session=abcdef012345; other=1")
    assert redactor.masked("session abcdef012345") == "*** ***"


def test_short_secrets_and_other_texts_stay() -> None:
    redactor = Redactor()
    assert redactor.masked("nothing was sent") == "nothing was sent"
    redactor.add_header("abc")
    assert redactor.masked("abc abc") == "abc abc"
    redactor.add_header("tok-S3cr3t")
    text = "400 Bad Request: row 3 has no column 'income' %"
    assert redactor.masked(text) == text


def test_only_so_many_headers_are_remembered() -> None:
    redactor = Redactor()
    for number in range(2 * KEPT):
        redactor.add_header(f"signature-{number:09}-end")
    assert len(redactor._needles) == KEPT
    assert "***" in redactor.masked(f"signature-{2 * KEPT - 1:09}-end")


@given(st.text(max_size=200), SECRETS)
def test_whatever_the_text_is_it_is_masked(text: str, secret: str) -> None:
    redactor = Redactor()
    redactor.add_header(secret)
    assert secret not in redactor.masked(text + secret)
