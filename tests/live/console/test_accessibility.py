"""Each page in both themes and on a small screen, by axe-core."""

import pytest
from playwright.async_api import Browser, expect

from api.console.pages import PAGES
from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.servers.api import AccountClient


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_pages_break_no_rule(browser: Browser, api: AccountClient, theme: str) -> None:
    """Empty as they are in a new account; the tests of a page check it with content."""
    async with console_page(browser, api, color_scheme=theme) as page:
        for each in PAGES:
            if not each.in_menu:
                continue  # it needs something that it shows
            await page.goto(f"{api.url}/console{each.path}")
            await expect(page.get_by_role("heading", level=1)).to_have_text(each.title)
            await assert_accessible(page)
            await page.set_viewport_size({"width": 390, "height": 844})
            await assert_accessible(page)
            await page.set_viewport_size({"width": 1280, "height": 720})


async def test_the_sign_in_breaks_no_rule(browser: Browser, api: AccountClient) -> None:
    """It is the one page without a session."""
    page = await browser.new_page()
    await page.goto(f"{api.url}/console/sign-in")
    await assert_accessible(page)
    await page.close()
