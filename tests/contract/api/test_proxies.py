"""X-Forwarded-For of trusted proxies."""

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.harness.api.rest import settings_for
from tests.harness.api.serving import NOWHERE, run_server

DATABASE = "sqlite+aiosqlite:///nowhere"


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """Return the address to which failures are attributed."""
    client = Request(scope).client
    await PlainTextResponse(client.host if client else "")(scope, receive, send)


@pytest.mark.parametrize(
    ("believed", "seen"),
    [({}, "203.0.113.7"), ({"api_proxies": ["10.0.0.0/8"]}, "127.0.0.1")],
    ids=["this host's", "others"],
)
async def test_trusted_proxies(believed: dict[str, object], seen: str) -> None:
    """A proxy on this host is trusted unless the settings name others; clients never are."""
    said = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}
    async with (
        run_server(settings_for(DATABASE, NOWHERE, **believed), who) as port,
        aiohttp.ClientSession() as http,
        http.get(f"http://127.0.0.1:{port}/", headers=said) as reply,
    ):
        assert await reply.text() == seen
