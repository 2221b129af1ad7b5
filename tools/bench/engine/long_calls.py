"""The longest turn of the loop and the longest script that ended calls with long logs cost.

Beside them, in the same run, as many lines of calls of 100 lines. The shortest of several rounds
counts, because other programs only add to it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.compressed_call import DICTIONARY
from engine.store.redis.store import RedisStore
from tests.harness.calls.long_calls import call_with_marks
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import SHARD
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

LINES = {"long": 144_000, "short": 100}  # of a log: ten marks a second for four hours
CALLS = 8  # long ones
ROUNDS = 5
BATCH = 32  # as an engine compresses them
TIMEOUT_S = 60.0


class Longest(Struct):
    """The longest turn of the loop, and the longest script or command of the server, in ms."""

    turn: float = 0.0
    script: float = 0.0


async def long_calls(setting: Setting) -> list[Figure]:
    """Compress ended calls, and read one back, with short and with long logs in turns."""
    calls, rounds = (2, 2) if setting.quick else (CALLS, ROUNDS)
    found: dict[str, list[Longest]] = {name: [] for name in LINES}
    async with Valkey(setting.folder / "valkey") as valkey, Redis.from_url(valkey.url) as client:
        await client.config_set("slowlog-max-len", 1_000_000)
        for _ in range(rounds):
            for name, lines in LINES.items():
                await client.flushall()
                names = await _put(client, lines, calls * LINES["long"] // lines)
                found[name].append(await _compress_and_read(valkey.url, client, names))
    least = {
        name: Longest(min(each.turn for each in all_), min(each.script for each in all_))
        for name, all_ in found.items()
    }
    return [
        figure("long_calls", "turn", least["long"].turn, "ms", least["short"].turn),
        figure("long_calls", "script", least["long"].script, "ms", least["short"].script),
    ]


async def _put(client: Redis, lines: int, calls: int) -> Sequence[str]:
    """Store ended calls with logs of so many lines."""
    call, shard = call_with_marks(lines), f"{{{SHARD.node}:{SHARD.slot}}}"
    names = [f"{SHARD.slot}-{SHARD.node}-{number:08}" for number in range(calls)]
    record = SHARD.node.encode() + b"\0" + call.change().state
    for begin in range(0, len(call.log), 1_000):
        await client.rpush(f"{shard}:log:{names[0]}", *call.log[begin : begin + 1_000])
    for first in range(0, calls, 1_000):
        pipeline = client.pipeline(transaction=False)
        for name in names[first : first + 1_000]:
            if name != names[0]:
                pipeline.copy(f"{shard}:log:{names[0]}", f"{shard}:log:{name}")
            pipeline.set(f"{shard}:ended:{name}", record, px=3_600_000)
            pipeline.zadd(f"{shard}:uncompressed", {name: 0})
        await pipeline.execute()
    return names


async def _compress_and_read(url: str, client: Redis, names: Sequence[str]) -> Longest:
    store, longest = RedisStore(url, timeout_s=TIMEOUT_S), Longest()
    token = await store.claim(SHARD, "bench", 600_000)
    assert token is not None
    await client.config_set("slowlog-log-slower-than", 0)
    await client.slowlog_reset()
    async with _measured_turns(longest):
        while await store.compress_ended({SHARD: token}, 0, BATCH, DICTIONARY):
            pass
        await store.log(SHARD, names[0])
    await client.config_set("slowlog-log-slower-than", -1)
    commands = await client.slowlog_get(1_000_000)
    longest.script = max(each["duration"] for each in commands) / 1_000
    await store.close()
    return longest


@asynccontextmanager
async def _measured_turns(longest: Longest) -> AsyncIterator[None]:
    """Measure turns until the block ends; time in other threads that holds the loop counts."""
    loop, last_s, is_running = asyncio.get_running_loop(), time.perf_counter(), True

    def turn() -> None:
        nonlocal last_s
        now_s = time.perf_counter()
        longest.turn, last_s = max(longest.turn, (now_s - last_s) * 1_000), now_s
        if is_running:
            loop.call_soon(turn)

    turn()
    yield
    is_running = False
