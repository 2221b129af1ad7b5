"""How soon a command is felt on the PBX: one call is hung up, until Asterisk has it no more."""

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
    """Hang a call up through whichever engine answers; tells how long it was on its node."""
    began_ms = now_ms()
    channel = view["legs"][0]["channelId"]

    async def is_taken() -> bool:
        try:
            await lab().engine.rpc("POST", f"/calls/{view['callId']}/hangup", {})
        except aiohttp.ClientError:
            return False
        except RequestError as refused:
            return refused.status != HTTPStatus.SERVICE_UNAVAILABLE
        return True

    async def is_gone() -> bool:
        return "id" not in await node.ari(f"channels/{channel}")

    try:
        async with asyncio.timeout(TIMEOUT_S):
            await until(is_taken, timeout_s=TIMEOUT_S, every_s=RETRY_DELAY_S)
            await until(is_gone, timeout_s=TIMEOUT_S, every_s=RETRY_DELAY_S)
    except TimeoutError:
        return TIMEOUT_S * 1000
    return now_ms() - began_ms
