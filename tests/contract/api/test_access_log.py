"""What the HTTP server itself logs."""

import logging

import aiohttp
import pytest
from starlette.responses import PlainTextResponse

from tests.harness.api.rest import settings_for
from tests.harness.api.serving import NOWHERE, run_server

DATABASE = "sqlite+aiosqlite:///nowhere"


async def test_requests_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Not even if a handler is installed: paths contain customers' numbers."""
    caplog.set_level(logging.INFO)
    async with (
        run_server(settings_for(DATABASE, NOWHERE), PlainTextResponse("found")) as port,
        aiohttp.ClientSession() as http,
        http.get(f"http://127.0.0.1:{port}/srmain/cdr?dialedNumber=4722222222") as reply,
    ):
        assert await reply.text() == "found"
    assert "4722222222" not in caplog.text
