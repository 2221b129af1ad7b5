"""What the webhook log costs: the engine's CPU a call with and without it, and bytes an attempt.

Two engines, one without the log, take turns with the same calls, whose four events are delivered to
a customer's server. Other programs only add to what a round takes: so the least of all counts.
"""

from redis.asyncio import Redis

from tests.bench.cpu import Meter, idle_shares
from tests.bench.engine.simulated import Simulated, simulated
from tests.bench.engine.simulated_call import Script
from tests.bench.engine.simulated_calls import Load
from tests.bench.figure import Figure, figure
from tests.bench.ivr.stack import standard_tree
from tests.bench.setting import Setting
from tests.harness.customers.callback_server import CallbackServer
from tests.harness.until import until

RATE = 50  # calls a second
IDLE_S, SETTLED_S = 3, 1
NUMBER = "+15550713"
EVENTS = 4  # of a standard call: initiated, answered, gathered, completed
LOG = "{webhooks:bench}:attempts"
OFF = {"SWITCHROOM_WEBHOOK_LOG_S": "0"}
KEEP_ALL = {"SWITCHROOM_WEBHOOK_LOG_ATTEMPTS": "1000000"}


async def webhook_log(setting: Setting) -> list[Figure]:
    """Run rounds of standard calls with both engines in turn."""
    seconds, rounds = (5, 3) if setting.quick else (15, 7)
    async with (
        simulated(setting.folder / "on", settings=KEEP_ALL) as logging,
        simulated(setting.folder / "off", settings=OFF) as silent,
        CallbackServer() as customer,
        Redis.from_url(logging.valkey.url) as client,
    ):
        cpu_ms: dict[str, list[float]] = {"on": [], "off": []}
        for running in (logging, silent):
            await running.engine.rpc("PUT", "/callbacks/bench", {"target": customer.url("/")})
            route = {"account": "bench", "action": standard_tree(running.audio)}
            await running.engine.rpc("PUT", f"/routes/{NUMBER}", route)
            await _run(running, customer, 2)
        for _ in range(rounds):
            cpu_ms["on"].append(await _run(logging, customer, seconds, client))
            cpu_ms["off"].append(await _run(silent, customer, seconds))
        size = await _bytes_of_attempt(client)
    on, off = min(cpu_ms["on"]), min(cpu_ms["off"])
    return [
        figure("webhook_log", "engine_cpu", on, "ms/call", off),
        figure("webhook_log", "cpu_of_attempt", (on - off) * 1000 / EVENTS, "µs"),
        figure("webhook_log", "attempt_bytes", size, "B"),
    ]


async def _run(
    running: Simulated, customer: CallbackServer, seconds: float, client: Redis | None = None
) -> float:
    """Return the engine's CPU in ms for each call, delivery of its events included."""
    customer.requests.clear()
    logged = 0 if client is None else await client.xlen(LOG)
    pids = {"engine": running.engine.pid}
    meter = Meter(pids, await idle_shares(pids, IDLE_S))  # a round with the log ends later
    await running.pbx.run(Load((Script(NUMBER),), seconds, RATE))
    await _wait_for_last(customer)
    if client is not None:
        await until(lambda: _are_logged(client, logged + len(customer.requests)), what="the log")
    return meter.used_s()["engine"] * 1000 / (len(customer.requests) / EVENTS)


async def _wait_for_last(customer: CallbackServer) -> None:
    """Wait until no more events arrive."""
    seen = -1

    def has_all() -> bool:
        nonlocal seen
        before, seen = seen, len(customer.requests)
        return seen == before

    await until(has_all, every_s=SETTLED_S)


async def _are_logged(client: Redis, attempts: int) -> bool:
    return int(await client.xlen(LOG)) >= attempts


async def _bytes_of_attempt(client: Redis) -> float:
    """Return the memory of an account's log, with the lists of its calls, for each attempt."""
    keys = [key async for key in client.scan_iter(match="{webhooks:*", count=1_000)]
    sizes = [await client.memory_usage(key, 0) for key in keys]
    return sum(size or 0 for size in sizes) / await client.xlen(LOG)
