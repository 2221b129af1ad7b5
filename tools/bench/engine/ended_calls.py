"""What an ended call takes in Valkey: at once, and after its compression (decision 0060)."""

from redis.asyncio import Redis

from tests.harness.until import until
from tools.bench.cpu import Meter, idle_shares
from tools.bench.engine.simulated import simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

RATE = 250
LOADED_S = 20  # shorter than the time after which calls are compressed


async def ended_calls(setting: Setting) -> list[Figure]:
    """Run standard calls; compare the memory of Valkey without its event streams."""
    load = Load((Script(),), seconds=4 if setting.quick else LOADED_S, rate=RATE)
    async with (
        simulated(setting.folder) as running,
        Redis.from_url(running.valkey.url) as client,
    ):
        pids = {"engine": running.engine.pid}
        await running.pbx.run(Load((Script(),), seconds=2, rate=50))
        empty = await _used_bytes(client)
        await running.pbx.run(load)
        calls = await _uncompressed(client)
        after_end, streams = await _used_bytes(client) - empty, await _stream_bytes(client)
        meter = Meter(pids, await idle_shares(pids, 4))
        await until(lambda: _are_compressed(client), timeout_s=90, every_s=1, what="compression")
        cpu_us = meter.used_s()["engine"] * 1e6 / calls
        kept = await _used_bytes(client) - empty - await _stream_bytes(client)
    before = (after_end - streams) / calls
    return [
        figure("ended_calls", "ended_call_bytes", kept / calls, "B/call", before),
        figure("ended_calls", "stream_bytes", streams / calls, "B/call"),
        figure("ended_calls", "engine_cpu", cpu_us, "µs/call"),
    ]


async def _used_bytes(client: Redis) -> int:
    return int((await client.info("memory"))["used_memory"])


async def _stream_bytes(client: Redis) -> int:
    keys = [key async for key in client.scan_iter(match="*:events", count=1_000)]
    sizes = [await client.memory_usage(key, 0) for key in keys]
    return sum(size or 0 for size in sizes)


async def _are_compressed(client: Redis) -> bool:
    return await _uncompressed(client) == 0


async def _uncompressed(client: Redis) -> int:
    keys = [key async for key in client.scan_iter(match="*:uncompressed", count=1_000)]
    return sum([await client.zcard(key) for key in keys])
