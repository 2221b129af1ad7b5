"""What was told of calls, read from the store's streams: nothing twice, nothing left out."""

import json
from collections import defaultdict
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis

from tests.harness.servers.cluster import SLOTS


class EventLog:
    """The events so far; noted before the store may lose them, and again at the end."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._last = dict.fromkeys(range(SLOTS), "-")
        self._events: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    async def read_new(self) -> None:
        """Read what came since the last time."""
        client = Redis.from_url(self._url)
        try:
            for slot, last in self._last.items():
                entries: Any = await client.xrange(f"{{s{slot}}}:events", min=last)
                for entry, fields in entries:
                    event = json.loads(fields[b"e"])
                    self._events[event["callId"]].append(event)
                    self._last[slot] = f"({entry.decode()}"
        finally:
            await client.aclose()

    def counts(self) -> "EventCounts":
        """Count what was told twice, and numbers missing between two that are there."""
        doubled = missing = 0
        for events in self._events.values():
            numbers = [each["sequenceNumber"] for each in events]
            doubled += len(numbers) - len(set(numbers))
            missing += max(numbers) - min(numbers) + 1 - len(set(numbers))
        return EventCounts(doubled, missing)

    def end_reason(self, call: str) -> str | None:
        """Tell why a call ended, as it was told; None when it has not."""
        ends = (each for each in self._events[call] if each["event"] == "completed")
        return next((str(each.get("reason", "")) for each in ends), None)


class EventCounts(Struct, frozen=True):
    """How many events were told twice, how many not at all."""

    doubled: int
    missing: int
