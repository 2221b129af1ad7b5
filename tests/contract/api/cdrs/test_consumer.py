"""From an engine's RPC to call records: each call once, whichever process dies."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from api.cdrs.event_consumer import EventConsumer
from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.db.database import Database
from api.engine_client import EngineClient, EngineUnavailable, open_client
from base.tasks import cancel_all
from engine.calls.model.events import LegAnswered, LegCreated
from tests.harness.api.cdrs.records import events_of, record, recording
from tests.harness.rpc.scene import TOKEN, RpcScene, end, inject, is_stored_as
from tests.harness.shards import at
from tests.harness.until import until
from wire.call_id_format import shard_of
from wire.events.consumer_groups import LostEvents
from wire.events.record import CallRecord

NEWER = b'{"event":"sung","callId":"0-pbx1-abcdefgh","accountId":"acme","version":9}'


@pytest.fixture
async def engine(scene: RpcScene) -> AsyncIterator[EngineClient]:
    """Provide a client of the engine."""
    async with open_client([scene.url], TOKEN) as found:
        yield found


class Forgetful(EngineClient):
    """A client that fails to acknowledge."""

    async def request(self, shape: Any, method: str, path: str, *rest: Any, **more: Any) -> Any:
        """Send a request; raises on an acknowledgement."""
        if path == "/events/ack":
            raise ConnectionAbortedError
        return await super().request(shape, method, path, *rest, **more)


def tell(scene: RpcScene, *ended: CallRecord) -> None:
    """Append the events of calls to the engine's stream."""
    bodies = [msgspec.json.encode(event) for each in ended for event in events_of(each)]
    scene.store.stream.append(at(0), bodies)


async def reqs(database: Database) -> list[str]:
    """Return the ids of the call records, oldest first."""
    found = await CdrStore(database).page(Filters("acme"), 5_000)
    return [row.req_id for row in found.rows][::-1]


async def lag(scene: RpcScene) -> tuple[int, int]:
    """Return how many events are undelivered, and how many unacknowledged."""
    _, found = await scene.request("GET", "/events/groups")
    (group,) = found["groups"]
    return group["lag"], group["pending"]


