"""The span of a REST request: its name, its attributes, and when it ends."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.http.tracing import Tracing

ROUTE = "/accounts/{accountId}/calls/{callId}"
SENT = [
    (b"traceparent", b"00-1"),
    (b"tracestate", b"a=\xe9"),
    (b"authorization", b"Bearer secret"),
]


class Spans:
    """Spans that keep what happens to them, in order."""

    def __init__(self) -> None:
        self.done: list[object] = []

    @contextmanager
    def server_span(self, name: str, headers: Mapping[str, str]) -> Iterator["Spans"]:
        self.done.append((name, {**headers}))
        yield self

    def headers(self) -> Mapping[str, str]:
        return {}

    def set_name(self, name: str) -> None:
        self.done.append(name)

    def set_attribute(self, name: str, value: str | int) -> None:
        self.done.append((name, value))

    def end(self, error: str = "") -> None:
        self.done.append(f"ended: {error}")


async def run(
    spans: Spans, status: int, content_type: bytes = b"application/json", account: str = ""
) -> list[str]:
    """Have an application respond; return the types of what the client gets."""
    sent: list[str] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        scope["route"] = SimpleNamespace(path=ROUTE)
        if account:
            scope["state"] = {"account_id": account}
        headers = [(b"content-type", content_type)]
        if status:
            await send({"type": "http.response.start", "status": status, "headers": headers})
        spans.done.append("body")
        await send({"type": "http.response.body"})

    async def send(message: Message) -> None:
        sent.append(message["type"])

    async def receive() -> Message:
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": "/x", "headers": SENT}
    await Tracing(app, spans)(scope, receive, send)
    return sent


def ended(status: int, error: str = "", account: str = "") -> list[object]:
    """Return what happens to a span at its end."""
    return [
        f"REST GET {ROUTE}",
        ("http.request.method", "GET"),
        ("http.route", ROUTE),
        ("http.response.status_code", status),
        *([("switchroom.account", account)] if account else []),
        f"ended: {error}",
    ]


BEGUN = ("REST GET", {"traceparent": "00-1", "tracestate": "a=é"})


@pytest.mark.parametrize(
    ("status", "error"),
    [(200, ""), (404, ""), (499, ""), (500, "status 500"), (503, "status 503"), (0, "status 0")],
)
async def test_a_span_ends_with_its_response(status: int, error: str) -> None:
    """It is the client's trace, without other headers; faults of the server are errors."""
    spans = Spans()
    sent = await run(spans, status, account="acme")
    assert sent == ["http.response.start", "http.response.body"][-1 if status == 0 else 0 :]
    assert spans.done == [BEGUN, "body", *ended(status, error, "acme")]


async def test_the_span_of_a_stream_of_events_ends_when_it_begins() -> None:
    """It lasts as long as its reader wants."""
    spans = Spans()
    await run(spans, 200, b"text/event-stream; charset=utf-8")
    assert spans.done[: 2 + len(ended(200))] == [BEGUN, *ended(200), "body"]


async def test_a_websocket_has_no_span() -> None:
    """Nor has the start of the program."""
    spans, reached = Spans(), list[str]()

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        reached.append(scope["type"])

    async def receive() -> Message:
        raise AssertionError

    async def send(_message: Message) -> None:
        raise AssertionError

    for kind in ("websocket", "lifespan"):
        await Tracing(app, spans)({"type": kind}, receive, send)
    assert (reached, spans.done) == (["websocket", "lifespan"], [])
