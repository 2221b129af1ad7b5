"""The page of usage, limits and settings; and what an agent may open."""

from playwright.async_api import Browser, expect

from api.console.pages import PAGES
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person

PATH = "/console/usage"
ACCOUNT = "/srmain/account"


async def test_settings_are_changed(browser: Browser, owner: Person, other: Person) -> None:
    """With the limits beside them, and not over what somebody else has changed."""
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("The operator sets them")).to_be_visible()
        await page.get_by_role("button", name="Edit settings").click()
        dialog = page.get_by_role("dialog")
        await owner.rest("PATCH", ACCOUNT, {"region": "SE"})
        await dialog.get_by_label("Name").fill(MARKUP)
        await dialog.get_by_label("Region").fill("no")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_label("Region")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Region").fill("NO")
        await dialog.get_by_role("button", name="Save").click()
        await dialog.get_by_role("button", name="Load the current version").click()
        await expect(dialog.get_by_label("Region")).to_have_value("SE")
        await dialog.get_by_label("Name").fill(MARKUP)
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("region", name="Settings")).to_contain_text(MARKUP)
        assert (await owner.rest("GET", ACCOUNT))["region"] == "SE"
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_role("region", name="Settings")).to_contain_text("other")


async def test_usage_is_a_chart_and_a_table(browser: Browser, owner: Person) -> None:
    """Of the days in the address, also those without a call."""
    days = "startDate=2026-11-01&endDate=2026-11-03&show=minutes"
    async with console_page(browser, owner, path=f"{PATH}?{days}") as page:
        await expect(page.get_by_role("img", name="minutes of each day")).to_be_visible()
        await page.get_by_text("Days as a table").click()
        await expect(page.get_by_role("cell", name="2026-11-02")).to_be_visible()
        await page.get_by_label("Chart").select_option("calls")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_role("img", name="calls of each day")).to_be_visible()


async def test_an_agent_opens_no_page_of_the_account(browser: Browser, owner: Person) -> None:
    """The menu has its own pages only, and the others are 403."""
    async with console_page(browser, owner, agent="1001") as page:
        for each in PAGES:
            if each.scope in {"calls:own", "cdr:own"}:
                continue
            answer = await page.goto(f"{owner.url}/console{each.path}")
            assert answer is not None
            assert answer.status == 403, each.path
        await page.goto(f"{owner.url}/console/records")
        menu = page.get_by_role("navigation", name="Pages")
        await expect(menu.get_by_role("link", name="Keys")).to_have_count(0)
