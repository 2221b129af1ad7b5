"""The page of an ended call: the bots that it talked with, as its record has them."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient

URL = "wss://bot.example.com/call?key=secret"


async def test_a_bot_that_no_gateway_connects(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """It is listed with its host, what was tried, and why it ended; not with its key."""
    stream = {"type": "stream", "data": {"url": URL}}
    tree = {"type": "pause", "data": {"length": 1}, "action": stream}
    customer = await parties.call_in(await lab.add_number(tree, account=api.account))
    await customer.wait_ended()
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        bots = page.get_by_role("table", name="Bots")
        await expect(bots.get_by_role("row")).to_have_count(2)
        cells = bots.locator("tbody td")
        await expect(cells.first).to_have_text("bot.example.com (twilio)")
        await expect(cells.last).to_have_text("no-gateway, resumed once")
        assert "secret" not in await bots.inner_html()
        await assert_accessible(page)
