"""Calls continue when the network of an engine to its store or to a PBX is dead."""

from pathlib import Path

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.six_calls import SixCalls
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until


async def test_calls_survive_an_engine_without_its_store(
    tmp_path: Path, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Another engine takes its calls over; late data of the first changes nothing."""
    cluster = Cluster(tmp_path, engines=0, nodes=2)
    async with TcpProxy(cluster.valkey.port) as proxy:
        cut_off, other = cluster.add_engine(proxies=[proxy]), cluster.add_engine()
        async with cluster, SixCalls(cut_off, hooks, sounds, other) as calls:
            proxy.cut()
            await calls.wait_controllable(other)
            proxy.restore()
            await until(
                lambda: "shard lost" in cut_off.engine.log.read_text(), what="the loss to be logged"
            )
            await calls.assert_continue(other)
            await cluster.wait_balanced()
            await cluster.wait_empty()


async def test_calls_survive_an_engine_without_its_pbx(
    tmp_path: Path, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """An engine that reaches the PBX takes the calls over; the first regains shards later."""
    cluster = Cluster(tmp_path, engines=0, nodes=2)
    async with TcpProxy(cluster.nodes[0].ports.ari) as proxy:
        cut_off, other = cluster.add_engine(proxies=[proxy]), cluster.add_engine()
        async with cluster, SixCalls(cut_off, hooks, sounds, other) as calls:
            proxy.cut()

            async def is_handed_over() -> bool:
                held = await cluster.shards_of(cut_off.engine)
                return all(shard.node != cluster.nodes[0].name for shard in held)

            await until(is_handed_over, what="the other engine to own its shards")
            await calls.wait_controllable(other)
            await calls.assert_continue(other)
            proxy.restore()
            await cluster.wait_balanced()
            await cluster.wait_empty()
