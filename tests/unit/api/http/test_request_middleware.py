"""The outermost layer of the REST API: headers, faults, and what each request leaves behind."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.testing import capture_logs

from api.common.account_concurrency import AccountConcurrency
from api.http.request_middleware import RequestMiddleware
from api.metrics import Metrics

START = {"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]}
PART = {"type": "http.response.body", "body": b"a", "more_body": True}
END = {"type": "http.response.body", "body": b"b"}


class InFlight:
    """Keeps the accounts whose requests have ended."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def end(self, account_id: str) -> None:
        self.ended.append(account_id)


class Scene:
    """A layer around an application that sends messages, and may fail then."""

    def __init__(self, *messages: Message, error: Exception | None = None, **state: Any) -> None:
        self.sent: list[Message] = []
        self.audited: list[tuple[str, int, str]] = []
        self.in_flight, self.query = InFlight(), b""
        self._messages = messages
        self._error = error
        self._state = state

    def add(self, _scope: Scope, route: str, status: int, request_id: str) -> None:
        """See Audit."""
        self.audited.append((route, status, request_id))

    async def app(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Respond."""
        scope["route"] = SimpleNamespace(path="/things/{thingId}")
        scope["state"] = self._state
        self.query = scope.get("query_string", b"")
        for each in self._messages:
            await send(dict(each))
        if self._error is not None:
            raise self._error

    async def run(
        self, request_id: bytes = b"r-1", query: bytes = b"", path: str = "/things/7"
    ) -> "Scene":
        """Pass a request."""

        async def send(message: Message) -> None:
            self.sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        app: ASGIApp = self.app
        in_flight = cast("AccountConcurrency", self.in_flight)
        scope = {
            "type": "http", "method": "GET", "path": path, "query_string": query,
            "headers": [(b"x-request-id", request_id)], "client": ("192.0.2.1", 5),
        }  # fmt: skip
        await RequestMiddleware(app, Metrics(), self, in_flight)(scope, receive, send)
        return self

    @property
    def headers(self) -> dict[bytes, bytes]:
        """Return the headers of the response."""
        return dict(self.sent[0]["headers"])


async def test_a_response_gets_the_headers_of_all_responses() -> None:
    """Its own stay; one that says how long it may be kept, and a page's policy, too."""
    limits = [(b"ratelimit-remaining", b"3")]
    scene = await Scene(START, END, rate_limit=limits).run()
    assert scene.headers == {
        b"x-own": b"1", b"x-request-id": b"r-1", b"ratelimit-remaining": b"3",
        b"strict-transport-security": b"max-age=31536000", b"x-content-type-options": b"nosniff",
        b"x-frame-options": b"DENY", b"referrer-policy": b"no-referrer",
        b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
        b"cache-control": b"no-store",
    }  # fmt: skip
    own = [(b"Cache-Control", b"public"), (b"Content-Security-Policy", b"x")]
    scene = await Scene({**START, "headers": own}, END).run()
    names = [name.lower() for name, _ in scene.sent[0]["headers"]]
    assert (names.count(b"cache-control"), names.count(b"content-security-policy")) == (1, 1)


@pytest.mark.parametrize("request_id", [b"", b"a" * 65, b"a b"])
async def test_a_request_without_a_usable_id_gets_one(request_id: bytes) -> None:
    """The response, the log and the audit trail have the same."""
    scene = await Scene(START, END).run(request_id)
    made = scene.headers[b"x-request-id"].decode()
    assert len(made) == 32
    assert scene.audited == [("/things/{thingId}", 200, made)]


async def test_a_fault_before_a_response_is_a_problem() -> None:
    """It says nothing of the fault; the log does, by the route, as a path may hold a token."""
    with capture_logs() as logs:
        scene = await Scene(error=RuntimeError("a fault"), in_flight_of="acme").run()
    assert scene.sent[0]["status"] == 500
    assert b"a fault" not in b"".join(each.get("body", b"") for each in scene.sent)
    assert [each["event"] for each in logs] == ["request failed", "request"]
    assert logs[0]["route"] == "/things/{thingId}"
    assert scene.audited == [("/things/{thingId}", 500, "r-1")]
    assert scene.in_flight.ended == ["acme"]


async def test_a_fault_in_the_middle_of_a_response_closes_the_connection() -> None:
    """After its end, there is nothing to repair."""
    scene = Scene(START, PART, error=RuntimeError("a fault"))
    with pytest.raises(RuntimeError):
        await scene.run()
    scene = await Scene(START, PART, END, error=RuntimeError("a fault")).run()
    assert len(scene.sent) == 3


@pytest.mark.parametrize("status", [200, 401, 403, 404, 429])
async def test_each_request_has_a_log_line(status: int) -> None:
    """Who sent it, and from where; those that are denied have one of their own, for fail2ban."""
    state: dict[str, Any] = {"account_id": "acme", "key_id": "k", "agent_id": "a"}
    with capture_logs() as logs:
        await Scene({**START, "status": status}, END, **state).run()
    line = logs[-1]
    assert 0 <= line.pop("took_ms") < 10_000
    assert line == {
        "event": "request", "log_level": "info", "method": "GET", "route": "/things/{thingId}",
        "status": status, "account": "acme", "key": "k", "agent": "a", "address": "192.0.2.1",
    }  # fmt: skip
    denied = {
        "event": "request denied", "log_level": "warning", "address": "192.0.2.1",
        "status": status, "route": "/things/{thingId}",
    }  # fmt: skip
    assert logs[:-1] == ([denied] if status in {401, 403, 429} else [])


@pytest.mark.parametrize(
    ("given", "read"),
    [(b"a=+47", b"a=%2B47"), (b"a=%20(47)", b"a=%2B(47)"), (b"a=+b", b"a=+b"), (b"a=1", b"a=1")],
)
async def test_a_plus_before_a_number_need_not_be_escaped(given: bytes, read: bytes) -> None:
    """Elsewhere it is a blank."""
    assert (await Scene(START, END).run(query=given)).query == read
