"""Measures when the PBX executes a hangup: from the request until the channel has ended."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import aiohttp

from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

TIMEOUT_S = 40
RETRY_DELAY_S = 0.05


async def hangup_ms(lab: Callable[[], Lab], node: Lab, view: dict[str, Any]) -> float:
    """Hang up a call through an engine that answers; returns when its channel has ended."""
    started_ms = now_ms()
    channel = view["legs"][0]["channelId"]

    async def is_accepted() -> bool:
        try:
            await lab().engine.rpc("POST", f"/calls/{view['callId']}/hangup", {})
        except aiohttp.ClientError:
            return False
        except RequestError as refused:
            return refused.status != HTTPStatus.SERVICE_UNAVAILABLE
        return True

    async def has_ended() -> bool:
        return "id" not in await node.ari(f"channels/{channel}")

    try:
        async with asyncio.timeout(TIMEOUT_S):
            await until(is_accepted, timeout_s=TIMEOUT_S, every_s=RETRY_DELAY_S)
            await until(has_ended, timeout_s=TIMEOUT_S, every_s=RETRY_DELAY_S)
    except TimeoutError:
        return TIMEOUT_S * 1000
    return now_ms() - started_ms
