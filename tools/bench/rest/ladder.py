"""The page of a call with 10,000 steps: from the timeline that it has read until it is painted.

The baseline is a list of as many texts in the same browser; both are drawn in turn.
"""

from statistics import median

from playwright.async_api import Route, expect

from tests.harness.console.browser import console_page, open_browser
from tests.harness.console.timelines import CALL, long_call, timeline
from tests.harness.servers.api import Api
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

STEPS = 10_000
ROUNDS = 7
_PAINTED = "await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
_LADDER = f"""
async (timeline) => {{
  const page = document.querySelector("call-page");
  const startMs = performance.now();
  page.take(timeline);
  await page.updateComplete;
  await page.querySelector("call-ladder").updateComplete;
  {_PAINTED}
  return performance.now() - startMs;
}}
"""
_LIST = f"""
async (count) => {{
  const list = document.createElement("ol");
  const startMs = performance.now();
  for (let index = 0; index < count; index += 1) {{
    list.append(Object.assign(document.createElement("li"), {{ textContent: `step ${{index}}` }}));
  }}
  document.body.append(list);
  {_PAINTED}
  const tookMs = performance.now() - startMs;
  list.remove();
  {_PAINTED}
  return tookMs;
}}
"""


async def draw_ladder(api: Api, setting: Setting) -> Figure:
    """Draw both in one page."""
    async with open_browser() as browser, console_page(browser, api) as page:
        await page.route("**/timeline", _fulfil)
        await page.goto(f"{api.url}/console/calls/{CALL}")
        await expect(page.locator("call-ladder .ladder")).to_be_visible()
        call = long_call(STEPS)
        ladders, lists = list[float](), list[float]()
        for _ in range(2 if setting.quick else ROUNDS):
            ladders.append(await page.evaluate(_LADDER, call))
            lists.append(await page.evaluate(_LIST, STEPS))
    return figure("console", "ladder_10000", median(ladders), "ms", median(lists))


async def _fulfil(route: Route) -> None:
    await route.fulfill(json=timeline([]))
