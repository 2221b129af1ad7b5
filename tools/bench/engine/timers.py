"""Timer lateness with 5,000 pending gathers at about 30 % load."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence

from redis.asyncio import Redis

from engine.calls.model.call_states import Gathering
from engine.calls.model.events import DeadlinePassed
from engine.calls.model.storage_format import decode_call
from engine.calls.replay_audit import replay
from engine.calls.states import deadline_ms
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.store.redis.store import RedisStore
from tools.bench.cpu import Meter
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load, Result
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import BY_ENGINE
from tools.bench.setting import Setting
from wire.call_id_format import shard_of
from wire.shard import NO_SHARD

PENDING = 5_000
RATE = 500  # starts per second: all are pending when the first is due
TIMEOUTS_MS = range(12_000, 22_000, 250)
LOAD_SHARE = 0.3
LOAD_S = 33.0
SEED = 7


async def timers(setting: Setting) -> list[Figure]:
    """Let gathers time out beside standard calls.

    `lateness` is from the logs: the time of the step less the deadline. `hangup_lateness` is what
    the PBX sees: from the end of the prompt to the hangup, less the timeout; it includes commits.
    """
    async with simulated(setting.folder) as running:
        numbers = await _route_all(running)
        rate = LOAD_SHARE / await _cpu_s(running)
        load = Load((Script(BY_ENGINE),), seconds=LOAD_S, rate=rate)
        meter, began_s = Meter(running.pids), time.monotonic()
        ended, _ = await asyncio.gather(running.pbx.run(_waiting(numbers)), running.pbx.run(load))
        share = meter.used_s()["engine"] / (time.monotonic() - began_s)
        late_ms = [each async for each in _lateness_ms(running.valkey.url)]
    seen_ms = [silence - numbers[number] - GRACE_MS for number, silence in ended.silences]
    return [
        *_figures("lateness", late_ms),
        *_figures("hangup_lateness", seen_ms),
        figure("timers", "gathers", len(late_ms), "calls"),
        figure("timers", "load", share * 100, "% of a core"),
    ]


async def _route_all(running: Simulated) -> dict[str, int]:
    numbers = {f"+1555{timeout_ms}": timeout_ms for timeout_ms in TIMEOUTS_MS}
    for number, timeout_ms in numbers.items():
        gather = {"type": "gather", "data": {"timeout": timeout_ms}}
        play = {"audioUrl": f"{running.audio}/first.wav"}
        await running.route(number, {"type": "play", "data": play, "action": gather})
    return numbers


def _waiting(numbers: dict[str, int]) -> Load:
    scripts = [Script(number, digits="", prompts=1) for number in numbers]
    random.Random(SEED).shuffle(scripts)
    return Load(tuple(scripts), seconds=PENDING / RATE, rate=RATE)


async def _cpu_s(running: Simulated) -> float:
    meter = Meter(running.pids)
    load = Load((Script(BY_ENGINE),), seconds=3, rate=300)
    result: Result = await running.pbx.run(load)
    return meter.used_s()["engine"] / result.calls


async def _lateness_ms(redis_url: str) -> AsyncIterator[int]:
    """Replay the log of each call; yields the lateness of each gather's deadline."""
    store = RedisStore(redis_url)
    async with Redis.from_url(redis_url) as client:
        keys = [key.decode() async for key in client.scan_iter(match="*:log:*", count=1_000)]
    for key in keys:
        call_id = key.rpartition(":log:")[2]
        log = await store.log(shard_of(call_id) or NO_SHARD, call_id)
        call = decode_call(log[0])
        for moment in replay(log):
            is_due = isinstance(moment.event, DeadlinePassed)
            if is_due and isinstance(call.state, Gathering):
                yield moment.at_ms - (deadline_ms(call) or 0)
            call = moment.call
    await store.close()


def _figures(name: str, late_ms: Sequence[float]) -> list[Figure]:
    return [
        figure("timers", f"{name}_p50", percentile(late_ms, 50), "ms"),
        figure("timers", f"{name}_p99", percentile(late_ms, 99), "ms"),
        figure("timers", f"{name}_max", max(late_ms), "ms"),
    ]
