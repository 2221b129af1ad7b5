"""The phone in a page of another server, which has the account's key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from playwright.async_api import Browser, expect

from tests.harness.console.browser import WAIT_MS
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient
from tests.live.console.phone.workstation import CUSTOMER_HZ, assert_talk

PAGE = """<!doctype html><html lang="en"><title>CRM</title>
<script type="module" src="{url}/console/phone.js"></script>
<switchroom-phone agent="ada" credentials-url="/my/phone" rest-url="{url}"></switchroom-phone>"""


@asynccontextmanager
async def customers_site(api: AccountClient, agent: str, port: int) -> AsyncIterator[str]:
    """Serve the page, and credentials to whoever has signed in there; here that is anyone."""

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text=PAGE.format(url=api.url), content_type="text/html")

    async def credentials(_request: web.Request) -> web.Response:
        path = f"/srmain/voice/agents/{agent}/phone-credentials"
        found = await api.request("POST", path, {}, token=api.api_key)
        return web.json_response({**found, "accessToken": await api.token(agent)})

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


async def test_the_phone_in_another_page(
    lab: Lab, api: AccountClient, agent: str, browser: Browser, site_port: int
) -> None:
    """It calls a number with the agent's token, and transfers the call."""
    async with customers_site(api, agent, site_port) as url:
        page = await browser.new_page()
        page.set_default_timeout(WAIT_MS)
        await page.goto(url)
        phone = BrowserPhone(page)
        await phone.go_online()
        async with Phone.answering(lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
            await phone.dial("+4722222222")
            await assert_talk(customer, phone)
            await expect(phone.button("Transfer")).to_be_visible()
            await phone.click("Hang up")
            await customer.wait_ended()
        await page.close()
