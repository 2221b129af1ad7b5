"""Live events of the webhook log: when its engine is asked for more."""

import asyncio
from typing import Any

import aiohttp
import msgspec

from api.common.errors import ServiceUnavailable
from api.engine_client import EngineClient
from api.http.event_stream import reader_limit
from api.webhooks.schemas import MAX_LIMIT
from api.webhooks.service import POLL_INTERVAL_S, WebhookLogService
from tests.harness.virtual_time import virtual_time
from wire.webhook_log import Attempts, AttemptSummary

ATTEMPT = AttemptSummary(
    id="1-0",
    at_ms=1,
    kind="action",
    request_id="r",
    attempt=1,
    method="POST",
    url="https://x.example/",
    took_ms=1,
    outcome="succeeded",
)


class ScriptedEngine(EngineClient):
    """An engine whose pages have so many attempts, and which then stops."""

    def __init__(self, http: aiohttp.ClientSession, *counts: int) -> None:
        super().__init__(http, ["http://engine"])
        self.requested_s: list[float] = []
        self._counts = iter(counts)

    async def request_raw(self, *_: Any, **__: Any) -> bytes:
        self.requested_s.append(round(asyncio.get_running_loop().time(), 3))
        if (count := next(self._counts, None)) is None:
            raise ServiceUnavailable("it has stopped")
        return msgspec.json.encode(Attempts((ATTEMPT,) * count))


async def authorized() -> None:
    """Do nothing: the reader may go on."""


@virtual_time
async def test_only_a_full_page_is_followed_at_once() -> None:
    """There may be more of them then; otherwise the engine is asked again after a pause."""
    async with aiohttp.ClientSession() as http:
        engine = ScriptedEngine(http, MAX_LIMIT, MAX_LIMIT - 1, 1)
        response = await WebhookLogService(engine, reader_limit()).stream("acme", "1-0", authorized)
        assert response.media_type == "text/event-stream"
        assert len([chunk async for chunk in response.body_iterator]) == 4
    assert engine.requested_s == [0, 0, POLL_INTERVAL_S, 2 * POLL_INTERVAL_S]
