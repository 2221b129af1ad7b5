"""Delivery over HTTPS without a network: what is sent, what a response means, what is logged."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest

from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent
from engine.callbacks.transports.http import MAX_DRAINED_BYTES, HttpTransport
from engine.webhooks.log.exchange import Exchange
from wire.callbacks.targets import HttpsTarget

NOW_S = 1_700_000_000.5
URL = "https://a.example/hook?x=%2F"
EVENT = SignedEvent("acme", "e1", b'{"id":"e1"}', {"webhook-id": "e1"}, attempt=3)


class Body:
    """The body of a response, in parts; an exception is the end of the connection."""

    def __init__(self, *parts: bytes | Exception) -> None:
        self._parts = parts
        self.most = 0  # bytes that a read may return

    async def read(self, most: int) -> bytes:
        self.most = most
        return b"".join([each async for each in self.iter_any()])

    async def iter_any(self) -> AsyncIterator[bytes]:
        for each in self._parts:
            if isinstance(each, Exception):
                raise each
            yield each


class Response:
    """A response of a target."""

    def __init__(self, status: int, *parts: bytes | Exception, **headers: str) -> None:
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.content = Body(*parts)


class Session:
    """Answers each request with a response, or fails."""

    def __init__(self, result: Response | BaseException) -> None:
        self.url = ""
        self.options: dict[str, Any] = {}
        self._result = result

    @asynccontextmanager
    async def post(self, url: object, **options: Any) -> AsyncIterator[Response]:
        self.url, self.options = str(url), options
        if isinstance(self._result, BaseException):
            raise self._result
        yield self._result


class Log:
    """Keeps attempts."""

    def __init__(self) -> None:
        self.attempts: list[Exchange] = []

    def add(self, attempt: Exchange) -> None:
        self.attempts.append(attempt)


async def deliver(result: Response | BaseException) -> tuple[Outcome, Session, Exchange]:
    """Return the outcome of an attempt, its request, and what is logged of it."""
    session, log = Session(result), Log()
    transport = HttpTransport(
        lambda _: cast("aiohttp.ClientSession", session),
        lambda: NOW_S,
        response_timeout_s=7.0,
        log=log,
    )
    outcome = await transport.deliver(HttpsTarget(URL), EVENT)
    (attempt,) = log.attempts
    return outcome, session, attempt


async def test_an_event_is_posted_once() -> None:
    """To its exact address; a redirect is not followed, a compressed body not decompressed."""
    response = Response(204, b"thanks", x="y")
    outcome, session, attempt = await deliver(response)
    assert outcome == Delivered()
    assert session.url == URL
    timeout = session.options.pop("timeout")
    assert (timeout.total, timeout.sock_connect) == (7.0, 5.0)
    headers = {"Content-Type": "application/json", "webhook-id": "e1"}
    assert session.options == {
        "data": EVENT.body, "headers": headers, "allow_redirects": False, "auto_decompress": False,
    }  # fmt: skip
    assert response.content.most == MAX_DRAINED_BYTES
    assert (attempt.sent.method, attempt.sent.url, attempt.sent.body) == ("POST", URL, EVENT.body)
    assert attempt.sent.headers == headers
    assert (attempt.subject, attempt.number) == (EVENT.subject, 3)
    assert (attempt.at_ms, attempt.took_ms < 1_000) == (1_700_000_000_500, True)
    assert (attempt.status, attempt.reason) == (204, "")
    assert (attempt.response_headers, attempt.response_body) == ({"x": "y"}, b"thanks")


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (Response(200), Delivered()),
        (Response(299), Delivered()),
        (Response(200, aiohttp.ClientPayloadError()), Delivered()),
        (Response(200, TimeoutError()), Delivered()),
        (Response(300, Retry_After="5"), Failed("redirect")),
        (Response(399), Failed("redirect")),
        (Response(410), Gone()),
        (Response(409), Failed("status_409")),
        (Response(199), Failed("status_199")),
        (Response(400), Failed("status_400")),
        (Response(503, b"busy", Retry_After="30"), Failed("status_503", 30.0)),
    ],
)
async def test_what_a_response_means(response: Response, outcome: Outcome) -> None:
    """The event has arrived with 2xx, even if its body breaks off; an error's body is logged."""
    found, _, attempt = await deliver(response)
    assert found == outcome
    assert attempt.status == response.status
    assert attempt.response_body == (b"busy" if response.status == 503 else b"")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError(), "timeout"),
        (aiohttp.ServerDisconnectedError(), "connect"),
        (aiohttp.ClientError(), "not_http"),
        (ValueError("no URL"), "bad_url"),
    ],
)
async def test_why_there_is_no_response(error: Exception, reason: str) -> None:
    """The log has the attempt, too."""
    outcome, _, attempt = await deliver(error)
    assert outcome == Failed(reason)
    assert (attempt.status, attempt.reason) == (0, reason)


async def test_an_attempt_that_is_cancelled_is_logged() -> None:
    """It may have arrived: nothing is known of it."""
    session, log = Session(asyncio.CancelledError()), Log()
    transport = HttpTransport(lambda _: cast("aiohttp.ClientSession", session), log=log)
    with pytest.raises(asyncio.CancelledError):
        await transport.deliver(HttpsTarget(URL), EVENT)
    assert [(each.status, each.reason) for each in log.attempts] == [(0, "timeout")]
