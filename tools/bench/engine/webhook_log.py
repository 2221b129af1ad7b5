"""What the webhook log costs: the engine's CPU a call with and without it, and bytes an attempt.

Two engines, one without the log, take turns with the same calls, whose four events are delivered to
a customer's server. Other programs only add to what a round takes: so the least of all counts.
`attempt_cpu` is what one process needs for an attempt, from its record to the store's reply.
"""

import time

from redis.asyncio import Redis

from engine.listeners import ListenerReply, ReceivedBody
from engine.observe.event_metrics import WebhookLogMetrics
from engine.runtime.io.attempt_writer import AttemptWriter
from engine.store.redis.store import RedisStore
from engine.webhooks.log.exchange import Exchange, Received, Sent, Subject, exchange
from tests.harness.customers.callback_server import CallbackServer
from tests.harness.until import until
from tools.bench.cpu import Meter, idle_shares
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure
from tools.bench.ivr.stack import standard_tree
from tools.bench.setting import Setting

RATE = 50  # calls a second
IDLE_S, SETTLED_S = 2, 0.5
NUMBER = "+15550713"
EVENTS = 4  # of a standard call: initiated, answered, gathered, completed
LOG = "{webhooks:bench}:attempts"
BATCHES, BATCH_SIZE = 20, 256
ACCEPTED = ListenerReply(
    204, {"Date": "Thu, 26 Nov 2026 09:00:00 GMT", "Server": "nginx"}, ReceivedBody(b"")
)
OFF = {"SWITCHROOM_WEBHOOK_LOG_S": "0"}
KEEP_ALL = {"SWITCHROOM_WEBHOOK_LOG_ATTEMPTS": "1000000"}


async def webhook_log(setting: Setting) -> list[Figure]:
    """Run rounds of standard calls with both engines in turn."""
    seconds, rounds = (5, 3) if setting.quick else (6, 12)
    async with (
        simulated(setting.folder / "on", settings=KEEP_ALL) as logging,
        simulated(setting.folder / "off", settings=OFF) as silent,
        CallbackServer() as customer,
        Redis.from_url(logging.valkey.url) as client,
    ):
        cpu_ms: dict[str, list[float]] = {"on": [], "off": []}
        for running in (logging, silent):
            await running.engine.documents.callback("bench", {"target": customer.url("/")})
            route = {"account": "bench", "action": standard_tree(running.audio)}
            await running.engine.documents.route(NUMBER, route)
            await _run(running, customer, 2)
        for _ in range(rounds):
            cpu_ms["on"].append(await _run(logging, customer, seconds, client))
            cpu_ms["off"].append(await _run(silent, customer, seconds))
        size = await _bytes_of_attempt(client)
        attempt_us = await _attempt_cpu_us(logging.valkey.url)
    on, off = min(cpu_ms["on"]), min(cpu_ms["off"])
    return [
        figure("webhook_log", "engine_cpu", on, "ms/call", off),
        figure("webhook_log", "attempt_cpu", attempt_us, "µs"),
        figure("webhook_log", "share_of_call", attempt_us * EVENTS / off / 10, "%"),
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


async def _attempt_cpu_us(url: str) -> float:
    """Return the least CPU of several batches of attempts, each of another call."""
    store = RedisStore(url)
    writer = AttemptWriter(store.webhook_log, WebhookLogMetrics())
    found = []
    for batch in range(BATCHES):
        began_s = time.process_time()
        for number in range(BATCH_SIZE):
            writer.add(_attempt(batch * BATCH_SIZE + number))
        await writer.flush()
        found.append((time.process_time() - began_s) * 1e6 / BATCH_SIZE)
    await store.close()
    return min(found)


def _attempt(number: int) -> Exchange:
    event_id = f"3-pbx1-01kaz{number:09}.e1"
    event = (
        f'{{"id":"{event_id}","event":"answered","sequenceNumber":1,"timestamp":1795262{number:06},'
        f'"callId":"{event_id[:-3]}","accountId":"bench","callStatus":"in-progress","direction":'
        f'"inbound","from":"+4790{number:06}","to":"+4721930000","version":1}}'
    )
    headers = {
        "Content-Type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": f"1795262{number:03}",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    sent, received = Sent("POST", "https://example.com/", headers, event.encode()), Received()
    received.begin(ACCEPTED)
    subject = Subject("alone", "callback", event_id)
    return exchange(subject, 1, 1_795_262_400_000, 7, sent, received, "")


async def _bytes_of_attempt(client: Redis) -> float:
    """Return the memory of an account's log, with the lists of its calls, for each attempt."""
    keys = [key async for key in client.scan_iter(match="{webhooks:bench}*", count=1_000)]
    sizes = [await client.memory_usage(key, 0) for key in keys]
    return sum(size or 0 for size in sizes) / await client.xlen(LOG)
