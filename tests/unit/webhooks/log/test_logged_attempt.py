"""What the log contains of an attempt: no secrets, no sensitive digits, not too much."""

import pytest

from engine.webhooks.log.echoes import is_secret
from engine.webhooks.log.exchange import MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, ShownRequest
from engine.webhooks.log.logged_attempt import compress, decompress, logged
from tests.unit.webhooks.log.exchanges import CALL, EVENT_ID, Reply, attempt


@pytest.mark.parametrize(
    "name",
    ["Authorization", "authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "ApiKey",
     "X-Auth-Token", "webhook-signature", "X-Hub-Signature-256", "X-Session", "Client-Secret",
     "X-Password", "webhook-url-sha256"],
)  # fmt: skip
def test_headers_with_secrets(name: str) -> None:
    """Their values are masked, whatever their names' case."""
    assert is_secret(name)
    assert logged(attempt(headers={name: "s3cr3t"})).headers == {name: "***"}


@pytest.mark.parametrize(
    "name", ["Content-Type", "Accept", "Idempotency-Key", "webhook-id", "webhook-timestamp"]
)
def test_headers_without_secrets(name: str) -> None:
    """Their values are logged."""
    assert logged(attempt(headers={name: "value"})).headers == {name: "value"}


def test_headers_of_a_response() -> None:
    """Only those that say something about the response, and no cookie."""
    reply = Reply(200, Content_Type="text/html", Set_Cookie="a=b", retry_after="9", X_Power="x")
    found = logged(attempt(reply=reply)).response_headers
    assert found == {"Content-Type": "text/html", "retry-after": "9"}


def test_a_header_beyond_utf_8() -> None:
    """It is logged as text that can be stored, whatever bytes a server sends."""
    sent = b"nginx \xff\xc3\xa6".decode("utf-8", "surrogateescape")  # as aiohttp reads it
    found = logged(attempt(reply=Reply(200, Server=sent)))
    assert found.response_headers == {"Server": "nginx \ufffdæ"}
    assert decompress(compress(found)) == found


def test_long_parts_are_cut() -> None:
    """Bodies and headers have limits; a cut request cannot be repeated."""
    long = b"x" * (MAX_REQUEST_BYTES + 1)
    found = logged(attempt(long, long, reply=Reply(200, Location="y" * 9_000)))
    assert len(found.body) == MAX_REQUEST_BYTES
    assert len(found.response_body) == MAX_RESPONSE_BYTES
    assert len(found.response_headers["Location"]) == 500
    assert (found.is_request_cut, found.is_response_cut, found.is_repeatable) == (True, True, False)
    whole = logged(attempt(long[:MAX_REQUEST_BYTES], long[:MAX_RESPONSE_BYTES]))
    assert not (whole.is_request_cut)
    assert not (whole.is_response_cut)
    assert whole.is_repeatable


@pytest.mark.parametrize(
    ("response", "location", "hidden"),
    [
        (b'{"text":"you typed 4711"}', "/next", "body"),
        (b'{"text":"you typed 4 7-1.1"}', "/next", "body"),
        (b'{"text":"4, 7, 1, 1"}', "/next", "body"),
        (b'{"text":"4\\u00a07\\u00a01\\u00a01"}', "/next", "body"),
        (b'{"text":"<p>4<break time=\\"500ms\\"/>711</p>"}', "/next", "body"),
        (b"no user <4711>", "/next", "body"),
        ("\uff14\uff17\uff11\uff11".encode(), "/next", "body"),
        (b'{"text":"you typed 471', "/next", "body"),  # a response that ends too early
        (b'{"text":"you typed ' + b" " * MAX_RESPONSE_BYTES + b'4711"}', "/next", "body"),
        (b"x" * (MAX_RESPONSE_BYTES - 3) + b'4711"', "/next", "body"),
        (b'{"text":"it is 4:17"}', "/next", ""),
        (b"{}", "/next?pin=4711", "location"),
        (b"{}", "/next?pin=4%207%201%201", "location"),
        (b"{}", "/next", ""),
    ],
)
def test_sensitive_digits(response: bytes, location: str, hidden: str) -> None:
    """They are masked in the request, and what repeats them is not logged."""
    found = logged(
        attempt(
            b'{"dtmf":"4711","event":"gather"}',
            response,
            reply=Reply(200, Location=location),
            sensitive="4711",
        )
    )
    assert found.body == b'{"dtmf":"***","event":"gather"}'
    assert found.response_body == (b"***" if hidden == "body" else response)
    assert found.response_headers["Location"] == ("***" if hidden == "location" else location)
    assert not found.is_repeatable


def test_a_request_with_secrets() -> None:
    """The log has what is shown instead."""
    shown = ShownRequest("https://a.example/?k=%7B%7Bsecrets.k%7D%7D", {"X": "{{secrets.k}}"}, None)
    found = logged(attempt(b"s3cr3t", headers={"X": "s3cr3t", "Accept": "a"}, shown=shown))
    assert (found.url, found.body) == (shown.url, b"")
    assert found.headers == {"X": "{{secrets.k}}", "Accept": "a"}
    assert found.is_repeatable


@pytest.mark.parametrize("where", ["body", "header"])
def test_text_that_looks_like_a_secret(where: str) -> None:
    """An attempt whose values contain such a template cannot be repeated."""
    shown = ShownRequest("https://a.example/", {}, b"{{secrets.k}}")
    text = "{{secrets.k}}"
    body = text.encode() if where == "body" else b"{}"
    headers = {"X": text if where == "header" else ""}
    assert not logged(attempt(body, headers=headers, shown=shown)).is_repeatable


def test_outcomes() -> None:
    """An attempt without a reason succeeded; its call is known by the request's id."""
    found = logged(attempt(reply=Reply(204))).summary("1-0")
    assert (found.outcome, found.status, found.call_id) == ("succeeded", 204, CALL)
    assert (found.request_id, found.attempt, found.retry_of) == (EVENT_ID, 1, None)
    failed = logged(attempt(reason="timeout", retry_of="1-0")).summary("2-0")
    assert (failed.outcome, failed.reason, failed.retry_of) == ("failed", "timeout", "1-0")


def test_what_is_wrong() -> None:
    """The detail is kept in part, without secrets and sensitive digits that it quotes."""
    wrong = attempt(reason="invalid_action", detail="type: invalid value 'dance'" + "x" * 900)
    view = logged(wrong).view("1-0")
    assert (view.detail[:27], len(view.detail)) == ("type: invalid value 'dance'", 500)
    headers = {"Authorization": "Bearer s3cr3t-key"}
    quoted = attempt(reason="invalid_action", detail="not 's3cr3t-key'", headers=headers)
    assert logged(quoted).detail == "not '***'"
    typed = attempt(reason="invalid_action", detail="not '4711'", sensitive="4711")
    assert logged(typed).detail == "***"


def test_sensitive_keys_without_digits() -> None:
    """Stars are masked as they are."""
    assert logged(attempt(b"{}", b"you typed **", sensitive="**")).response_body == b"***"
    assert logged(attempt(b"{}", b"typed 4", sensitive="**")).response_body == b"typed 4"


def test_bodies_that_are_no_text() -> None:
    """Bytes that are no UTF-8 are shown as far as they are."""
    view = logged(attempt(b"a\xffb", reply=Reply(200))).view("1-0")
    assert view.request_body.text == "a�b"
