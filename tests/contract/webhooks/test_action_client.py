"""The action client: requests, accepted responses, and the reason of each failure."""

import asyncio
import gzip

import pytest
from aiohttp import ClientSession, web

from tests.harness.customers.signatures import verified
from tests.harness.signing import SIGNING_SECRET
from tests.harness.webhooks.customer import (
    HANGUP,
    Server,
    ask,
    asker,
    hang,
    outcomes,
    raw_server,
    refused,
)
from wire.verbs import Hangup


async def test_an_action_is_fetched(session: ClientSession) -> None:
    """The body is JSON with its id as idempotency key; the action is returned parsed."""
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        answer = await ask(session, url)
    assert answer.action == Hangup()
    assert outcomes(answer.attempts) == [(200, "")]
    headers, body = server.requests[0]
    assert body == b'{"callId":"c1"}'
    assert headers["Content-Type"] == "application/json"
    assert headers["webhook-id"] == headers["Idempotency-Key"] == "c1.r0"
    assert verified(SIGNING_SECRET, body, headers, url) == {"callId": "c1"}


async def test_a_byte_order_mark_is_skipped(session: ClientSession) -> None:
    """Editors and some frameworks write it."""
    async with Server(web.Response(text=f"\ufeff{HANGUP}")).open() as url:
        assert (await ask(session, url)).action == Hangup()


async def test_a_long_header(session: ClientSession) -> None:
    """Proxies add policies and cookies of more than 8 KB."""
    answer = web.Response(text=HANGUP, headers={"X-Policy": "x" * 30_000})
    async with Server(answer).open() as url:
        assert (await ask(session, url)).action == Hangup()


async def test_query_parameters_are_sent(session: ClientSession) -> None:
    """An address keeps its parameters, in their order, with nothing added: a webhook's state."""
    queries: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        queries.append(request.rel_url.raw_query_string)
        return web.Response(text=HANGUP)

    query = "attempt=1&name=B%26B&a=1+2&attempt=2&empty=&q=%C3%A6&e=a%40b.c&t=%7E%28x%29@:"
    async with Server(handle).open() as url:
        await ask(session, f"{url}?{query}")
    assert queries == [query]


async def test_an_address_is_an_action(session: ClientSession) -> None:
    """A server may respond with a JSON string: the next URL."""
    async with Server(web.Response(text='"https://x.example/next"')).open() as url:
        assert (await ask(session, url)).action == "https://x.example/next"


@pytest.mark.parametrize("answer", [web.Response(status=204), web.Response(text=" \n")])
async def test_nothing_means_go_on(session: ClientSession, answer: web.Response) -> None:
    """204 and an empty body add nothing to the call."""
    async with Server(answer).open() as url:
        assert (await ask(session, url)).action is None


async def test_requests_are_signed(session: ClientSession) -> None:
    """A customer verifies with Standard Webhooks' library, by either of two rotating secrets."""
    server = Server(web.Response(text=HANGUP))
    secrets = (SIGNING_SECRET, "whsec_" + "YWJj" * 8)
    async with server.open() as url:
        await asker(session, 5.0, *secrets).ask("acme", url, '{"dtmf":"é1"}'.encode(), "c1.r0")
    headers, body = server.requests[0]
    for secret in secrets:
        assert verified(secret, body, headers, url) == {"dtmf": "é1"}


async def test_redirects_are_not_followed(session: ClientSession) -> None:
    """A redirect could lead anywhere."""
    server = Server(web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}))
    async with server.open() as url:
        failure = await refused(session, url)
    assert failure.reason == "redirect"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body", [b"<html>Hello</html>", '{"type": "say", "data": {"text": "Blå"}}'.encode("latin-1")]
)
async def test_what_is_not_json_is_not_an_action(session: ClientSession, body: bytes) -> None:
    """HTML, and JSON in another encoding than UTF-8, have their own reason."""
    async with Server(web.Response(body=body)).open() as url:
        assert (await refused(session, url)).reason == "not_json"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"type":"play","data":{"audioUrl":"ftp://x"}}', "data.audioUrl"),
        ('{"type":"hangup","action":{"type":"play","data":{}}}', "action.data.audioUrl"),
        ('{"type":"dance"}', "type"),
        ("[" * 30_000 + "]" * 30_000, ""),
        ('"http://x.example/"', "https:// address"),
    ],
)
async def test_an_invalid_action_is_reported_with_its_path(
    session: ClientSession, body: str, detail: str
) -> None:
    """The timeline shows the path of the error."""
    async with Server(web.Response(text=body)).open() as url:
        failure = await refused(session, url)
    assert failure.reason == "invalid_action"
    assert detail in failure.detail
    assert outcomes(failure.attempts) == [(200, "invalid_action")]


async def test_a_huge_answer_is_not_read(session: ClientSession) -> None:
    """Ten megabytes are rejected at the limit, with or without a Content-Length."""

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(160):
            await response.write(b" " * 65_536)
        return response

    for answer in (web.Response(body=b" " * 10_000_000), endless):
        async with Server(answer).open() as url:
            assert (await refused(session, url)).reason == "too_large"


async def test_a_packed_answer_is_refused_unread(session: ClientSession) -> None:
    """A gzip bomb is never unpacked."""
    bomb = gzip.compress(b" " * 20_000_000)
    async with Server(web.Response(body=bomb, headers={"Content-Encoding": "gzip"})).open() as url:
        assert (await refused(session, url)).reason == "encoded"


async def test_silence_ends_in_time(session: ClientSession) -> None:
    """A server that never responds fails at the time limit, without a retry."""
    async with Server(hang).open() as url:
        failure = await refused(session, url, total_s=0.2)
    assert failure.reason == "timeout"
    assert outcomes(failure.attempts) == [(0, "timeout")]
    assert failure.attempts[0].ms >= 150


async def test_a_slow_drip_ends_in_time(session: ClientSession) -> None:
    """A slow stream of bytes does not extend the time limit."""

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.02)  # the server's slowness is the subject

    async with Server(drip).open() as url:
        failure = await refused(session, url, total_s=2)
    assert outcomes(failure.attempts) == [(200, "timeout")]


@pytest.mark.parametrize(
    ("answer", "word"),
    [(b"", "closed"), (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}", "truncated")],
)
async def test_a_lost_line_is_a_passing_failure(
    session: ClientSession, answer: bytes, word: str
) -> None:
    """A connection that ends before the whole answer has arrived is retried once."""
    async with raw_server(answer) as url:
        failure = await refused(session, url)
    assert (failure.reason, failure.detail) == ("connect", word)
    assert len(failure.attempts) == 2


async def test_an_answer_that_is_not_http(session: ClientSession) -> None:
    """The banner of another protocol has its own reason."""
    async with raw_server(b"220 mail.example ESMTP\r\n") as url:
        assert (await refused(session, url)).reason == "not_http"


async def test_an_endless_head(session: ClientSession) -> None:
    """Responses before the response end with the connection, long before the time limit."""
    async with raw_server(b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000) as url:
        failure = await refused(session, url)
    assert outcomes(failure.attempts) == [(0, "not_http")]


async def test_a_closed_port_is_reported(session: ClientSession) -> None:
    """Two refused connections are a failure to connect."""
    failure = await refused(session, "http://127.0.0.1:1/next")
    assert outcomes(failure.attempts) == [(0, "connect")] * 2
    assert failure.detail == "refused"
