"""Pictures of the console for the docs: `make screenshots` writes docs/pictures/console/.

The calls on them are real, on a lab of their own. A person looks at them before they are committed.
"""

import asyncio
import base64
import secrets
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.async_api import Browser, Page

from tests.harness.console.browser import console_page, open_browser
from tests.harness.console.people import Person
from tests.harness.customers.webhook_server import WebhookServer, page
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.until import until

FOLDER = Path(__file__).parents[1] / "docs/pictures/console"
SIZE = {"width": 1280, "height": 800}
CALL = "calls-one"
QUALITY = 80
FLOW = {
    "name": "Support",
    "start": "menu",
    "nodes": {
        "menu": {
            "type": "menu",
            "data": {"text": "Press one for support, or two to leave a message."},
            "branches": {"1": "agent", "2": "message"},
            "noInput": "again",
            "invalid": "again",
        },
        "again": {"type": "goto", "node": "menu", "limit": 2, "next": "bye"},
        "agent": {
            "type": "dial",
            "data": {"number": "agent:ada"},
            "timeout": 20,
            "next": "reached",
        },
        "reached": {
            "type": "condition",
            "cases": [{"variable": "dial.status", "value": "completed", "next": "bye"}],
            "else": "message",
        },
        "message": {"type": "record", "data": {"maxLength": 60}, "next": "bye"},
        "bye": {"type": "hangup"},
    },
}
# The docs name no machine on which pictures were taken; an engine is named after its host.
_WITHOUT_HOST = """(host) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    texts.currentNode.data = texts.currentNode.data.replaceAll(host, "host1");
  }
}"""
_AGENT_HZ, _CALLER_HZ = 440, 330
_SETTLED_MS = 1_500  # for charts and pictures that are drawn after the rows


async def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with (
        _installation() as (lab, owner),
        _calls(lab, owner) as call,
        open_browser() as browser,
    ):
        paths = {"calls": "/calls", CALL: f"/calls/{call}", "flows-one": "/flows?id=support"}
        await _save_all(browser, owner, paths)


@asynccontextmanager
async def _installation() -> AsyncIterator[tuple[Lab, Person]]:
    """Run a PBX, an engine and a REST layer, with agents and a number."""
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            browsers = {"PHONE_WEBSOCKET": "yes"}
            lab = await stack.enter_async_context(open_lab(Path(folder), settings=browsers))
            settings = {
                "SWITCHROOM_ACCOUNT_SCOPES": '["owner", "operations"]',
                "SWITCHROOM_API_PHONE_NODES": f'["{lab.pbx.url}"]',
            }
            served = Api(Path(folder) / "api", engines=[lab.engine], settings=settings)
            api = await stack.enter_async_context(served)
            owner = Person(api, api.account, api.url, api.api_key, api.api_secret)
            agents = (("ada", "Ada Lovelace", "browser"), ("grace", "Grace Hopper", "sip"))
            for agent, name, phone in agents:
                endpoint = f"PJSIP/{ACCOUNT}-{agent}"  # one that REST makes at the node
                body = {"endpoint": endpoint, "name": name, "phone": phone}
                body["callerId"] = NUMBER
                await owner.rest("PUT", f"/srmain/voice/agents/{agent}", body)
            password = {"password": secrets.token_urlsafe(16)}
            await owner.rest("PUT", "/srmain/voice/agents/grace/password", password)
            await until(lambda: _is_presence_known(owner), what="the presence of the agents")
            await owner.rest("PUT", "/srmain/voice/flows/support", FLOW)
            route = {"flowId": "support", "recordCall": True, "labels": {"line": "support"}}
            await owner.rest("PUT", f"/srmain/voice/numbers/{quote(NUMBER)}/route", route)
            yield lab, owner


async def _is_presence_known(owner: Person) -> bool:
    shown = await owner.rest("GET", "/srmain/voice/agents?withPresence=true")
    return all(each["state"]["presence"] != "unknown" for each in shown["data"])


@asynccontextmanager
async def _calls(lab: Lab, owner: Person) -> AsyncIterator[str]:
    """Hold two live calls, after one that failed; yields the id of the one that talks."""
    talk = {"type": "dial", "data": {"number": "+4722222222"}}
    question = {"maxDigits": 1, "timeout": 120, "text": "For support, press one."}
    async with AsyncExitStack() as stack:
        hooks = await stack.enter_async_context(WebhookServer())
        broken = await lab.add_number(hooks.answers("/broken", page()), account=ACCOUNT)
        async with Phone.calling(lab.pbx, broken, caller="+4721110000") as failed:
            await failed.wait_ended()
        hooks.answers("/talk", talk)
        menu = {"type": "gather", "data": question, "action": hooks.url("/talk")}
        number = await lab.add_number(menu, account=ACCOUNT)
        waiting = await lab.add_number({"type": "pause", "data": {"length": 300}}, account=ACCOUNT)
        callee = await stack.enter_async_context(
            Phone.answering(lab.trunk_port, tone_hz=_AGENT_HZ, after_ms=1_500)
        )
        caller = await stack.enter_async_context(
            Phone.calling(lab.pbx, number, tone_hz=_CALLER_HZ, caller="+4722334455")
        )
        call = await lab.wait_for_call()
        await lab.wait_for_state(call, "gathering")
        await caller.press("1")
        await lab.wait_for_state(call, "bridged")
        await callee.until_hears(_CALLER_HZ)
        other = await stack.enter_async_context(
            Phone.calling(lab.pbx, waiting, caller="+4799887766")
        )
        await other.wait_answered()
        yield call
        await caller.hang_up()
        await other.hang_up()
        await callee.wait_ended()


async def _save_all(browser: Browser, owner: Person, paths: Mapping[str, str]) -> None:
    async with console_page(browser, owner, viewport=SIZE, color_scheme="light") as shown:
        for name, path in paths.items():
            await shown.goto(f"{owner.url}/console{path}")
            await shown.locator("main h1").wait_for()
            await shown.wait_for_timeout(_SETTLED_MS)
            await shown.evaluate(_WITHOUT_HOST, socket.gethostname())
            target = FOLDER / f"{name}.webp"
            target.write_bytes(await _capture(shown, is_whole=name == CALL))
            sys.stdout.write(f"{target.relative_to(FOLDER.parents[2])}\n")


async def _capture(shown: Page, *, is_whole: bool) -> bytes:
    """Return a picture in WebP, which is a third of a PNG; Playwright itself has no such format."""
    session = await shown.context.new_cdp_session(shown)
    captured = await session.send(
        "Page.captureScreenshot",
        {"format": "webp", "quality": QUALITY, "captureBeyondViewport": is_whole},
    )
    return base64.b64decode(captured["data"])


if __name__ == "__main__":
    asyncio.run(main())
