"""The REST layer in front of a live engine: added latency, and throughput of one core.

Originates alternate between REST and RPC, 50 per second in total, so both meet the same engine.
Control requests mute and unmute legs of live calls; `per_core` is the throughput of the layer if it
had a core of its own.
"""

import asyncio
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any

import aiohttp

from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.ports import free_port
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tools.bench.cpu import Meter, idle_shares
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import Stack, stack
from tools.bench.setting import Setting

RATE = 50
CONCURRENCY = 16
CALLS = 4
BASE = "/srmain/voice"
UNANSWERED = {
    "from": NUMBER,
    "to": "+15559999",
    "timeout": 1,
}  # rings for a second, then is canceled


async def rest(setting: Setting) -> list[Figure]:
    """Measure originates and control requests."""
    async with (
        stack(setting.folder) as running,
        Api(setting.folder / "api", engines=[running.engine]) as api,
    ):
        token = await api.token()
        async with aiohttp.ClientSession(headers={"Authorization": token}) as http:
            originates = await _originates(running, api, http, 4 if setting.quick else 30)
            lab = Lab(running.valkey, running.pbx, running.engine, free_port())
            await lab.wait_empty(timeout_s=30)
            control = await _control(lab, api, http, 4 if setting.quick else 15)
    return [*originates, *control]


async def _originates(
    running: Stack, api: Api, http: aiohttp.ClientSession, seconds: float
) -> list[Figure]:
    """Originate at an even rate, alternating between REST and RPC."""
    took: dict[str, list[float]] = {"rest": [], "rpc": []}
    rpc_headers = {"Authorization": f"Bearer {running.engine.token}"}
    targets = {
        "rest": (f"{api.url}{BASE}/call", UNANSWERED, {}),
        "rpc": (
            f"{running.engine.url}/rpc/v1/calls",
            {**UNANSWERED, "account": ACCOUNT},
            rpc_headers,
        ),
    }
    started_s = perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(seconds * RATE)):
            await asyncio.sleep(started_s + number / RATE - perf_counter())  # the offered load
            layer = "rest" if number % 2 else "rpc"
            group.create_task(_time_post(http, *targets[layer], took[layer]))
    rest_p99, rpc_p99 = percentile(took["rest"], 99), percentile(took["rpc"], 99)
    return [
        figure("rest", "originate_p50", percentile(took["rest"], 50), "ms"),
        figure("rest", "originate_p99", rest_p99, "ms", rpc_p99),
        figure("rest", "originate_added_p99", rest_p99 - rpc_p99, "ms"),
    ]


async def _time_post(
    http: aiohttp.ClientSession,
    url: str,
    body: dict[str, Any],
    headers: dict[str, str],
    took_ms: list[float],
) -> None:
    sent_s = perf_counter()
    async with http.post(url, json=body, headers=headers) as reply:
        answer = await reply.text()
        if not reply.ok:
            raise RuntimeError(f"{url} {body}: {reply.status} {answer}")
    took_ms.append((perf_counter() - sent_s) * 1_000)


async def _control(lab: Lab, api: Api, http: aiohttp.ClientSession, seconds: float) -> list[Figure]:
    """Control live calls, each request after the previous answer."""
    async with AsyncExitStack() as stack:
        conversations = [await stack.enter_async_context(Parties(lab)) for _ in range(CALLS)]
        for parties in conversations:
            await parties.connect_from_source(account=ACCOUNT)
        try:
            return await _control_load(lab, api, http, conversations, seconds)
        finally:
            for parties in conversations:
                await parties.hang_up()


async def _control_load(
    lab: Lab, api: Api, http: aiohttp.ClientSession, conversations: list[Parties], seconds: float
) -> list[Figure]:
    legs = [(parties.call, await parties.leg("customer")) for parties in conversations]
    pids = {"api": api.pid, "engine": lab.engine.pid}
    idle = await idle_shares(pids, 2)
    meter, took_ms = Meter(pids, idle), list[float]()
    until_s = perf_counter() + seconds
    started_s = perf_counter()

    async def control_leg(call: str, channel: str) -> None:
        count = 0
        while perf_counter() < until_s:
            path = ("mute", "unmute")[count % 2]
            body = {"callId": call, "channelId": channel}
            await _time_post(http, f"{api.url}{BASE}/{path}", body, {}, took_ms)
            count += 1

    await asyncio.gather(*(control_leg(*legs[number % CALLS]) for number in range(CONCURRENCY)))
    elapsed_s, used_s = perf_counter() - started_s, meter.used_s()
    return [
        figure("rest", "control", len(took_ms) / elapsed_s, "requests/s"),
        figure("rest", "control_per_core", len(took_ms) / used_s["api"], "requests/s"),
        figure("rest", "control_p99", percentile(took_ms, 99), "ms"),
        figure("rest", "control_engine_cpu", used_s["engine"] * 1_000 / len(took_ms), "ms"),
    ]
