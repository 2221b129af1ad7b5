"""The pure core: steps a second of the standard call, on one core, nothing around it."""

import time

from engine.calls.machine import step
from tests.bench.figure import Figure, figure
from tests.bench.setting import Setting
from tests.bench.standard import BEGAN_MS, standard_call, standard_events

CALLS = 20_000


async def core(setting: Setting) -> list[Figure]:
    """Run the standard call's events through `step` again and again; CPU seconds count."""
    calls = CALLS // 10 if setting.quick else CALLS
    opened, events = standard_call(), standard_events()
    began_s = time.process_time()
    for _ in range(calls):
        call = opened
        for event in events:
            call, _commands = step(call, event, BEGAN_MS)
    cpu_s = time.process_time() - began_s
    return [
        figure("core", "steps_per_s", calls * len(events) / cpu_s, "steps/s"),
        figure("core", "steps", len(events), "per call"),
        figure("core", "cpu", cpu_s * 1e6 / calls, "µs/call"),
    ]
