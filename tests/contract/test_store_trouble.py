"""What the real store does when the server dies, hangs, forgets, or loses an answer."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest
from redis import Redis

from engine.store.change import Change
from engine.store.errors import StoreDown
from engine.store.redis import RedisStore
from engine.store.writer import Writer
from tests.contract.lossy import LossyLine
from tests.contract.store import claimed
from tests.harness.until import until
from tests.harness.valkey import Valkey


class DurableValkey(Valkey):
    """A server that answers a write when it is on the disk."""

    def command(self) -> Sequence[str]:
        """Return the server's command line."""
        return [*super().command(), "--appendfsync", "always"]


@pytest.fixture
async def valkey(tmp_path: Path) -> AsyncIterator[Valkey]:
    """Start a server that the test may harm."""
    async with DurableValkey(tmp_path / "valkey") as server:
        yield server


@asynccontextmanager
async def opened(url: str, timeout_s: float = 2.0) -> AsyncIterator[RedisStore]:
    """Open a store for the length of a test."""
    store = RedisStore(url, timeout_s=timeout_s)
    try:
        yield store
    finally:
        await store.close()


def change(number: int, call_id: str = "c1") -> Change:
    """Make the change of step `number`, which logs and tells that number."""
    word = b"%d" % number
    return Change(call_id, "pbx1", word, number, (word,), (word,))


async def told(store: RedisStore) -> list[bytes]:
    """Read all events of slot 3."""
    return [event for _, _, event in await store.stream.after({3: "0"}, limit=100_000)]


async def test_a_lost_answer_is_asked_for_again(valkey: Valkey) -> None:
    """A commit whose answer was lost with the connection is repeated, and stored once."""
    line = LossyLine(valkey.port)
    async with line.listening(), opened(f"redis://127.0.0.1:{line.port}") as store:
        token = await claimed(store, 3, "engine1")
        for number in range(3):
            line.lose_next = True
            await store.commit(3, token, [change(number)])
        line.lose_next = True
        assert await store.create(3, token, change(0, "c2"))
        assert line.lost == 4
        assert await store.log(3, "c1") == [b"0", b"1", b"2"]
        assert await told(store) == [b"0", b"1", b"2", b"0"]


async def test_what_was_asked_together_survives_a_lost_line(valkey: Valkey) -> None:
    """All that was under way is asked once more, each of it; a line lost twice is told."""
    line = LossyLine(valkey.port)
    async with line.listening(), opened(f"redis://127.0.0.1:{line.port}") as store:
        tokens = [await claimed(store, slot, "engine1") for slot in range(4)]
        line.lose_next = True
        await asyncio.gather(*(store.commit(s, t, [change(0)]) for s, t in enumerate(tokens)))
        assert [await store.log(slot, "c1") for slot in range(4)] == [[b"0"]] * 4
        line.loses_all = True
        with pytest.raises(StoreDown, match="onnection"):
            await store.commit(0, tokens[0], [change(1)])
        line.loses_all = False
        await store.commit(0, tokens[0], [change(1)])
        assert await store.log(0, "c1") == [b"0", b"1"]


