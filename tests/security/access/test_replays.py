"""Readers of the event stream that ask for the past: what others' events and replays cost."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from engine.rpc.handlers.consumer_groups import ConsumerGroupHandlers
from engine.rpc.handlers.events import PAGE_SIZE, EventHandlers
from engine.runtime.cluster.shard_map import ShardMap
from engine.store.store import Store
from engine.store.stream import DEFAULT_STREAM_LIMITS
from tests.harness.memory_store.store import MemoryStore
from tests.harness.memory_store.stream import MemoryStream
from tests.harness.until import MAX_WAIT_S, until
from wire.shard import ShardId

SHARD = ShardId("pbx1", 0)
START = {"Last-Event-ID": json.dumps([0, {"pbx1": ""}])}
OWN = b'{"event":"completed","callId":"0-pbx1-a","accountId":"acme"}'
# It cannot be decoded: whoever tries loses the stream.
FOREIGN = b'{"event":"completed","callId":"0-pbx1-b","accountId":"other"'


class GatedStream(MemoryStream):
    """A stream whose reads of the past wait until the test lets them go on."""

    def __init__(self) -> None:
        super().__init__(lambda: 1_000, DEFAULT_STREAM_LIMITS)
        self.gate = asyncio.Event()
        self.running: list[int] = []  # how many replays read at once, at each read
        self._reading = 0

    async def read_after(
        self, after: Mapping[ShardId, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[ShardId, str, bytes]]:
        if wait_ms:
            return await super().read_after(after, wait_ms, limit)
        self._reading += 1
        self.running.append(self._reading)
        await self.gate.wait()
        self._reading -= 1
        return await super().read_after(after, wait_ms, limit)


class Events:
    """The handlers of an engine with one shard."""

    def __init__(self) -> None:
        self.stream = GatedStream()
        store = MemoryStore()
        store.stream = self.stream
        shards = ShardMap(1, [SHARD.node])
        kept = cast("Store", store)
        self.handlers = EventHandlers(kept, shards, ConsumerGroupHandlers(kept, shards))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[TestClient[Any, Any]]:
        async def read(request: web.Request) -> web.StreamResponse:
            response = await self.handlers.read(request)
            assert isinstance(response, web.StreamResponse)
            return response

        app = web.Application()
        app.add_routes([web.get("/events", read)])
        async with TestClient[Any, Any](TestServer(app)) as client:
            yield client


async def read_events(response: ClientResponse, count: int) -> None:
    """Read events until there are so many."""
    async with asyncio.timeout(MAX_WAIT_S):
        while count:
            count -= (await response.content.readline()).startswith(b"event: completed")


async def test_events_of_other_accounts_are_not_decoded() -> None:
    """They are skipped by their bytes, however many lie before one's own."""
    events = Events()
    events.stream.gate.set()
    events.stream.append(SHARD, [FOREIGN] * 3 * PAGE_SIZE + [OWN, FOREIGN])
    async with (
        events.serving() as client,
        client.get("/events?account=acme", headers=START) as response,
    ):
        await read_events(response, 1)
        events.stream.append(SHARD, [FOREIGN, OWN])
        await read_events(response, 1)


async def test_replays_of_an_account_take_turns() -> None:
    """So however many readers ask for the past, one page at a time is read for the account."""
    events = Events()
    events.stream.append(SHARD, [OWN] * 3 * PAGE_SIZE)
    async with (
        events.serving() as client,
        client.get("/events?account=acme", headers=START) as one,
        client.get("/events?account=acme", headers=START) as two,
        client.get("/events?account=other", headers=START),
    ):
        await until(lambda: events.stream.running == [1, 2], what="a replay of each account")
        events.stream.gate.set()
        await asyncio.gather(*(read_events(each, 3 * PAGE_SIZE) for each in (one, two)))
    assert max(events.stream.running) == 2


async def test_new_events_do_not_wait_for_replays() -> None:
    """A reader without Last-Event-ID gets them while another replays."""
    events = Events()
    events.stream.append(SHARD, [OWN])
    async with (
        events.serving() as client,
        client.get("/events?account=acme", headers=START),
        client.get("/events?account=acme") as live,
    ):
        await until(lambda: events.stream.running == [1], what="the replay")
        events.stream.append(SHARD, [OWN])
        await read_events(live, 1)
        events.stream.gate.set()
