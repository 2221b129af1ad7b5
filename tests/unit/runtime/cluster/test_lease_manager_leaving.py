"""An engine that leaves releases its shards, and still knows where to forward requests."""

import asyncio

import pytest

from tests.harness.runtime.cluster_scene import SETTLED_ROUNDS, Cluster
from wire.shard import ShardId

MAX_TURNS = 500  # of the loop, over long before the next heartbeat


async def test_leaving_ends_the_leases() -> None:
    """Replies that still arrive are left to the next owner."""
    cluster = Cluster("a")
    await cluster.run()
    leases = list(cluster["a"].leases.held.values())
    await cluster["a"].leases.leave()
    assert not any(lease.holds for lease in leases)


async def test_an_engine_leaves() -> None:
    """Its shards are drained and released; the other engine has them at its next heartbeat."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    held = cluster["a"].held
    await cluster["a"].leases.leave()
    assert set(cluster["a"].host.shards_of("drop")) >= held
    await cluster["b"].leases.run_once()
    assert cluster.held() == {"a": 0, "b": 8}


async def test_an_engine_that_left_knows_the_next_owner() -> None:
    """It can forward requests, and counts as settled without a share."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    held = cluster["a"].held
    await cluster["a"].leases.leave()
    await cluster.run(3)
    assert {cluster["a"].leases.url_of(each) for each in held} == {"http://b"}
    assert cluster["a"].leases.is_leaving
    assert cluster["a"].leases.is_settled
    assert cluster["b"].leases.peer_urls == []


async def test_a_claim_is_announced_at_once() -> None:
    """After a claim the next heartbeat does not wait: others need to know the new owner."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    await cluster["a"].leases.leave()
    running = asyncio.create_task(cluster["b"].leases.run())
    try:
        for _ in range(MAX_TURNS):
            cluster["a"].leases.wake()
            await cluster["a"].leases.run_once()
            await asyncio.sleep(0)
            if cluster["a"].leases.url_of(ShardId("pbx1", 0)) is not None:
                break
        else:
            pytest.fail("it waited for its next heartbeat")
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_an_engine_that_left_claims_nothing() -> None:
    """A late heartbeat does not claim the released shards."""
    cluster = Cluster("a")
    await cluster.run()
    await cluster["a"].leases.leave()
    await cluster.run()
    assert cluster.held() == {"a": 0}


async def test_it_runs_and_is_woken() -> None:
    """The task runs by itself, and at once when another engine leaves."""
    cluster = Cluster("a", "b")
    await cluster.run(SETTLED_ROUNDS)
    running = asyncio.create_task(cluster["b"].leases.run())
    await asyncio.sleep(0)
    try:
        await cluster["a"].leases.leave()
        async with asyncio.timeout(5):
            while len(cluster["b"].held) < 8:  # noqa: ASYNC110 - a turn of the loop, no time
                await asyncio.sleep(0)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
