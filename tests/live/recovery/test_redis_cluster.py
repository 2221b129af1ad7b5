"""A call over a Redis Cluster whose primary is killed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.store.redis.script_connection import owner_key
from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.audio import assert_uninterrupted
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey_cluster import ValkeyCluster
from tests.harness.until import until
from wire.call_id_format import shard_of


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[ValkeyCluster]:
    """Start a cluster that the test may harm."""
    async with ValkeyCluster(tmp_path / "cluster") as started:
        yield started


@pytest.fixture
async def clustered(tmp_path: Path, cluster: ValkeyCluster) -> AsyncIterator[Lab]:
    """Start a PBX, and an engine over the cluster."""
    trunk_port, valkey = free_port(), cluster.members[0]
    async with Pbx(tmp_path / "pbx1", trunk=f"sip:127.0.0.1:{trunk_port}") as pbx:
        settings = {"SWITCHROOM_REDIS_URL": cluster.url}
        async with Engine(tmp_path / "e", valkey=valkey, nodes=[pbx], settings=settings) as engine:
            yield Lab(valkey, pbx, engine, trunk_port)


@pytest.mark.parametrize("key", ["of the call", "members"])
async def test_a_call_survives_the_failover_of_a_primary(
    clustered: Lab, cluster: ValkeyCluster, hooks: WebhookServer, sounds: MediaServer, key: str
) -> None:
    """Its prompt continues, then its webhook is requested, its log is whole, and new calls work."""
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 8_000)}}
    action = {**play, "action": hooks.answers("/after", None)}
    async with Phone.answering(clustered.trunk_port) as phone:
        call = await clustered.call(to="+15550100", action=action)
        await phone.until_hears(600)
        shard = shard_of(call)
        assert shard is not None
        killed = await cluster.primary_of(owner_key(shard) if key == "of the call" else key)
        await killed.kill()
        await hooks.wait_for_request("/after")
        await phone.wait_ended()
        assert_uninterrupted(phone.tones_heard(600))
    assert (await clustered.wait_ended(call))["status"] == "completed"
    found = await clustered.engine.rpc("GET", f"/calls/{call}/replay")
    assert found["isSame"], found
    await until(clustered.engine.is_ready, what="the engine to be ready")
    async with Phone.answering(clustered.trunk_port) as phone:
        await clustered.call(to="+15550100", action=play)
        await phone.until_hears(600)
        await phone.hang_up()
    await clustered.wait_empty()
