"""API requests: sent requests, values read from responses, and the reason of each failure."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import ClientSession, web

from base.address_guard import guarded_session
from tests.harness.webhooks.api_requests import KEY, SECRET, failure, send
from tests.harness.webhooks.customer import Server, raw_server
from wire.request import ApiRequest


class Collecting(Server):
    """A server that records whole requests, of any method and path."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self.lines: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Record the request line, too."""
        self.lines.append(f"{request.method} {request.raw_path}")
        return await super().handle(request)


def answer(body: Any, status: int = 200, **headers: str) -> web.Response:
    """Return a response of JSON, or of raw bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return web.Response(status=status, body=data, headers=headers)


async def test_what_is_sent(session: ClientSession) -> None:
    """Method, headers and body are filled in; a template on its own keeps its type."""
    server = Collecting(answer({}))
    async with server.open() as url:
        request = ApiRequest(
            url,
            "POST",
            headers={"Authorization": "Bearer {{secrets.token}}", "X-To": "{{call.to}}"},
            json={"n": "{{custom.n}}", "text": "n={{custom.n}}", "none": "{{custom.x}}", "in": [1]},
            secrets={"token": SECRET},
        )
        await send(session, request, custom__n=3, call__to="+47")
    [(headers, body)] = server.requests
    assert json.loads(body) == {"n": 3, "text": "n=3", "none": None, "in": [1]}
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert (headers["X-To"], headers["Idempotency-Key"]) == ("+47", KEY)
    assert headers["Content-Type"] == "application/json"


async def test_a_text_and_its_kind(session: ClientSession) -> None:
    """A text is sent unchanged; its Content-Type may be set."""
    server = Collecting(answer({}))
    async with server.open() as url:
        request = ApiRequest(
            url, "POST", headers={"Content-Type": "text/xml"}, text="<a>{{digits}}"
        )
        await send(session, request, digits="1")
    [(headers, body)] = server.requests
    assert (body, headers["Content-Type"]) == (b"<a>1", "text/xml")


async def test_no_value_can_change_where_it_goes(session: ClientSession) -> None:
    """In an address every value is encoded, so none adds a parameter, a path or a host."""
    server = Collecting(answer({}))
    async with server.open() as url:
        request = ApiRequest(url + "?q={{custom.q}}&s={{secrets.s}}", "POST", secrets={"s": "a&b"})
        await send(session, request, custom__q="x&admin=1#/../é %")
    assert server.lines == ["POST /next?q=x%26admin%3D1%23%2F..%2F%C3%A9%20%25&s=a%26b"]


async def test_values_are_read_off_the_answer(session: ClientSession) -> None:
    """By pointers; missing values are None, and integers of any size can be stored."""
    document = {"a": [{"b/c": "x"}], "n": 1.5, "yes": True, "big": 2**70, "null": None}
    pointers = {
        "x": "/a/0/b~1c",
        "n": "/n",
        "yes": "/yes",
        "big": "/big",
        "none": "/a/7/b",
        "null": "/null",
        "deep": "/n/m",
    }
    async with Server(answer(document)).open() as url:
        got = await send(session, ApiRequest(url, "POST", answers=pointers))
    assert got.status == 200
    assert got.values == {
        "x": "x",
        "n": 1.5,
        "yes": True,
        "big": str(2**70),
        "none": None,
        "null": None,
        "deep": None,
    }


async def test_an_answer_that_nobody_reads_may_be_anything(session: ClientSession) -> None:
    """Without `answers` any 2xx is success."""
    async with Server(answer(b"<html>", 204)).open() as url:
        assert (await send(session, ApiRequest(url, "POST"))).values == {}


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (answer(b"<html>"), "not_json"),
        (answer(b""), "not_json"),
        (answer(b"\xff"), "not_json"),
        (answer(b"[" * 60_000), "not_json"),
        (answer({"a": {}}), "not_a_value"),
        (answer({"a": "x" * 1_025}), "value_too_large"),
        (answer(b"x" * 70_000), "too_large"),
        (answer({}, 404), "status_404"),
        (answer({}, 302, Location="http://169.254.169.254/"), "redirect"),
        (answer({}, 200, **{"Content-Encoding": "gzip"}), "encoded"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_answers_that_are_no_use(
    session: ClientSession, response: web.Response, reason: str
) -> None:
    """Each useless response has its own reason."""
    async with Server(response).open() as url:
        assert await failure(session, ApiRequest(url, "POST", answers={"a": "/a"})) == reason


async def test_it_is_tried_again_with_the_same_key(session: ClientSession) -> None:
    """A transient failure is retried once."""
    server = Server(answer({}, 503), answer({"a": 1}))
    async with server.open() as url:
        got = await send(session, ApiRequest(url, "POST", answers={"a": "/a"}))
    assert got.values == {"a": 1}
    assert [each.status for each in got.attempts] == [503, 200]
    assert {headers["Idempotency-Key"] for headers, _ in server.requests} == {KEY}


async def test_it_has_so_long(session: ClientSession) -> None:
    """A slow server fails at the request's own timeout."""

    async def slow(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()  # until the connection is closed
        return answer({})

    async with Server(slow).open() as url:
        assert await failure(session, ApiRequest(url, "POST", timeout_ms=200)) == "timeout"


async def test_private_addresses_are_refused() -> None:
    """The guard checks every request, also for a name that resolves to a private address."""
    async with guarded_session() as guarded:
        for url in ("http://127.0.0.1:1/", "http://localhost:1/", "http://169.254.169.254/"):
            assert await failure(guarded, ApiRequest(url)) == "refused_address"


async def test_a_server_that_speaks_no_http(session: ClientSession) -> None:
    """Malformed responses have their own reason."""
    async with raw_server(b"HTTP/1.1 banana\r\n\r\n") as url:
        assert await failure(session, ApiRequest(url, "POST")) == "not_http"
