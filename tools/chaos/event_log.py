"""Reads the events of calls from the streams of the store, and counts faults."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.redis.script_connection import shard_key
from wire.shard import ShardId


class EventLog:
    """The events so far; read before a fault may delete them, and again at the end."""

    def __init__(self, url: str, shards: Sequence[ShardId]) -> None:
        self._url = url
        self._last = dict.fromkeys(shards, "-")
        self._events: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    async def read_new(self) -> None:
        """Read the events since the last time."""
        client = Redis.from_url(self._url)
        try:
            for shard, last in self._last.items():
                entries: Any = await client.xrange(shard_key(shard, "events"), min=last)
                for entry, fields in entries:
                    event = json.loads(fields[b"e"])
                    self._events[event["callId"]].append(event)
                    self._last[shard] = f"({entry.decode()}"
        finally:
            await client.aclose()

    def counts(self) -> "EventCounts":
        """Count duplicated events and gaps in sequence numbers."""
        duplicated = missing = 0
        for events in self._events.values():
            numbers = [each["sequenceNumber"] for each in events]
            duplicated += len(numbers) - len(set(numbers))
            missing += max(numbers) - min(numbers) + 1 - len(set(numbers))
        return EventCounts(duplicated, missing)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of all ended calls."""
        for events in self._events.values():
            yield from (each["record"] for each in events if each["event"] == "completed")

    def end_reason(self, call: str) -> str | None:
        """Return the reason in the last event of a call; None if it has not ended."""
        ends = (each for each in self._events[call] if each["event"] == "completed")
        return next((str(each.get("reason", "")) for each in ends), None)


class EventCounts(Struct, frozen=True):
    """Numbers of duplicated and missing events."""

    duplicated: int
    missing: int
