"""Which cookies of a request are read."""

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from api.common.account_concurrency import AccountConcurrency
from api.http.request_middleware import RequestMiddleware
from api.metrics import Metrics

IN_FLIGHT = AccountConcurrency("too_many_requests", "requests", of_account=1)
SESSION = "switchroom_session_http"
QUOTED = '"' + r"\a" * 30_000 + '"'  # 8 s in a Python with CVE-2024-7592


class NoAudit:
    def add(self, scope: Scope, route: str, status: int, request_id: str) -> None:
        """Keep nothing."""


async def cookies_of(header: str) -> dict[str, str]:
    """Return the cookies that a route gets."""
    found: dict[str, str] = {}

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        found.update(Request(scope).cookies)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_message: Message) -> None:
        return

    scope = {
        "type": "http", "method": "GET", "path": "/", "query_string": b"",
        "headers": [(b"cookie", header.encode())],
    }  # fmt: skip
    middleware = RequestMiddleware(app, Metrics(), NoAudit(), IN_FLIGHT)
    await middleware(scope, receive, send)
    return found


@pytest.mark.parametrize(
    "header",
    [
        f"{SESSION}=x.y-z_",
        f"a={QUOTED}; {SESSION}=x.y-z_",
        f"{SESSION}=x.y-z_; theme=dark; b={QUOTED}",
        f"{SESSION}_other={QUOTED};{SESSION}=x.y-z_",
    ],
)
async def test_the_session_is_read_and_nothing_else(header: str) -> None:
    """Other cookies of the host, and values in quotes, cost nothing."""
    assert await cookies_of(header) == {SESSION: "x.y-z_"}
