"""Callback latency: from an event to the customer, alone and beside a hanging target.

The calls come from the simulated PBX; engine, store and the customer's HTTP server are real.
"""

from collections.abc import Sequence

from tests.harness.customers.callback_server import CallbackServer, never_answer
from tests.harness.until import until
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import standard_tree
from tools.bench.setting import Setting

RATE = 50  # calls a second
HEALTHY, HANGING = "+15550711", "+15550712"
EVENTS = 4  # of a standard call: initiated, answered, gathered, completed


async def callbacks(setting: Setting) -> list[Figure]:
    """Measure 50 calls/s with a healthy target, then beside 50 calls/s with a hanging one."""
    seconds = 4 if setting.quick else 20
    async with (
        simulated(setting.folder) as running,
        CallbackServer() as fast_server,
        CallbackServer() as hanging_server,
    ):
        hanging_server.answers["/"] = never_answer
        await _configure(running, HEALTHY, "well", fast_server)
        await _configure(running, HANGING, "ill", hanging_server)
        await _run(running, (HEALTHY,), 2, fast_server)
        alone = await _run(running, (HEALTHY,), seconds, fast_server)
        beside = await _run(running, (HEALTHY, HANGING), seconds, fast_server)
    return [
        figure("callbacks", "event_to_first_byte_p50", percentile(alone, 50), "ms"),
        figure("callbacks", "event_to_first_byte_p99", percentile(alone, 99), "ms"),
        figure("callbacks", "events_delivered", len(alone), "events"),
        figure(
            "callbacks",
            "beside_one_that_hangs_p50",
            percentile(beside, 50),
            "ms",
            percentile(alone, 50),
        ),
        figure(
            "callbacks",
            "beside_one_that_hangs_p99",
            percentile(beside, 99),
            "ms",
            percentile(alone, 99),
        ),
    ]


async def _configure(
    running: Simulated, number: str, account: str, customer: CallbackServer
) -> None:
    await running.engine.documents.callback(account, {"target": customer.url("/")})
    route = {"account": account, "action": standard_tree(running.audio)}
    await running.engine.documents.route(number, route)


async def _run(
    running: Simulated, numbers: Sequence[str], seconds: float, customer: CallbackServer
) -> list[float]:
    """Run calls; returns the latency in ms of each event to the healthy target."""
    customer.requests.clear()
    scripts = tuple(Script(number) for number in numbers)
    result = await running.pbx.run(Load(scripts, seconds, RATE * len(numbers)))
    expected = result.calls // len(numbers) * EVENTS
    await until(lambda: len(customer.requests) >= expected, what="all events to arrive")
    return [each.wall_ms - each.event["timestamp"] for each in customer.requests]