async def test_a_call_that_ends_has_a_record(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """Soon after its end a call has a record with labels and timeline; no event is pending."""
    call = await scene.start_call(labels={"clientId": "c-7"})
    inject(scene, LegCreated(f"{call}.l0"))
    inject(scene, LegAnswered(f"{call}.l0"))
    end(scene, call)
    consumer = EventConsumer(engine, database, "api1")

    async def is_there() -> bool:
        await consumer.once(0)
        return await reqs(database) == [call]

    await until(is_there, what="the record")
    kept = await CdrStore(database).timeline("acme", call)
    events = [msgspec.json.decode(each) for each in kept]
    assert [each["sequenceNumber"] for each in events] == list(range(len(events)))
    assert (events[0]["event"], events[-1]["event"]) == ("initiated", "completed")
    assert await CdrStore(database).clients("acme", "", 10) == ["c-7"]
    assert await lag(scene) == (0, 0)


async def test_written_but_unacknowledged_events_are_delivered_again(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """After a crash between commit and acknowledgement, the second delivery changes nothing."""
    calls = [record(n) for n in range(3)]
    tell(scene, *calls)
    dying = EventConsumer(Forgetful(engine.http, [scene.url]), database, "api1", 1)
    with pytest.raises(ConnectionAbortedError):
        await dying.once(0)
    assert await reqs(database) == [each.call_id for each in calls]
    successor = EventConsumer(engine, database, "api2", 1)

    async def is_done() -> bool:
        assert await successor.once(0) == 0
        return await lag(scene) == (0, 0)

    await until(is_done, what="the second delivery")
    assert await reqs(database) == [each.call_id for each in calls]
    assert len(await CdrStore(database).timeline("acme", calls[0].call_id)) == 3


class Counting(EngineClient):
    """A client that counts the reads of events."""

    reads = 0

    async def request(self, shape: Any, method: str, path: str, *rest: Any, **more: Any) -> Any:
        """Send a request."""
        response = await super().request(shape, method, path, *rest, **more)
        if (method, path) == ("GET", "/events"):
            self.reads += 1
        return response


async def test_events_are_collected_between_reads(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """Calls that end one after another are read together: a read costs as much as many events."""
    client = Counting(engine.http, [scene.url])
    calls = [record(n) for n in range(60)]
    waiting = list(calls)

    def ends_another() -> bool:
        tell(scene, waiting.pop())
        return not waiting

    reading = asyncio.create_task(EventConsumer(client, database, "api1").run(collect_s=0.5))
    try:
        await until(ends_another, every_s=0.02, what="the last call")
        await until(lambda: _count(database, len(calls)), what="all records")
    finally:
        await cancel_all([reading])
    assert client.reads < len(calls) / 4


async def _count(database: Database, expected: int) -> bool:
    return len(await reqs(database)) == expected


async def test_many_processes_share_the_work(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """Several consumers write exactly one record for each call."""
    tell(scene, *(record(n) for n in range(400)))
    consumers = [EventConsumer(engine, database, f"api{n}") for n in range(3)]
    new = 0

    async def is_done() -> bool:
        nonlocal new
        new += sum(await asyncio.gather(*(each.once(0) for each in consumers)))
        return await lag(scene) == (0, 0)

    await until(is_done, timeout_s=30, what="all to be read")
    assert (new, len(await reqs(database))) == (400, 400)


async def test_an_unknown_event_does_not_block_others(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """It stays pending for a newer process; the rest of its batch is written."""
    scene.store.stream.append(at(0), [NEWER])
    tell(scene, record(1))
    assert await EventConsumer(engine, database, "api1").once(0) == 1
    assert await lag(scene) == (0, 1)


async def test_an_unwritable_record_does_not_block_others(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """A record with a number that exceeds its column stays pending; the others are written."""
    tell(scene, record(1), record(2, after_ms=2**70), record(3))
    consumer = EventConsumer(engine, database, "api1")
    await until(lambda: _have(consumer, database, 2), what="the others")
    assert await reqs(database) == [record(1).call_id, record(3).call_id]
    _, pending = await lag(scene)
    assert pending == 1


async def _have(consumer: EventConsumer, database: Database, count: int) -> bool:
    await consumer.once(0)
    return len(await reqs(database)) == count


async def test_an_unavailable_store_is_retried(
    scene: RpcScene, database: Database, engine: EngineClient
) -> None:
    """The consumer continues by itself after an outage of the store."""
    scene.store.down = True
    task = asyncio.create_task(EventConsumer(engine, database, "api1").run(0.01))
    tell(scene, record(1, recordings=(recording("call"),)))
    scene.store.down = False
    await until(lambda: _are(database, 1), what="the record")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _are(database: Database, count: int) -> bool:
    return len(await reqs(database)) == count


async def test_lost_events_are_filled_in(
    database: Database, engine: EngineClient, scene: RpcScene
) -> None:
    """Records and events that the stream no longer has come from the calls that have ended."""
    call = await scene.start_call()
    shard = str(shard_of(call))
    inject(scene, LegCreated(f"{call}.l0"))
    inject(scene, LegAnswered(f"{call}.l0"))
    end(scene, call)
    await until(lambda: is_stored_as(scene, call, "completed"), what="the call's end")
    consumer = EventConsumer(engine, database, "one")
    gap = LostEvents(shard, "0-0", f"{time.time_ns() // 1_000_000}-0", "pbx1/0.lost.1-0")
    assert await consumer.fill(gap) == 1
    assert await reqs(database) == [call]
    assert await consumer.fill(gap) == 0
    gap_before = LostEvents(shard, "0-0", "1-0", "pbx1/0.lost.1-0")
    assert await consumer.fill(gap_before) == 0


async def test_lost_events_are_reported_until_they_are_filled_in(
    database: Database, engine: EngineClient, scene: RpcScene
) -> None:
    """A store that fails in between ends the answer early: the loss is not acknowledged."""
    consumer = EventConsumer(engine, database, "one")
    gap = LostEvents(str(at(0)), "0-0", "1-0", "pbx1/0.lost.1-0")
    scene.store.down = True
    with pytest.raises(EngineUnavailable):
        await consumer.fill(gap)
    scene.store.down = False
    assert await consumer.fill(gap) == 0
