"""A server that repeats a request's secrets: the log of its response has a mask instead."""

import json
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.webhooks.log.echoes import body_without_echoes, without_echoes
from engine.webhooks.log.exchange import MAX_RESPONSE_BYTES
from engine.webhooks.log.logged_attempt import logged
from tests.unit.webhooks.log.exchanges import Reply, attempt

SECRET = 's3cr/t "+&= æ'  # noqa: S105 - written differently in JSON and in addresses


def response_of(response: bytes) -> bytes:
    """Return a logged response to a request with a secret."""
    return logged(attempt(b"{}", response, reply=Reply(401), secrets=(SECRET,))).response_body


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        msgspec.json.encode(SECRET).decode()[1:-1],
        json.dumps(SECRET)[1:-1],
        json.dumps(json.dumps(SECRET))[3:-3],
        json.dumps(SECRET)[1:-1].replace("/", r"\/"),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
    ],
)
def test_a_secret_in_a_response(written: str) -> None:
    """As it is, in JSON, in JSON within JSON, and in an address; the rest of the response stays."""
    found = response_of(f"no access for {written}, or {written}!".encode())
    assert found == b"no access for ***, or ***!"


def test_a_secret_in_a_header_of_a_response() -> None:
    """As a redirect repeats it."""
    reply = Reply(302, Location=f"/login?key={quote(SECRET, safe='')}&next=1")
    found = logged(attempt(reply=reply, secrets=(SECRET,)))
    assert found.response_headers == {"Location": "/login?key=***&next=1"}


@pytest.mark.parametrize(
    ("name", "value", "repeated"),
    [
        ("Authorization", "Bearer abcdefgh", "Bearer abcdefgh"),
        ("Authorization", "Bearer abcdefgh", "abcdefgh"),
        ("X-Api-Key", "abcdefgh", "abcdefgh"),
        ("webhook-signature", "v1,c2lnbmF0dXJl", "v1,c2lnbmF0dXJl"),
    ],
)
def test_a_masked_header_in_a_response(name: str, value: str, repeated: str) -> None:
    """Also of requests whose secrets are not known to the log: it masks by the header's name."""
    response = f'{{"headers":"{repeated}"}}'.encode()
    found = logged(attempt(b"{}", response, headers={name: value}))
    assert found.response_body == b'{"headers":"***"}'


def test_short_values_of_headers_are_no_secrets() -> None:
    """Or every digit of a response would be masked because of a key's version."""
    found = logged(attempt(b"{}", b'{"id":2}', headers={"X-Key-Version": "2"}))
    assert found.response_body == b'{"id":2}'


def test_a_secret_at_the_end_of_what_the_log_has() -> None:
    """A response that is cut within a secret does not show its beginning."""
    begin = b"x" * (MAX_RESPONSE_BYTES - 4)
    assert response_of(begin + SECRET.encode()) == begin + b"***"


@pytest.mark.parametrize(
    ("secrets", "end"),
    [
        (("abcdef", "abc"), b"abcd"),  # one is the beginning of the other
        (("aXa",), b"aXa"),  # its end is its beginning
        (("abc", "cab"), b"ca"),
    ],
)
def test_a_cut_shows_no_part_of_a_secret(secrets: tuple[str, ...], end: bytes) -> None:
    """Whichever of several it may be."""
    body = body_without_echoes(b"__" + end, secrets, is_cut=True)
    assert body == b"__***"


@given(st.text(min_size=1, max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_no_response_contains_a_secret(secret: str, before: str, after: str) -> None:
    """Whatever surrounds it, unless the mask itself makes it."""
    shown = without_echoes(before + secret + after, (secret,))
    assert secret not in shown.replace("***", "\ud800")
