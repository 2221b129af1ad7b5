"""What the first page costs a browser that has never been here."""

from typing import Any

from playwright.async_api import Browser, expect

from tests.harness.console.browser import sign_in
from tests.harness.servers.api import AccountClient

MAX_BYTES = 100_000


async def test_the_first_page_is_small(browser: Browser, api: AccountClient) -> None:
    """Sign-in and list of live calls with its charts: bytes on the wire, headers too."""
    page = await browser.new_page()
    protocol = await page.context.new_cdp_session(page)
    await protocol.send("Network.enable")
    received: list[float] = []

    def add(event: dict[str, Any]) -> None:
        received.append(event["encodedDataLength"])

    protocol.on("Network.loadingFinished", add)
    await sign_in(page, api)
    await expect(page.get_by_text("No call is live.")).to_be_visible()
    await expect(page.locator(".uplot").first).to_be_visible()
    assert 0 < sum(received) <= MAX_BYTES
    await page.close()
