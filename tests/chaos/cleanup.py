"""The end of a scene: what is still there, everything hung up, and what is left after that."""

import asyncio
from collections.abc import Iterable
from typing import Any

import aiohttp

from tests.chaos.scenario import Scenario
from tests.harness.live_lab import Lab
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

AT_ONCE = 10
EMPTY_WITHIN_S = 20  # the reaper looks every 15 s


async def lost_calls(scene: Scenario) -> set[str]:
    """Name the calls that lived at the fault and do not live on, on the PBX as in the engine."""
    shown = (await scene.healthy.engine.rpc("GET", "/calls"))["calls"]
    channels = {each["id"] for each in await _on_nodes(scene, "channels")}
    kept = {each["callId"] for each in shown if _legs(each) <= channels and each["legs"]}
    return scene.views.keys() - kept - scene.expected_to_end - scene.planned_hangups


async def hang_up(scene: Scenario, calls: Iterable[str]) -> set[str]:
    """Hang calls up through the engine that is asked; names those it would not."""
    turn = asyncio.Semaphore(AT_ONCE)
    refused = set()

    async def hang_up(call: str) -> None:
        async with turn:
            try:
                await scene.healthy.engine.rpc("POST", f"/calls/{call}/hangup", {})
            except (RequestError, aiohttp.ClientError):
                refused.add(call)

    await asyncio.gather(*map(hang_up, calls))
    return refused


async def find_orphans(scene: Scenario) -> list[str]:
    """Wait for everything to be gone; names the calls, channels and bridges that stay."""
    left: list[str] = []

    async def is_empty() -> bool:
        calls = (await scene.healthy.engine.rpc("GET", "/calls"))["calls"]
        there = [*await _on_nodes(scene, "channels"), *await _on_nodes(scene, "bridges")]
        left[:] = [*(each["callId"] for each in calls), *(each["id"] for each in there)]
        return not left

    try:
        await until(is_empty, timeout_s=EMPTY_WITHIN_S, every_s=0.2)
    except TimeoutError:
        return left
    return []


async def _on_nodes(scene: Scenario, path: str) -> list[Any]:
    cluster, asked = scene.cluster, scene.healthy
    labs = [Lab(cluster.valkey, node, asked.engine, cluster.trunk_port) for node in cluster.nodes]
    found = await asyncio.gather(*(lab.ari(path) for lab in labs))
    return [each for some in found for each in some]


def _legs(view: dict[str, Any]) -> set[str]:
    return {leg["channelId"] for leg in view["legs"]}
