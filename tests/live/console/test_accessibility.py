"""Each page in both themes and on a small screen: by axe-core, and no wider than the screen."""

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from api.console.pages import PAGES
from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.servers.api import AccountClient

SMALL, LARGE = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=720)


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_pages_break_no_rule(browser: Browser, api: AccountClient, theme: str) -> None:
    """Empty as they are in a new account; the tests of a page check it with content."""
    async with console_page(browser, api, color_scheme=theme) as page:
        for each in PAGES:
            if not each.in_menu:
                continue  # it needs something that it shows
            await page.set_viewport_size(SMALL)
            await page.goto(f"{api.url}/console{each.path}")
            await expect(page.get_by_role("heading", level=1)).to_have_text(each.title)
            await expect(page.get_by_text("Loading…")).to_have_count(0)
            width = await page.evaluate("document.documentElement.scrollWidth")
            assert width <= SMALL["width"], each.path  # tables scroll by themselves
            await assert_accessible(page)
            await page.set_viewport_size(LARGE)
            await assert_accessible(page)


async def test_the_sign_in_breaks_no_rule(browser: Browser, api: AccountClient) -> None:
    """It is the one page without a session."""
    page = await browser.new_page()
    await page.goto(f"{api.url}/console/sign-in")
    await assert_accessible(page)
    await page.close()
