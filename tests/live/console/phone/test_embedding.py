"""The phone in a page of another server, which has the account's key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import Browser, expect

from tests.harness.console.browser import WAIT_MS
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import Api
from tests.live.console.phone.workstation import AGENT, CUSTOMER_HZ, ENDPOINT, assert_talk

PAGE = """<!doctype html><html lang="en"><title>CRM</title>
<script type="module" src="{url}/console/phone.js"></script>
<switchroom-phone agent="ada" credentials-url="/my/phone" rest-url="{url}"></switchroom-phone>"""


@asynccontextmanager
async def customers_site(api: Api, port: int) -> AsyncIterator[str]:
    """Serve the page, and credentials to whoever has signed in there; here that is anyone."""

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text=PAGE.format(url=api.url), content_type="text/html")

    async def credentials(_request: web.Request) -> web.Response:
        path = f"/srmain/voice/agents/{AGENT}/phone-credentials"
        found = await api.request("POST", path, {}, token=api.api_key)
        return web.json_response({**found, "accessToken": await api.token(AGENT)})

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_post("/my/phone", credentials)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@pytest.fixture
async def phone(lab: Lab, browser: Browser, tmp_path: Path) -> AsyncIterator[BrowserPhone]:
    """Open the page, ready for calls."""
    port = free_port()
    settings = {
        "SWITCHROOM_API_PHONE_URLS": f'["{lab.pbx.url.replace("http", "ws")}/ws"]',
        "SWITCHROOM_CORS_ORIGINS": f'["http://127.0.0.1:{port}"]',
        "SWITCHROOM_ALLOW": '["any"]',
    }
    async with Api(tmp_path / "api", engines=[lab.engine], settings=settings) as api:
        path = f"/srmain/voice/agents/{AGENT}"
        body = {"endpoint": f"PJSIP/{ENDPOINT}", "name": "Ada", "phone": "browser"}
        await api.request("PUT", path, body, token=api.api_key)
        async with customers_site(api, port) as url:
            context = await browser.new_context()
            context.set_default_timeout(WAIT_MS)
            page = await context.new_page()
            await page.goto(url)
            phone = BrowserPhone(page)
            await phone.go_online()
            yield phone
            await context.close()
        await api.request("DELETE", path, token=api.api_key)


async def test_the_phone_in_another_page(phone: BrowserPhone, lab: Lab) -> None:
    """It calls a number with the agent's token, and transfers the call."""
    async with Phone.answering(lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
        await phone.dial("+4722222222")
        await assert_talk(customer, phone)
        await expect(phone.button("Transfer")).to_be_visible()
        await phone.click("Hang up")
        await customer.wait_ended()
