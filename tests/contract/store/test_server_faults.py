"""The real store when the server crashes, hangs, loses data or rejects writes."""

import asyncio
import os
import signal
from functools import partial
from random import Random

import pytest
from redis import Redis

from base.tasks import cancel_all
from engine.store.errors import StoreDown
from engine.store.writer import Writer
from tests.contract.store.durable_server import all_events, change, open_store
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.store.stores import claim_shard
from tests.harness.until import until


async def test_a_dead_server_is_detected_and_reconnected(valkey: Valkey) -> None:
    """Without a server every request raises StoreDown; after a restart the same store works."""
    async with open_store(valkey.url) as store:
        token = await claim_shard(store, at(3), "engine1")
        await store.ping()
        assert store.connections == 1
        await valkey.kill()
        with pytest.raises(StoreDown):
            await store.commit(at(3), token, [change(0)])
        with pytest.raises(StoreDown):
            await store.read(at(3), "c1")
        with pytest.raises(StoreDown):
            await store.ping()
        await valkey.start()
        await store.commit(at(3), token, [change(0)])
        assert await store.read(at(3), "c1") == b"0"
        assert store.connections == 2


async def test_a_server_that_hangs_is_given_up_in_time(valkey: Valkey) -> None:
    """A hanging server is down after the timeout; its late work is harmless."""
    async with open_store(valkey.url, timeout_s=2) as store:
        token = await claim_shard(store, at(3), "engine1")
        os.kill(valkey.pid, signal.SIGSTOP)
        try:
            for request in (store.commit(at(3), token, [change(0)]), store.ping()):
                with pytest.raises(StoreDown, match="no answer in 2 s"):
                    await request
        finally:
            os.kill(valkey.pid, signal.SIGCONT)
        await until(valkey.is_ready, what="the server to be back")
        await store.commit(at(3), token, [change(0)])
        await store.commit(at(3), token, [change(1)])
        assert await store.log(at(3), "c1") == [b"0", b"1"]
        assert await all_events(store) == [b"0", b"1"]


async def test_a_script_that_the_server_forgot_is_sent_again(valkey: Valkey) -> None:
    """A restart or SCRIPT FLUSH removes the scripts; calls still succeed."""
    async with open_store(valkey.url) as store:
        token = await claim_shard(store, at(3), "engine1")
        await store.commit(at(3), token, [change(0)])
        with Redis(port=valkey.port) as client:
            client.script_flush()
        await store.commit(at(3), token, [change(1)])
        assert await store.log(at(3), "c1") == [b"0", b"1"]


async def test_a_server_that_may_not_write_is_down_with_its_reason(valkey: Valkey) -> None:
    """A replica after a failover, and a full memory, raise StoreDown and write nothing."""
    async with open_store(valkey.url) as store:
        token = await claim_shard(store, at(3), "engine1")
        with Redis(port=valkey.port) as client:
            client.config_set("maxmemory", 1)
            with pytest.raises(StoreDown, match="maxmemory"):
                await store.commit(at(3), token, [change(0), change(0, "c2")])
            client.config_set("maxmemory", 0)
            client.replicaof("127.0.0.1", valkey.port)
            with pytest.raises(StoreDown, match="read only"):
                await store.commit(at(3), token, [change(0)])
            client.replicaof("NO", "ONE")
        assert [call async for call in store.live(at(3))] == []
        await store.commit(at(3), token, [change(0)])
        assert await all_events(store) == [b"0"]


async def test_tokens_grow_even_when_all_data_is_lost(valkey: Valkey) -> None:
    """A token given after a loss of data is larger than any given before."""
    async with open_store(valkey.url) as store:
        before = await claim_shard(store, at(3), "engine1")
        with Redis(port=valkey.port) as client:
            client.flushall()
        assert await claim_shard(store, at(3), "engine2") > before


async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(valkey: Valkey) -> None:
    """Kill -9 during writes, then a restart: each `done` is durable, nothing is stored twice."""
    async with open_store(valkey.url, timeout_s=5) as store:
        token = await claim_shard(store, at(3), "engine1")
        writer = Writer(store, at(3), token, Random(1).random)
        writing = asyncio.create_task(writer.run())
        done: list[int] = []
        for number in range(600):
            writer.write(change(number), partial(done.append, number))
            if number in {200, 400}:
                await until(partial(_has_more_than, done, number - 100))
                await valkey.kill()  # with some hundred still waiting or under way
                acknowledged = len(done)
                await valkey.start()
                assert len(await store.log(at(3), "c1")) >= acknowledged
            await asyncio.sleep(0)
        await writer.drain()
        await cancel_all([writing])
        assert done == list(range(600))
        assert await store.log(at(3), "c1") == [b"%d" % number for number in range(600)]
        assert await all_events(store) == [b"%d" % number for number in range(600)]


def _has_more_than(done: list[int], count: int) -> bool:
    return len(done) > count
