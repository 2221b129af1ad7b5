"""How soon a command is felt on the PBX: one call is hung up, until Asterisk has it no more."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import aiohttp

from tests.harness.live import Lab
from tests.harness.now import now_ms
from tests.harness.servers.engine import Refused
from tests.harness.until import until

WITHIN_S = 40
AGAIN_S = 0.05


async def felt_ms(lab: Callable[[], Lab], node: Lab, view: dict[str, Any]) -> float:
    """Hang a call up through whichever engine answers; tells how long it was on its node."""
    began_ms = now_ms()
    channel = view["legs"][0]["channelId"]

    async def is_taken() -> bool:
        try:
            await lab().engine.rpc("POST", f"/calls/{view['callId']}/hangup", {})
        except aiohttp.ClientError:
            return False
        except Refused as refused:
            return refused.status != HTTPStatus.SERVICE_UNAVAILABLE
        return True

    async def is_gone() -> bool:
        return "id" not in await node.ari(f"channels/{channel}")

    try:
        async with asyncio.timeout(WITHIN_S):
            await until(is_taken, timeout_s=WITHIN_S, every_s=AGAIN_S)
            await until(is_gone, timeout_s=WITHIN_S, every_s=AGAIN_S)
    except TimeoutError:
        return WITHIN_S * 1000
    return now_ms() - began_ms
