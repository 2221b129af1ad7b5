"""Transactions over a cluster: a primary runs all commands of one, or none."""

from engine.store.redis.store import RedisStore
from tests.contract.store.durable_server import open_store
from tests.harness.servers.valkey_cluster import PRIMARIES, ValkeyCluster


async def executed_transactions(cluster: ValkeyCluster) -> int:
    """Return how many transactions the primaries have executed."""
    total = 0
    for member in cluster.members[:PRIMARIES]:
        async with member.connected() as client:
            statistics = await client.info("commandstats")
        total += statistics.get("cmdstat_exec", {}).get("calls", 0)
    return total


async def test_a_version_of_a_flow_is_written_in_one_transaction(
    shared_cluster: ValkeyCluster,
) -> None:
    """A reader never sees a new version beside one that it has pushed out."""
    async with open_store(shared_cluster.url) as store:
        assert isinstance(store, RedisStore)
        before = await executed_transactions(shared_cluster)
        await store.documents.put_flow_version("acme", "ivr", 1, b"{}")
        assert await executed_transactions(shared_cluster) == before + 1
