"""The console beside 200 live calls: event to pixel with 20 browsers, and what ten of them cost.

`pixel_*`: from the engine's time of a new call's first event until its row is painted, in a real
browser, beside 19 clients that read what a page of live calls reads. `together_*`: in 20 real
browsers that share this machine's cores, which is the time that they take to paint. `cpu_*`: CPU of
engine or REST layer for calls at an even rate, while ten clients read the same (events, and the
list each 30 s), with the same without them as the baseline; both take turns. `cpu_of_readers` is
the difference. `ladder_10000`: the page of a long call.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median

import aiohttp
from playwright.async_api import Page, expect

from tests.harness.console.browser import WAIT_MS, console_page, open_browser
from tests.harness.servers.api import Api
from tests.harness.until import until
from tools.bench.cpu import Meter
from tools.bench.engine.simulated import Simulated, simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load
from tools.bench.figure import Figure, figure, percentile
from tools.bench.ivr.stack import BY_ENGINE
from tools.bench.rest.ladder import draw_ladder
from tools.bench.setting import Setting

ACCOUNT = "bench"  # of the simulated calls
NUMBER = "+15550703"
CALLS = 200
BROWSERS, READERS = 20, 10
RATE = 10  # standard calls a second, while CPU is measured
RECONCILE_S = 30
_WATCH = """
() => {
  window.painted = [];
  const list = document.querySelector("call-list");
  const seen = new Set([...list.calls.calls.keys()]);
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
    for (const [id, call] of list.calls.calls) {
      if (seen.has(id) || !list.querySelector(`[data-call="${id}"]`)) continue;
      seen.add(id);
      window.painted.push(Date.now() - call.createdMs);
    }
  }))).observe(list.querySelector("tbody"), { childList: true });
}
"""


async def console(setting: Setting) -> list[Figure]:
    """Measure all."""
    async with simulated(setting.folder) as running:
        gather = {"type": "gather", "data": {"timeout": 600_000}}
        play = {"audioUrl": f"{running.audio}/first.wav"}
        await running.route(NUMBER, {"type": "play", "data": play, "action": gather})
        engines = [running.engine]
        async with Api(setting.folder / "api", engines=engines, account=ACCOUNT) as api:
            await _hold(running, CALLS, 50)
            cpu = await _cpu(running, api, setting)
            async with _reading(api, BROWSERS - 1):
                pixels = await _pixels(running, api, setting, "pixel", 1)
            together = 4 if setting.quick else BROWSERS
            pixels += await _pixels(running, api, setting, "together", together)
            drawn = await draw_ladder(api, setting)
    return [*pixels, *cpu, drawn]


async def _hold(running: Simulated, calls: int, rate: float) -> None:
    """Start calls that wait."""
    before = len(await _waiting(running))
    held = Load((Script(NUMBER, digits=""),), seconds=calls / rate, rate=rate, hold=True)
    started = (await running.pbx.run(held)).calls

    async def are_waiting() -> bool:
        return len(await _waiting(running)) >= before + started

    await until(are_waiting, timeout_s=60, every_s=0.5)


async def _waiting(running: Simulated) -> list[str]:
    listed = await running.engine.rpc("GET", f"/calls?account={ACCOUNT}")
    return [call["callId"] for call in listed["calls"] if call["state"] == "gathering"]


async def _pixels(
    running: Simulated, api: Api, setting: Setting, name: str, browsers: int
) -> list[Figure]:
    live = str(len(await _waiting(running)))
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(open_browser())
        pages: list[Page] = []
        for _ in range(browsers):
            opened = console_page(browser, api, path="/console/calls")
            page = await stack.enter_async_context(opened)
            figures = page.locator(".figure b")
            await expect(figures.first).to_have_text(live, timeout=WAIT_MS)
            await page.evaluate(_WATCH)
            pages.append(page)
        await _hold(running, 10 if setting.quick else 40, 2)
        took_ms = [each for page in pages for each in await page.evaluate("window.painted")]
    return [
        figure("console", f"{name}_p50", percentile(took_ms, 50), "ms"),
        figure("console", f"{name}_p95", percentile(took_ms, 95), "ms"),
    ]


async def _cpu(running: Simulated, api: Api, setting: Setting) -> list[Figure]:
    seconds, rounds = (5, 1) if setting.quick else (30, 3)
    load = Load((Script(BY_ENGINE),), seconds=seconds, rate=RATE)
    pids = {"engine": running.engine.pid, "api": api.pid}
    used: dict[int, list[dict[str, float]]] = {0: [], READERS: []}
    await running.pbx.run(load)  # to warm up
    for _ in range(rounds):
        for readers, found in used.items():
            async with _reading(api, readers):
                meter = Meter(pids)
                await running.pbx.run(load)
                found.append(meter.used_s())

    def per_call(readers: int, *names: str) -> float:
        values = [sum(each[name] for name in names) for each in used[readers]]
        return median(values) * 1_000 / (seconds * RATE)

    parts = (("engine", ("engine",)), ("rest", ("api",)), ("both", ("engine", "api")))
    of_core = (per_call(READERS, *parts[2][1]) - per_call(0, *parts[2][1])) * RATE / 10
    return [
        *(
            figure("console", f"cpu_{name}", per_call(READERS, *of), "ms/call", per_call(0, *of))
            for name, of in parts
        ),
        figure("console", "cpu_of_readers", of_core, "% of a core"),
    ]


@asynccontextmanager
async def _reading(api: Api, readers: int) -> AsyncIterator[None]:
    """Read what pages of live calls read, meanwhile."""
    token = await api.token()
    async with aiohttp.ClientSession(headers={"Authorization": token}) as http:
        delays = [number * RECONCILE_S / readers for number in range(readers)]
        streams = [asyncio.create_task(_events(api, http)) for _ in delays]
        tasks = [*streams, *(asyncio.create_task(_lists(api, http, each)) for each in delays)]
        try:
            yield
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _events(api: Api, http: aiohttp.ClientSession) -> None:
    timeout = aiohttp.ClientTimeout(total=None)
    async with http.get(f"{api.url}/srmain/voice/events", timeout=timeout) as reply:
        async for _ in reply.content.iter_any():
            pass


async def _lists(api: Api, http: aiohttp.ClientSession, delay_s: float) -> None:
    """Read the list each 30 s; the pages were not opened all at once."""
    await asyncio.sleep(delay_s)
    while True:
        async with http.get(f"{api.url}/srmain/voice/calls?limit=1000") as reply:
            await reply.read()
        await asyncio.sleep(RECONCILE_S)
