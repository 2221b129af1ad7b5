"""Latency of callbacks to one target that answers, beside another one or 1,000 that never do.

The calls come from the simulated PBX, at the same rate in both runs; every second one is of the
live target, the others of the dead targets in turn. Engine, store and the servers are real.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tests.harness.customers.callback_server import CallbackServer, never_answer
from tests.harness.until import until
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import standard_tree
from tools.bench.setting import Setting

BENCH = "callbacks_beside_dead"
RATE = 10  # calls a second, to the live target and to dead ones each
LIVE, OTHER = "+15550711", "+15550712"
FIRST_DEAD = 15_550_720_000
EVENTS = 4  # of a standard call: initiated, answered, gathered, completed


class Beside(Struct, frozen=True):
    """Latencies in ms of events to the live target, and the most sockets that the engine had."""

    latencies: list[float]
    sockets: int


async def callbacks_beside_dead(setting: Setting) -> list[Figure]:
    """Measure 10 calls/s of a live target, beside as many of another and then of dead ones."""
    seconds, targets = (10, 100) if setting.quick else (100, 1_000)
    numbers = [f"+{FIRST_DEAD + number}" for number in range(targets)]
    async with (
        simulated(setting.folder) as running,
        CallbackServer() as live,
        CallbackServer() as other,
        CallbackServer() as dead,
    ):
        await _route(running, LIVE, live.url("/"))
        await _route(running, OTHER, other.url("/"))
        for number in numbers:
            await _route(running, number, dead.url(f"/{number}"))
        # Each account's audio is fetched before.
        await _run(running, (LIVE, *numbers), targets / RATE, live)
        dead.answers |= {f"/{number}": never_answer for number in numbers}
        alone = await _run(running, (LIVE, OTHER), seconds, live)
        beside = await _run(running, (LIVE, *numbers), seconds, live)
    before = [percentile(alone.latencies, each) for each in (50, 99)]
    after = [percentile(beside.latencies, each) for each in (50, 99)]
    return [
        figure(BENCH, "p50", after[0], "ms", before[0]),
        figure(BENCH, "p99", after[1], "ms", before[1]),
        figure(BENCH, "sockets", beside.sockets, "sockets", alone.sockets),
        figure(BENCH, "dead_targets_tried", len({each.path for each in dead.requests}), "targets"),
    ]


async def _route(running: Simulated, number: str, target: str) -> None:
    """Route a number to a call of its own account, which has this target."""
    account = number.strip("+")
    await running.engine.documents.callback(account, {"target": target})
    route = {"account": account, "action": standard_tree(running.audio)}
    await running.engine.documents.route(number, route)


async def _run(
    running: Simulated, numbers: Sequence[str], seconds: float, customer: CallbackServer
) -> Beside:
    """Run calls, every second one to the first number."""
    customer.requests.clear()
    first, *others = map(Script, numbers)
    scripts = tuple(script for other in others for script in (first, other))
    result = await running.pbx.run(Load(scripts, seconds, 2 * RATE))
    sockets = _sockets(running.engine.pid)
    expected = result.calls // 2 * EVENTS
    await until(
        lambda: len(customer.requests) >= expected, timeout_s=30, what="all events to arrive"
    )
    latencies = [each.wall_ms - each.event["timestamp"] for each in customer.requests]
    return Beside(latencies, sockets)


def _sockets(pid: int) -> int:
    targets = (each.readlink() for each in Path(f"/proc/{pid}/fd").iterdir())
    return sum(str(each).startswith("socket:") for each in targets)
