"""The end of a scenario: finds lost calls, hangs up all calls and finds orphans."""

import asyncio
from collections.abc import Iterable
from typing import Any

import aiohttp

from tests.harness.live_lab import Lab
from tests.harness.servers.engine import RequestError
from tests.harness.until import until
from tools.chaos.scenario import Scenario

AT_ONCE = 10
EMPTY_WITHIN_S = 20  # the reaper runs every 15 s


async def lost_calls(scenario: Scenario) -> set[str]:
    """Return the calls that were live at the fault and are missing in the engine or on the PBX."""
    shown = (await scenario.healthy.engine.rpc("GET", "/calls"))["calls"]
    channels = {each["id"] for each in await _on_nodes(scenario, "channels")}
    alive = {each["callId"] for each in shown if _legs(each) <= channels and each["legs"]}
    return scenario.views.keys() - alive - scenario.expected_to_end - scenario.planned_hangups


async def hang_up(scenario: Scenario, calls: Iterable[str]) -> set[str]:
    """Hang up calls through the healthy engine; returns the calls that it refused."""
    limit = asyncio.Semaphore(AT_ONCE)
    refused = set()

    async def hang_up_one(call: str) -> None:
        async with limit:
            try:
                await scenario.healthy.engine.rpc("POST", f"/calls/{call}/hangup", {})
            except (RequestError, aiohttp.ClientError):
                refused.add(call)

    await asyncio.gather(*map(hang_up_one, calls))
    return refused


async def find_orphans(scenario: Scenario) -> list[str]:
    """Wait until nothing is left; returns the calls, channels and bridges that remain."""
    left: list[str] = []

    async def is_empty() -> bool:
        calls = (await scenario.healthy.engine.rpc("GET", "/calls"))["calls"]
        resources = [*await _on_nodes(scenario, "channels"), *await _on_nodes(scenario, "bridges")]
        left[:] = [*(each["callId"] for each in calls), *(each["id"] for each in resources)]
        return not left

    try:
        await until(is_empty, timeout_s=EMPTY_WITHIN_S, every_s=0.2)
    except TimeoutError:
        return left
    return []


async def _on_nodes(scenario: Scenario, path: str) -> list[Any]:
    cluster, healthy = scenario.cluster, scenario.healthy
    labs = [Lab(cluster.valkey, node, healthy.engine, cluster.trunk_port) for node in cluster.nodes]
    found = await asyncio.gather(*(lab.ari(path) for lab in labs))
    return [each for some in found for each in some]


def _legs(view: dict[str, Any]) -> set[str]:
    return {leg["channelId"] for leg in view["legs"]}
