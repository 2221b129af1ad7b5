"""The pure core: steps per second of the standard call on one CPU core, and the cost of digests."""

import time

from engine.calls.model.storage_format import digest_of
from engine.calls.step import step
from tools.bench.engine.standard import STARTED_MS, standard_call, standard_events
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

CALLS = 20_000


async def core(setting: Setting) -> list[Figure]:
    """Run the events of the standard call through `step` repeatedly, measured in CPU seconds."""
    calls = CALLS // 10 if setting.quick else CALLS
    opened, events = standard_call(), standard_events()
    began_s = time.process_time()
    for _ in range(calls):
        call = opened
        for event in events:
            call, _commands = step(call, event, STARTED_MS)
    cpu_s = time.process_time() - began_s
    digests_us = _digests_us(calls)
    return [
        figure("core", "steps_per_s", calls * len(events) / cpu_s, "steps/s"),
        figure("core", "steps", len(events), "per call"),
        figure("core", "cpu", cpu_s * 1e6 / calls, "µs/call"),
        figure("core", "digests", digests_us, "µs/call", cpu_s * 1e6 / calls),
    ]


def _digests_us(calls: int) -> float:
    """Return the CPU cost per call of the decision digests in the log."""
    call, decisions = standard_call(), []
    for event in standard_events():
        call, commands = step(call, event, STARTED_MS)
        decisions.append(commands)
    began_s = time.process_time()
    for _ in range(calls):
        for commands in decisions:
            digest_of(commands)
    return (time.process_time() - began_s) * 1e6 / calls
