"""The pure core: steps a second of the standard call, on one core; and what digests add."""

import time

from engine.calls.model.codec import digest_of
from engine.calls.step import step
from tests.bench.engine.standard import BEGAN_MS, standard_call, standard_events
from tests.bench.figure import Figure, figure
from tests.bench.setting import Setting

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
    digests_us = _digests_us(calls)
    return [
        figure("core", "steps_per_s", calls * len(events) / cpu_s, "steps/s"),
        figure("core", "steps", len(events), "per call"),
        figure("core", "cpu", cpu_s * 1e6 / calls, "µs/call"),
        figure("core", "digests", digests_us, "µs/call", cpu_s * 1e6 / calls),
    ]


def _digests_us(calls: int) -> float:
    """Measure what the log's digests of a call's decisions cost, beside the steps themselves."""
    call, decided = standard_call(), []
    for event in standard_events():
        call, commands = step(call, event, BEGAN_MS)
        decided.append(commands)
    began_s = time.process_time()
    for _ in range(calls):
        for commands in decided:
            digest_of(commands)
    return (time.process_time() - began_s) * 1e6 / calls
