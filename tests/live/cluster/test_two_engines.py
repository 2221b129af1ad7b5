"""Calls continue when one of two engines stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.registration import register
from tests.harness.phones.six_calls import SixCalls
from tests.harness.ports import free_port
from tests.harness.servers.cluster import LEASE_S, Cluster, freeze, thaw
from tests.harness.until import until

LONGER_THAN_LEASES_MS = (LEASE_S + 1) * 1000


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Run two engines on two PBX nodes; nothing may be left on them afterwards."""
    async with Cluster(tmp_path, nodes=2) as made:
        yield made
        await made.wait_empty()


async def test_calls_survive_a_killed_engine(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """SIGKILL: the other engine continues all calls; `tools.chaos` measures how soon."""
    leaving, staying = cluster.labs
    async with SixCalls(leaving, hooks, sounds, staying) as calls:
        await leaving.engine.kill()
        await calls.wait_controllable(staying)
        await calls.assert_continue(staying)


async def test_calls_survive_a_stopped_engine(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """SIGTERM: shards are handed over, calls are controlled meanwhile, and no call is lost."""
    leaving, staying = cluster.labs
    async with SixCalls(leaving, hooks, sounds, staying) as calls:
        stopping = asyncio.create_task(leaving.engine.stop())
        while not stopping.done():
            await calls.wait_controllable(staying)
        await stopping
        await calls.assert_continue(staying)


async def test_calls_survive_a_frozen_engine(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """SIGSTOP for longer than the lease, then SIGCONT: the engine executes nothing stale."""
    suspended, other = cluster.labs
    async with SixCalls(suspended, hooks, sounds, other) as calls:
        freeze(suspended.engine)
        await calls.wait_controllable(other)
        await until(lambda: _owns_all(cluster, other), what="the other engine to own all shards")
        thaw(suspended.engine)
        await until(
            lambda: "shard lost" in suspended.engine.log.read_text(), what="the loss to be logged"
        )
        await calls.assert_continue(other)
        assert "app taken over" not in other.engine.log.read_text()
    await cluster.wait_balanced()


async def test_an_engine_takes_its_app_back(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Another client takes the events of an app: its owner reconnects and takes them back."""
    lab, other = cluster.labs
    async with SixCalls(lab, hooks, sounds, other) as calls:
        slot = calls.ids["gather"][0]
        node = next(each for each in cluster.nodes if each.name in calls.ids["gather"])
        login = aiohttp.encode_basic_auth(node.ari_user, node.ari_password)
        async with (
            aiohttp.ClientSession(headers={"Authorization": login}) as session,
            session.ws_connect(f"{node.url}/ari/events?app=switchroom-{slot}") as websocket,
        ):
            while "ApplicationReplaced" not in (await websocket.receive()).data:
                pass
        await calls.wait_controllable(other)
        await calls.assert_continue(other)


async def test_a_new_engine_gets_its_share_of_shards(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A third engine gets its share of the shards, and all calls continue."""
    first, second = cluster.labs
    async with SixCalls(first, hooks, sounds, second) as calls:
        third = await cluster.join()
        await cluster.wait_balanced()
        assert len(await cluster.shards_of(third.engine)) >= 2
        await calls.warm_up(third)
        for lab in (first, second, third):
            await calls.wait_controllable(lab)
        await calls.assert_continue(third)


async def test_any_engine_shows_all_calls(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Each engine lists and shows the calls of all engines."""
    first, second = cluster.labs
    async with (
        SixCalls(first, hooks, sounds, second) as calls,
        Phone.answering(free_port()) as phone,
    ):
        play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 60_000)}}
        there = await second.call(to=phone.address, action=play)
        await phone.until_hears(600)
        for lab in cluster.labs:
            shown = (await lab.engine.rpc("GET", "/calls?account=acme"))["calls"]
            assert {each["callId"] for each in shown} == {there, *calls.ids.values()}
            for call in (there, calls.ids["talk"]):
                assert (await lab.engine.call(call))["callId"] == call
        await first.engine.rpc("POST", f"/calls/{there}/hangup", {})
        await phone.wait_ended()
        await calls.assert_continue(second)


async def test_calls_survive_a_killed_store(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The store is down for longer than the leases; the calls of both engines wait and continue."""
    first, second = cluster.labs
    async with SixCalls(first, hooks, sounds, second) as calls:
        await cluster.valkey.kill()
        await calls.wait_talked(LONGER_THAN_LEASES_MS)
        await cluster.valkey.start()
        await calls.wait_controllable(second)
        await calls.assert_continue(first)


async def test_calls_survive_a_flushed_store(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """FLUSHALL: each engine stores its calls again; none is duplicated or left."""
    first, second = cluster.labs
    async with SixCalls(first, hooks, sounds, second) as calls:
        before = await cluster.owners()
        await cluster.flush()
        await until(
            lambda: "store lost a shard" in first.engine.log.read_text(),
            what="the loss to be logged",
        )
        await cluster.wait_balanced()
        assert await cluster.owners() == before
        await calls.wait_controllable(second)
        await calls.assert_continue(first)


async def test_a_registration_is_known_to_all_engines(cluster: Cluster) -> None:
    """A registered phone is online for each engine, also after one of them is killed."""
    first, second = cluster.labs
    await register(cluster.nodes[1], "1001", free_port())
    for lab in cluster.labs:
        await _wait_for_presence(lab, "1001", "online")
    await first.engine.kill()
    await cluster.wait_balanced()
    await _wait_for_presence(second, "1001", "online")
    await register(cluster.nodes[1], "1002", free_port())
    await _wait_for_presence(second, "1002", "online")


async def _wait_for_presence(lab: Lab, agent: str, presence: str) -> None:
    async def has_presence() -> bool:
        view = await lab.engine.rpc("GET", f"/agents/acme/{agent}")
        return bool(view["presence"] == presence)

    await until(has_presence, what=f"{agent} to be {presence}")


async def _owns_all(cluster: Cluster, lab: Lab) -> bool:
    return len(await cluster.shards_of(lab.engine)) == len(cluster.shards)


async def test_a_full_engine_passes_callers_on(tmp_path: Path, sounds: MediaServer) -> None:
    """The dial plan offers a caller to any engine: the one with room takes it."""
    cluster = Cluster(tmp_path, engines=0)
    full = cluster.add_engine({"SWITCHROOM_MAX_CALLS": "1"})
    free = cluster.add_engine()
    async with cluster, AsyncExitStack() as phones:
        action = {"type": "play", "data": {"audioUrl": sounds.tone(600, 60_000)}}
        number = await free.add_number(action)
        callers = [
            await phones.enter_async_context(Phone.calling(cluster.nodes[0], number))
            for _ in range(6)
        ]
        for caller in callers:
            await caller.until_hears(600)
        shown = (await full.engine.rpc("GET", "/calls?account=acme"))["calls"]
        assert len(shown) == len(callers)
        for caller in callers:
            await caller.hang_up()
        await cluster.wait_empty()
