"""The page of the do-not-call list."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person

PATH = "/console/dnc"


async def test_a_number_is_added_checked_and_removed(
    browser: Browser, owner: Person, other: Person
) -> None:
    """By a provider whose name is markup; another account has a list of its own."""
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("There is no entry")).to_be_visible()
        await page.get_by_role("button", name="Add a number").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Number").fill("12")
        await dialog.get_by_label("Provider").fill(MARKUP)
        await dialog.get_by_role("button", name="Add").click()
        await expect(dialog.get_by_label("Number")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Number").fill("+47 90 00 00 00")
        await dialog.get_by_role("button", name="Add").click()
        row = page.get_by_role("row").filter(has_text="+4790000000")
        await expect(row).to_contain_text(MARKUP)
        await page.get_by_label("Check a number").fill("+47 900 00 000")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("is on the list: it is not called")).to_be_visible()
        await page.get_by_label("Check a number").fill("+4790000001")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("is not on the list")).to_be_visible()
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("There is no entry")).to_be_visible()
        await page.get_by_role("button", name="Clear").click()
        await row.get_by_role("button", name="Remove").click()
        await dialog.get_by_role("button", name="Remove").click()
        await expect(row).to_contain_text("inactive")
        await assert_accessible(page)
        await page.get_by_label("Theme").select_option("dark")
        await assert_accessible(page)
