"""Call records and replay of real calls, also after the engine of a call dies."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.six_calls import SixCalls
from tests.harness.record_checks import record_faults
from tests.harness.servers.cluster import Cluster
from tests.harness.until import until
from wire.events.call_events import CallEvent


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(tmp_path) as made:
        yield made
        await made.wait_empty()


async def test_records_survive_the_death_of_an_engine(
    cluster: Cluster, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """After SIGKILL under six calls, each has one consistent record and an identical replay."""
    leaving, staying = cluster.labs
    consumed = ConsumedEvents()
    async with SixCalls(leaving, hooks, sounds, staying) as calls:
        await consumed.read(leaving, "first", acknowledges=False)
        await leaving.engine.kill()
        await calls.wait_controllable(staying)
        await calls.assert_continue(staying)
        ids = dict(calls.ids)

    async def all_ended() -> bool:
        await consumed.read(staying, "second")
        return set(ids.values()) <= consumed.ended.keys()

    await until(all_ended, what="six records")
    assert consumed.repeated, "unacknowledged events are delivered again"
    for kind, call in ids.items():
        ordered = sorted(consumed.events[call].values(), key=lambda event: event.sequence_number)
        assert not list(record_faults(ordered)), kind
        audit = await staying.engine.rpc("GET", f"/calls/{call}/replay")
        assert audit["isSame"], audit
        assert audit["compared"] == audit["lines"] - 1
    record = consumed.ended[ids["hold"]].record
    assert record is not None
    assert record.hold_ms > 0
    assert len(record.legs) == 2
    (takeover,) = record.takeovers
    assert record.answered_ms < takeover.at_ms < record.ended_ms
    assert takeover.engine
    assert takeover.uncontrolled_ms > 0
    listed = await staying.engine.rpc("GET", "/calls/ended?limit=6")
    assert sorted(listed["callIds"]) == sorted(ids.values())


class ConsumedEvents:
    """The events that a consumer group has read, each once."""

    def __init__(self) -> None:
        self.events: dict[str, dict[int, CallEvent]] = {}
        self.repeated = 0

    @property
    def ended(self) -> dict[str, CallEvent]:
        """The last events by call."""
        events = (event for known in self.events.values() for event in known.values())
        return {event.call_id: event for event in events if event.event == "completed"}

    async def read(self, lab: Lab, consumer: str, *, acknowledges: bool = True) -> None:
        """Read one batch as a consumer."""
        query = f"group=cdr&consumer={consumer}&wait=1&idle=1"
        batch = await lab.engine.rpc("GET", f"/events?{query}")
        for each in batch["events"]:
            self._keep(each)
        if acknowledges and batch["events"]:
            ids = [each["id"] for each in batch["events"]]
            done = await lab.engine.rpc("POST", "/events/ack", {"group": "cdr", "ids": ids})
            assert done == {"acknowledged": len(ids)}

    def _keep(self, delivered: dict[str, Any]) -> None:
        event = msgspec.convert(delivered["event"], CallEvent)
        known = self.events.setdefault(event.call_id, {})
        if event.sequence_number in known:
            assert known[event.sequence_number] == event
            assert delivered["again"]
            self.repeated += 1
        known[event.sequence_number] = event
