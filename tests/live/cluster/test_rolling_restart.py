"""A rolling restart of both engines during calls."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import aiohttp

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.audio import assert_heard_once
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

CALLS = 24
PROMPT_MS = 1_500
INTERVAL_MS = 350
UNAVAILABLE = 503


async def test_a_rolling_restart_loses_no_call(tmp_path: Path, sounds: MediaServer) -> None:
    """No call fails, and no event is missing or duplicated."""
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, PROMPT_MS)}}
    async with Cluster(tmp_path) as cluster:
        async with asyncio.TaskGroup() as group:
            restarting = group.create_task(_restart_all(cluster))
            calls = [
                group.create_task(_play_through(cluster, number, play, restarting.done))
                for number in range(CALLS)
            ]
        ids = [each.result() for each in calls]
        statuses = [(await cluster.labs[0].wait_ended(each))["status"] for each in ids]
        assert statuses == ["completed"] * CALLS
        numbers_of: dict[str, list[int]] = defaultdict(list)
        for event in await cluster.events():
            numbers_of[event["callId"]].append(event["sequenceNumber"])
        assert set(numbers_of) == set(ids)
        assert all(numbers == list(range(len(numbers))) for numbers in numbers_of.values()), (
            numbers_of
        )
        await cluster.wait_empty()


async def _restart_all(cluster: Cluster) -> None:
    for lab in cluster.labs:
        await lab.engine.restart()
        await cluster.wait_balanced()


async def _play_through(
    cluster: Cluster, number: int, action: object, is_over: Callable[[], bool]
) -> str:
    """Place one call at its time and let it play in full."""
    await asyncio.sleep(number * INTERVAL_MS / 1000)  # the offered load
    async with Phone.answering(free_port()) as phone:
        call = await _place_call(cluster, phone, action, f"rolling_{number:04}")
        await phone.wait_ended()
        assert_heard_once(phone.tones_heard(600), PROMPT_MS)
    return call


async def _place_call(cluster: Cluster, phone: Phone, action: object, request_id: str) -> str:
    """Request the call from engines in turn until one accepts it, like a load balancer."""
    placed: list[str] = []

    async def is_placed() -> bool:
        for lab in cluster.labs:
            try:
                request = {"to": phone.address, "action": action, "requestId": request_id}
                placed.append(await lab.call(**request))
            except RequestError as refused:
                if refused.status != UNAVAILABLE:
                    raise
            except (aiohttp.ClientError, OSError):
                pass  # the engine restarts
            else:
                return True
        return False

    await until(is_placed, what="an engine to take the call")
    return placed[0]
