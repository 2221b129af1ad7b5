"""The store over a cluster whose primaries die, hang, or give their hash slots away."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest
from redis.crc import key_slot

from base.tasks import cancel_all
from engine.store.errors import CommitsLost, StoreDown
from engine.store.redis.script_connection import owner_key, shard_key
from engine.store.redis.store import RedisStore
from engine.store.writer import Writer
from tests.contract.store.durable_server import change, open_store
from tests.harness.servers.valkey_cluster import ClusterMember, ValkeyCluster
from tests.harness.shards import SHARD, at
from tests.harness.store.documents import put_agent
from tests.harness.store.stores import claim_shard
from tests.harness.until import until
from wire.shard import ShardId

T = TypeVar("T")
SHARDS = [at(slot) for slot in range(8)]  # of all three primaries
KEY = owner_key(SHARD)
LEASE_MS = 60_000


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[ValkeyCluster]:
    """Start a cluster that the test may harm."""
    async with ValkeyCluster(tmp_path / "cluster") as started:
        yield started


class Load:
    """Commits to calls of several shards, one after another, until it is stopped."""

    def __init__(self, store: RedisStore) -> None:
        self.store = store
        self.writers: dict[ShardId, Writer] = {}
        self.tokens: dict[ShardId, int] = {}
        self.acknowledged = dict.fromkeys(SHARDS, -1)  # the last step of each shard's call
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Claim the shards, and write to them."""
        for shard in SHARDS:
            self.tokens[shard] = await claim_shard(self.store, shard)
            writer = Writer(self.store, shard, self.tokens[shard], Random(shard.slot).random)
            self.writers[shard] = writer
            writing = (writer.run(), self._write(shard, writer))
            self._tasks += [asyncio.create_task(each) for each in writing]

    async def stop(self) -> None:
        """Write no more, and wait until everything is acknowledged."""
        await cancel_all(self._tasks[1::2])
        for writer in self.writers.values():
            await writer.drain()
        await cancel_all(self._tasks)

    async def progress(self, steps: int = 20) -> None:
        """Wait until each shard has had so many more commits."""
        before = dict(self.acknowledged)

        def has_progressed() -> bool:
            return all(self.acknowledged[shard] > before[shard] + steps for shard in SHARDS)

        await until(has_progressed, timeout_s=30, what="commits of all shards")

    async def shards_with_losses(self) -> list[ShardId]:
        """Renew all leases; return the shards of which the store has lost commits."""
        lost: list[ShardId] = []
        for shard, writer in self.writers.items():
            try:
                token = self.tokens[shard]
                assert await self.store.renew(shard, token, LEASE_MS, writer.last_number)
            except CommitsLost:
                lost.append(shard)
        return lost

    async def _write(self, shard: ShardId, writer: Writer) -> None:
        for number in count():
            done = asyncio.Event()
            writer.write(change(number), partial(self._acknowledge, shard, number, done))
            await done.wait()

    def _acknowledge(self, shard: ShardId, number: int, done: asyncio.Event) -> None:
        self.acknowledged[shard] = number
        done.set()


async def test_nothing_acknowledged_is_lost_when_a_primary_is_killed(
    cluster: ValkeyCluster,
) -> None:
    """Its replica is promoted and has all, or the loss is noticed and can be written again."""
    async with open_store(cluster.url) as store:
        load = Load(store)
        await load.start()
        await load.progress()
        connections = store.connections
        killed = await cluster.primary_of(KEY)
        await killed.kill()
        await load.progress()
        assert store.connections > connections  # so that no shard is claimed for a lease
        await killed.start()
        await cluster.settle()
        await load.progress()
        await load.stop()
        lost = await load.shards_with_losses()
        for shard in set(SHARDS) - set(lost):
            number = load.acknowledged[shard]
            assert await store.log(shard, "c1") == [b"%d" % each for each in range(number + 1)]
            assert await store.read(shard, "c1") == b"%d" % number


async def test_a_promoted_replica_that_lacks_commits_is_noticed(cluster: ValkeyCluster) -> None:
    """The renewal says so, as after the failover of a single server."""
    async with open_store(cluster.url) as store:
        token = await claim_shard(store, SHARD)
        await store.commit(SHARD, token, [change(0)], 1)
        primary = await cluster.primary_of(KEY)
        replica = cluster.replica_of(primary)
        await until(partial(_has_lines, replica, 1), what="the replica to have the first commit")
        os.kill(replica.pid, signal.SIGSTOP)
        try:
            await primary.ask("CLIENT", "KILL", "TYPE", "replica")
            await store.commit(SHARD, token, [change(1)], 2)
            await primary.kill()
        finally:
            os.kill(replica.pid, signal.SIGCONT)
        with pytest.raises(CommitsLost):
            await _retried(partial(store.renew, SHARD, token, LEASE_MS, 2))
        await store.commit(SHARD, token, [change(1)], 1)
        assert await store.log(SHARD, "c1") == [b"0", b"1"]
        assert await store.renew(SHARD, token, LEASE_MS, 1)


