"""Reads call events from a stream of server-sent events."""

from collections.abc import AsyncIterator
from contextlib import suppress

import aiohttp
import msgspec

from wire.consumer_groups import LostEvents
from wire.events import CallEvent

Lost = tuple[LostEvents, ...]
EventStream = AsyncIterator[tuple[str, CallEvent | Lost]]  # pairs of resume id and event


async def read_events(lines: aiohttp.StreamReader) -> EventStream:
    """Read server-sent events; skip keep-alive comments."""
    entry, kind = "", b""
    async for line in lines:
        name, _, value = line.rstrip(b"\n").partition(b": ")
        if name == b"id":
            entry = value.decode()
        elif name == b"event":
            kind = value
        elif name == b"data" and kind == b"lost":
            yield entry, msgspec.json.decode(value, type=Lost)
        elif name == b"data":
            with suppress(msgspec.ValidationError):  # a kind that only a newer version knows
                yield entry, msgspec.json.decode(value, type=CallEvent)
