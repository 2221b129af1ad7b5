"""The real store when its connection fails: lost and malformed replies."""

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from engine.store.errors import StoreDown
from engine.store.versioned_documents import VersionedDocument
from tests.contract.store.durable_server import all_events, change, open_store
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.store.documents import put_agent
from tests.harness.store.lossy_connection import LossyProxy
from tests.harness.store.stores import claim_shard


async def test_a_lost_reply_is_retried(valkey: Valkey) -> None:
    """A commit whose reply was lost with the connection is repeated, and stored once."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        token = await claim_shard(store, at(3), "engine1")
        for number in range(3):
            proxy.lose_next = True
            await store.commit(at(3), token, [change(number)])
        proxy.lose_next = True
        assert await store.create(at(3), token, change(0, "c2"))
        assert proxy.lost == 4
        assert await store.log(at(3), "c1") == [b"0", b"1", b"2"]
        assert await all_events(store) == [b"0", b"1", b"2", b"0"]


async def test_pipelined_calls_survive_a_lost_connection(valkey: Valkey) -> None:
    """All calls in flight are sent once more; a connection lost twice is an error."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        tokens = [await claim_shard(store, at(slot), "engine1") for slot in range(4)]
        proxy.lose_next = True
        await asyncio.gather(*(store.commit(at(s), t, [change(0)]) for s, t in enumerate(tokens)))
        assert [await store.log(at(slot), "c1") for slot in range(4)] == [[b"0"]] * 4
        proxy.loses_all = True
        with pytest.raises(StoreDown, match="onnection"):
            await store.commit(at(0), tokens[0], [change(1)])
        proxy.loses_all = False
        await store.commit(at(0), tokens[0], [change(1)])
        assert await store.log(at(0), "c1") == [b"0", b"1"]


async def test_no_shard_is_claimed_over_a_new_connection(valkey: Valkey) -> None:
    """The server may lack the last renewals: the engine sees the connection first, and waits."""
    async with open_store(valkey.url) as store:
        await claim_shard(store, at(3), "engine1")
        await valkey.kill()
        await valkey.start()
        with pytest.raises(StoreDown, match="new connection"):
            await store.claim(at(4), "engine1", 1_000)
        assert store.connections == 2
        assert await store.claim(at(4), "engine1", 1_000) is not None


async def test_an_agent_and_its_change_are_one_write(valkey: Valkey) -> None:
    """An engine that dies between them would leave an agent that others don't notice."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        await put_agent(store, "a1", "1001", b"{1}")
        _, position = await store.agent_changes("a1", "")
        for body in (b"{2}", None):
            await put_agent(store, "a1", "1002", b"{}")  # over a connection that is lost next
            changed_agent = VersionedDocument("1001", await store.time_ms() + 1, body)
            proxy.loses_all = True
            with pytest.raises(StoreDown):
                await store.documents.put("a1", "agent", [changed_agent])
            proxy.loses_all = False
            assert await store.agent("a1", "1001") == body
            changed, position = await store.agent_changes("a1", position)
            assert changed == ["1002", "1001"]


async def test_an_endpoint_is_released_in_one_write(valkey: Valkey) -> None:
    """Another account cannot claim it between the check and the release."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        await store.phones.claim("PJSIP/1", "a1")
        proxy.loses_all = True
        with pytest.raises(StoreDown):
            await store.phones.release("PJSIP/1", "a1")
        proxy.loses_all = False
        assert await store.phones.owner("PJSIP/1") is None


async def test_a_call_is_sent_twice_at_most(valkey: Valkey) -> None:
    """If its reply is lost both times, it fails at once, not when the time is over."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        token = await claim_shard(store, at(3), "engine1")
        proxy.loses_scripts = True
        with pytest.raises(StoreDown, match="connection lost"):
            await store.commit(at(3), token, [change(0)])
        assert proxy.lost == 2
        proxy.loses_scripts = False
        await store.commit(at(3), token, [change(0)])
        assert await store.log(at(3), "c1") == [b"0"]


@pytest.mark.parametrize("words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b":1\r\n:1\r\n:1\r\n"])
async def test_who_speaks_something_else_is_left(valkey: Valkey, words: bytes) -> None:
    """Malformed or surplus replies cause a reconnect and no lasting error."""
    proxy = LossyProxy(valkey.port)
    async with proxy.listening(), open_store(f"redis://127.0.0.1:{proxy.port}") as store:
        token = await claim_shard(store, at(3), "engine1")
        proxy.replacement = words
        with suppress(StoreDown):
            await store.commit(at(3), token, [change(0)])
        proxy.replacement = None
        await store.commit(at(3), token, [change(0)])
        assert await store.log(at(3), "c1") == [b"0"]


async def test_who_no_longer_waits_leaves_the_others_their_answers(valkey: Valkey) -> None:
    """Replies are matched in order, also after a cancelled call."""
    async with open_store(valkey.url) as store:
        tokens = [await claim_shard(store, at(slot), "engine1") for slot in range(3)]
        calls = [
            asyncio.create_task(store.renew(at(s), t + s, 9_000)) for s, t in enumerate(tokens)
        ]
        await asyncio.sleep(0)
        calls[0].cancel()
        assert await asyncio.gather(*calls[1:]) == [False, False]
        assert await store.renew(at(0), tokens[0], 9_000)


async def test_closing_ends_calls_in_flight(valkey: Valkey) -> None:
    """Calls in flight fail when the store closes."""
    async with open_store(valkey.url) as store:
        token = await claim_shard(store, at(3), "engine1")
        os.kill(valkey.pid, signal.SIGSTOP)
        try:
            calls = asyncio.create_task(store.commit(at(3), token, [change(0)]))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await store.close()
            with pytest.raises(StoreDown):
                await calls
        finally:
            os.kill(valkey.pid, signal.SIGCONT)
