"""How long after a route is changed over REST the next inbound call runs it.

A caller calls the number again and again, so that the engine has the route before in its cache. The
time is from the request to the start of the first call that runs the new route. The anchor is the
time of the request, after which the store has the route.
"""

import asyncio
from time import perf_counter

from tests.harness.phones.phone import Phone
from tests.harness.servers.api import NUMBER, Api
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import Stack, stack
from tools.bench.setting import Setting

CHANGES, QUICK_CHANGES = 300, 20
LIMIT_S = 10
ROUTE = f"/srmain/voice/numbers/{NUMBER}/route"
STATUSES = (("busy", 486), ("rejected", 403))


async def route_change(setting: Setting) -> list[Figure]:
    """Change the route of a number that is called all the time."""
    changes = QUICK_CHANGES if setting.quick else CHANGES
    applied_ms: list[float] = []
    stored_ms: list[float] = []
    async with (
        stack(setting.folder) as running,
        Api(setting.folder / "api", engines=[running.engine]) as api,
    ):
        for number in range(changes):
            reason, status = STATUSES[number % 2]
            action = {"type": "hangup", "data": {"reason": reason}}
            sent_s = perf_counter()
            body = {"action": action, "answer": False}
            await api.request("PUT", ROUTE, body, token=api.api_key)
            stored_ms.append((perf_counter() - sent_s) * 1_000)
            async with asyncio.timeout(LIMIT_S):
                applied_ms.append((await _applied_s(running, status) - sent_s) * 1_000)
    return [
        figure("route_change", "stored_p99", percentile(stored_ms, 99), "ms"),
        *(_applied(percent, applied_ms, stored_ms) for percent in (50, 99)),
    ]


def _applied(percent: int, applied_ms: list[float], stored_ms: list[float]) -> Figure:
    applied, stored = percentile(applied_ms, percent), percentile(stored_ms, percent)
    return figure("route_change", f"applied_p{percent}", applied, "ms", stored)


async def _applied_s(running: Stack, status: int) -> float:
    """Call until a call ends with the status of the new route; return when that call started."""
    while True:
        started_s = perf_counter()
        async with Phone.calling(running.pbx, NUMBER) as caller:
            await caller.wait_ended()
        if caller.status == status:
            return started_s
