"""Ended calls with long logs that are put into a server directly: no bot writes them in time."""

import time

from redis.asyncio import Redis

from tests.harness.calls.builders import ID
from tests.harness.calls.long_calls import call_with_marks

KEPT_MS = 600_000
DUE_MS = 60_000  # after its end, a call is compressed
PAGE = 2_000  # lines that are stored at once


async def put_long_calls(url: str, node: str, calls: int, marks: int) -> list[str]:
    """Store calls in slot 0 of a node; return their ids. Only the first is in its own log."""
    call, shard = call_with_marks(marks), f"{{{node}:0}}"
    names = [ID, *(f"0-{node}-long{number:04}" for number in range(1, calls))]
    async with Redis.from_url(url) as client:
        first, *others = (f"{shard}:log:{name}" for name in names)
        for begin in range(0, len(call.log), PAGE):
            await client.rpush(first, *call.log[begin : begin + PAGE])
        for each in others:
            await client.copy(first, each)
        for name in names:
            record = node.encode() + b"\0" + call.change().state
            await client.set(f"{shard}:ended:{name}", record, px=KEPT_MS)
            await client.pexpire(f"{shard}:log:{name}", KEPT_MS)
    return names


async def end_calls(url: str, node: str, names: list[str]) -> None:
    """Let all of them have ended so long ago that they are to be compressed now."""
    ended_ms = time.time() * 1000 - DUE_MS
    async with Redis.from_url(url) as client:
        await client.zadd(f"{{{node}:0}}:uncompressed", dict.fromkeys(names, ended_ms))


async def are_compressed(url: str, node: str, names: list[str]) -> bool:
    """Return whether none of them is left to compress."""
    async with Redis.from_url(url) as client:
        due = await client.zmscore(f"{{{node}:0}}:uncompressed", names)
    return due == [None] * len(names)
