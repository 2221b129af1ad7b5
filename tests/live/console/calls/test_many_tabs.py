"""Many tabs of one browser, which opens six connections to a server without HTTP/2."""

from playwright.async_api import Browser, Page, expect

from tests.harness.console.browser import console_page
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import CUSTOMER, Parties
from tests.harness.servers.api import AccountClient

TABS = 9
MENU = {"type": "gather", "data": {"maxDigits": 1, "timeout": 60_000}}
# A browser without a screen hides no tab, so the page says that it is hidden.
HIDING = """
    window.isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => window.isHidden });
"""
HIDE = """isHidden => {
    window.isHidden = isHidden;
    document.dispatchEvent(new Event("visibilitychange"));
}"""


async def test_tabs_in_the_background_delay_no_other(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """They hold no connection, and show what they have missed when they are shown again."""
    number = await lab.add_number(MENU, account=api.account)
    async with console_page(browser, api, path="/console/calls") as page:
        await page.context.add_init_script(HIDING)
        await page.reload()
        tabs = [await open_tab(page, api) for _ in range(TABS)]
        await parties.call_in(number)
        row = f'tr[data-call="{parties.call}"]'
        await expect(tabs[-1].locator(row)).to_contain_text(CUSTOMER)
        await expect(tabs[0].locator(row)).to_have_count(0)
        await tabs[0].evaluate(HIDE, arg=False)
        await expect(tabs[0].locator(row)).to_contain_text("in menu")


async def open_tab(page: Page, api: AccountClient) -> Page:
    """Open a tab, which hides the ones before."""
    for each in page.context.pages:
        await each.evaluate(HIDE, arg=True)
    tab = await page.context.new_page()
    await tab.goto(f"{api.url}/console/calls")
    await expect(tab.get_by_text("No call is live.")).to_be_visible()
    return tab