@pytest.mark.parametrize("words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b":1\r\n:1\r\n:1\r\n"])
async def test_who_speaks_something_else_is_left(valkey: Valkey, words: bytes) -> None:
    """Neither what is no answer, nor more answers than questions, does harm for longer."""
    line = LossyLine(valkey.port)
    async with line.listening(), opened(f"redis://127.0.0.1:{line.port}") as store:
        token = await claimed(store, 3, "engine1")
        line.says = words
        with suppress(StoreDown):
            await store.commit(3, token, [change(0)])
        line.says = None
        await store.commit(3, token, [change(0)])
        assert await store.log(3, "c1") == [b"0"]


async def test_who_no_longer_waits_leaves_the_others_their_answers(valkey: Valkey) -> None:
    """Answers come in the order asked, also past one that nobody wants any more."""
    async with opened(valkey.url) as store:
        tokens = [await claimed(store, slot, "engine1") for slot in range(3)]
        asked = [asyncio.create_task(store.renew(s, t + s, 9_000)) for s, t in enumerate(tokens)]
        await asyncio.sleep(0)
        asked[0].cancel()
        assert await asyncio.gather(*asked[1:]) == [False, False]
        assert await store.renew(0, tokens[0], 9_000)


async def test_a_store_that_is_closed_leaves_nobody_waiting(valkey: Valkey) -> None:
    """What is under way is told that it will have no answer."""
    async with opened(valkey.url) as store:
        token = await claimed(store, 3, "engine1")
        os.kill(valkey.pid, signal.SIGSTOP)
        try:
            asked = asyncio.create_task(store.commit(3, token, [change(0)]))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await store.close()
            with pytest.raises(StoreDown):
                await asked
        finally:
            os.kill(valkey.pid, signal.SIGCONT)


async def test_a_dead_server_is_told_at_once_and_found_again(valkey: Valkey) -> None:
    """Without a server every request raises StoreDown; with it back the same store works."""
    async with opened(valkey.url) as store:
        token = await claimed(store, 3, "engine1")
        await store.ping()
        await valkey.kill()
        with pytest.raises(StoreDown):
            await store.commit(3, token, [change(0)])
        with pytest.raises(StoreDown):
            await store.read(3, "c1")
        with pytest.raises(StoreDown):
            await store.ping()
        await valkey.start()
        await store.commit(3, token, [change(0)])
        assert await store.read(3, "c1") == b"0"


async def test_a_server_that_hangs_is_given_up_in_time(valkey: Valkey) -> None:
    """A server that does not answer is down after the timeout; its late work does no harm."""
    async with opened(valkey.url, timeout_s=0.1) as store:
        token = await claimed(store, 3, "engine1")
        os.kill(valkey.pid, signal.SIGSTOP)
        try:
            for request in (store.commit(3, token, [change(0)]), store.ping()):
                with pytest.raises(StoreDown, match=r"no answer in 0\.1 s"):
                    await request
        finally:
            os.kill(valkey.pid, signal.SIGCONT)
        await store.commit(3, token, [change(0)])
        await store.commit(3, token, [change(1)])
        assert await store.log(3, "c1") == [b"0", b"1"]
        assert await told(store) == [b"0", b"1"]


async def test_a_script_that_the_server_forgot_is_sent_again(valkey: Valkey) -> None:
    """A restart or SCRIPT FLUSH takes the scripts away; nobody notices."""
    async with opened(valkey.url) as store:
        token = await claimed(store, 3, "engine1")
        await store.commit(3, token, [change(0)])
        with Redis(port=valkey.port) as client:
            client.script_flush()
        await store.commit(3, token, [change(1)])
        assert await store.log(3, "c1") == [b"0", b"1"]


async def test_a_server_that_may_not_write_is_down_with_its_reason(valkey: Valkey) -> None:
    """A replica after a failover, and a full memory, read as StoreDown and write nothing."""
    async with opened(valkey.url) as store:
        token = await claimed(store, 3, "engine1")
        with Redis(port=valkey.port) as client:
            client.config_set("maxmemory", 1)
            with pytest.raises(StoreDown, match="maxmemory"):
                await store.commit(3, token, [change(0), change(0, "c2")])
            client.config_set("maxmemory", 0)
            client.replicaof("127.0.0.1", valkey.port)
            with pytest.raises(StoreDown, match="read only"):
                await store.commit(3, token, [change(0)])
            client.replicaof("NO", "ONE")
        assert [call async for call in store.live(3)] == []
        await store.commit(3, token, [change(0)])
        assert await told(store) == [b"0"]


async def test_tokens_grow_even_when_all_data_is_lost(valkey: Valkey) -> None:
    """A token given after a loss of data is larger than any given before."""
    async with opened(valkey.url) as store:
        before = await claimed(store, 3, "engine1")
        with Redis(port=valkey.port) as client:
            client.flushall()
        assert await claimed(store, 3, "engine2") > before


async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(valkey: Valkey) -> None:
    """Kill -9 under writing, then a restart: each `done` was true, and nothing stands twice."""
    async with opened(valkey.url, timeout_s=0.5) as store:
        token = await claimed(store, 3, "engine1")
        writer = Writer(store, 3, token, Random(1).random)
        writing = asyncio.create_task(writer.run())
        done: list[int] = []
        for number in range(600):
            writer.write(change(number), partial(done.append, number))
            if number in {200, 400}:
                await until(partial(_has_more_than, done, number - 100))
                await valkey.kill()  # with some hundred still waiting or under way
                acknowledged = len(done)
                await valkey.start()
                assert len(await store.log(3, "c1")) >= acknowledged
            await asyncio.sleep(0)
        await writer.drained()
        writing.cancel()
        assert done == list(range(600))
        assert await store.log(3, "c1") == [b"%d" % number for number in range(600)]
        assert await told(store) == [b"%d" % number for number in range(600)]


def _has_more_than(done: list[int], count: int) -> bool:
    return len(done) > count
