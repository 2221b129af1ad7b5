"""The end of a scenario: hangs up all calls, and finds what is left of them."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp

from tests.harness.servers.engine import RequestError
from tests.harness.until import until
from tools.chaos.streams.servers.programs import Programs, read_metric

AT_ONCE = 10
EMPTY_WITHIN_S = 20  # the reaper runs every 15 s


async def hang_up_all(programs: Programs) -> None:
    """Hang up all calls; those that are refused are found as left."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def hang_up(call: str) -> None:
        async with limit:
            try:
                await programs.engine.rpc("POST", f"/calls/{call}/hangup", {})
            except (RequestError, aiohttp.ClientError):
                return

    await asyncio.gather(*map(hang_up, await _calls(programs)))


async def find_leftovers(programs: Programs) -> list[str]:
    """Wait until nothing is left; return what remains of calls and streams, and where."""
    left: list[str] = []

    async def is_empty() -> bool:
        left[:] = [each async for each in _leftovers(programs)]
        return not left

    try:
        await until(is_empty, timeout_s=EMPTY_WITHIN_S, every_s=0.2)
    except TimeoutError:
        return left
    return []


async def _leftovers(programs: Programs) -> AsyncIterator[str]:
    for call in await _calls(programs):
        yield f"call {call}"
    for kind in ("channels", "bridges"):
        for each in await programs.cluster.labs[0].ari(kind):
            yield f"{kind} {each['id']}"
    for gateway in programs.gateways:
        if count := await read_metric(gateway, "switchroom_streams"):
            yield f"{count} streams of {gateway.folder.name}"
    if programs.bots.connected:
        yield f"{programs.bots.connected} bots"
    if programs.recognized_streams:
        yield f"{programs.recognized_streams} streams of recognizers"


async def _calls(programs: Programs) -> list[str]:
    shown = (await programs.engine.rpc("GET", "/calls"))["calls"]
    return [each["callId"] for each in shown]