async def test_a_primary_that_hangs_is_replaced(cluster: ValkeyCluster) -> None:
    """Requests to it end in time, and go to its successor; the others are served meanwhile."""
    async with open_store(cluster.url, timeout_s=0.5) as store:
        token = await claim_shard(store, SHARD)
        await store.commit(SHARD, token, [change(0)])
        primary = await cluster.primary_of(KEY)
        primaries = {shard: await cluster.primary_of(owner_key(shard)) for shard in SHARDS}
        other = next(shard for shard, server in primaries.items() if server is not primary)
        other_token = await claim_shard(store, other)
        os.kill(primary.pid, signal.SIGSTOP)
        try:
            for request in (store.commit(SHARD, token, [change(1)]), store.log(SHARD, "c1")):
                with pytest.raises(StoreDown):
                    await request
            await store.commit(other, other_token, [change(0)])
            await _retried(partial(store.commit, SHARD, token, [change(1)]))
            assert await _retried(partial(store.log, SHARD, "c1")) == [b"0", b"1"]
        finally:
            os.kill(primary.pid, signal.SIGCONT)
        await cluster.settle()
        await store.commit(SHARD, token, [change(2)])
        assert await store.log(SHARD, "c1") == [b"0", b"1", b"2"]


async def test_no_shard_is_claimed_over_the_first_connection_to_a_promoted_replica(
    cluster: ValkeyCluster,
) -> None:
    """The engine sees a new connection first, and waits for a lease (decision 0030)."""
    async with open_store(cluster.url) as store:
        await claim_shard(store, SHARD)
        primary = await cluster.primary_of(KEY)
        replica = cluster.replica_of(primary)
        await primary.kill()
        await until(partial(_is_primary, replica), what="the failover")
        connections = store.connections

        async def is_new() -> bool:
            with pytest.raises(StoreDown) as raised:
                await store.claim(SHARD, "engine2", LEASE_MS)
            return "new connection" in str(raised.value)

        await until(is_new, what="the promoted replica")
        assert store.connections > connections
        assert await store.claim(SHARD, "engine2", LEASE_MS) is not None


async def test_a_planned_failover_costs_no_request(cluster: ValkeyCluster) -> None:
    """A demoted primary redirects scripts, commands, pipelines and transactions."""
    async with open_store(cluster.url) as store:
        token = await claim_shard(store, SHARD)
        await store.commit(SHARD, token, [change(0)])
        await put_agent(store, "acme", "7", b"{}")
        for key in (KEY, "agents:acme"):
            primary = await cluster.primary_of(key)
            replica = cluster.replica_of(primary)
            await replica.ask("CLUSTER", "FAILOVER")
            await until(partial(_is_primary, replica), what="the failover")
            await cluster.settle()
        await store.commit(SHARD, token, [change(1)])
        await put_agent(store, "acme", "8", b"{}")
        assert await store.log(SHARD, "c1") == [b"0", b"1"]
        assert await store.read(SHARD, "c1") == b"1"
        assert await store.agents("acme") == {"7": b"{}", "8": b"{}"}


async def test_a_hash_slot_that_is_being_moved(cluster: ValkeyCluster) -> None:
    """A script waits until all keys are at the new primary; reads follow the keys."""
    async with open_store(cluster.url) as store:
        token = await claim_shard(store, SHARD)
        await store.commit(SHARD, token, [change(0)])
        async with cluster.moving(key_slot(KEY.encode())) as moving:
            await moving.move(KEY)
            assert await store.owner(SHARD) == "engine1"
            assert await store.log(SHARD, "c1") == [b"0"]
            writing = asyncio.create_task(store.commit(SHARD, token, [change(1)]))
            assert await store.log(SHARD, "c1") == [b"0"]
            assert not writing.done()
            await moving.move(*(shard_key(SHARD, kind) for kind in ("log:c1", "live", "events")))
        await writing
        assert await store.log(SHARD, "c1") == [b"0", b"1"]


async def test_a_cluster_without_any_node(tmp_path: Path) -> None:
    """Requests end with StoreDown."""
    async with open_store("redis+cluster://127.0.0.1:1,127.0.0.1:2") as store:
        for request in (store.ping(), store.claim(SHARD, "engine1", 1_000)):
            with pytest.raises(StoreDown, match="no node of the cluster answers"):
                await request


async def _retried(request: Callable[[], Awaitable[T]]) -> T:
    """Repeat a request until the store is up again; returns its result."""
    results: list[T] = []

    async def is_done() -> bool:
        with suppress(StoreDown):
            results.append(await request())
        return bool(results)

    await until(is_done, what="the store to be up again")
    return results[0]


async def _has_lines(member: ClusterMember, lines: int) -> bool:
    async with member.connected() as client:
        await client.readonly()
        return await client.llen(shard_key(SHARD, "log", "c1")) == lines


async def _is_primary(member: ClusterMember) -> bool:
    return bool((await member.ask("ROLE"))[0] == "master")
