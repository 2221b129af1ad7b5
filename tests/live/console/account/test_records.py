"""The page of call records."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page, read_download
from tests.harness.console.people import MARKUP, Person
from tests.harness.until import until

PATH = "/console/records"
FILTERS = "dialedNumber=&dispositionLevel1Id=&dispositionLevel2Id=&dispositionLevel3Id="


async def add_record(owner: Person) -> str:
    """Let an agent without a phone call somebody, and wait for the record; return its id."""
    agent = {"endpoint": owner.endpoint("1001"), "name": MARKUP}
    await owner.rest("PUT", "/srmain/voice/agents/1001", agent)
    request = {"from": "agent:1001", "to": "+15550100"}
    call = str((await owner.rest("POST", "/srmain/voice/call", request))["callId"])

    async def is_there() -> bool:
        return bool((await owner.rest("GET", f"/srmain/cdr?{FILTERS}&reqId={call}"))["data"])

    await until(is_there, what="the record")
    return call


async def test_records_are_filtered_changed_and_exported(
    browser: Browser, owner: Person, other: Person
) -> None:
    """Filters are in the address; another account and another agent see no record."""
    call = await add_record(owner)
    async with console_page(browser, owner, path=PATH) as page:
        row = page.get_by_role("row").filter(has_text="failed")
        await expect(row).to_contain_text(MARKUP)
        await expect(row.get_by_role("link").first).to_have_attribute(
            "href", f"/console/calls/{call}"
        )
        await row.get_by_role("button", name="Set the disposition").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Level 1").fill(MARKUP)
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("The disposition is saved")).to_be_visible()
        await page.get_by_label("Outcome", exact=True).select_option("answered")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("No record matches")).to_be_visible()
        assert page.url.endswith("?answerStatus=answered")
        await page.goto(f"{owner.url}{PATH}?callerId=ab*c")
        await expect(page.get_by_label("Caller id")).to_have_attribute("aria-invalid", "true")
        await page.get_by_role("button", name="Clear").click()
        await expect(row).to_be_visible()
        await page.get_by_role("button", name="Export what is filtered").click()
        await dialog.get_by_role("button", name="Start").click()
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Download csv").click()
        exported = await read_download(await download.value)
        assert call in exported
        assert exported.startswith("\ufeff")  # else Excel takes it for the Windows code page
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("No record matches")).to_be_visible()


async def test_rows_are_cards_on_a_small_screen(browser: Browser, owner: Person) -> None:
    """No column is out of sight, and assistive programs still read a table."""
    await add_record(owner)
    async with console_page(browser, owner, path=PATH) as page:
        await page.set_viewport_size({"width": 390, "height": 844})
        row = page.get_by_role("row").filter(has_text="failed")
        await expect(row.get_by_role("cell")).not_to_have_count(0)
        await expect(row.get_by_role("button", name="Set the disposition")).to_be_visible()
        tables = page.locator(".scroll")
        assert await tables.evaluate_all("all => all.every(e => e.scrollWidth <= e.clientWidth)")
        await assert_accessible(page)


async def test_an_agent_sees_its_own_records(browser: Browser, owner: Person) -> None:
    """And no page of the account's."""
    await add_record(owner)
    async with console_page(browser, owner, agent="1001", path=PATH) as page:
        await expect(page.get_by_role("row").filter(has_text="failed")).to_be_visible()
        async with console_page(browser, owner, agent="1002", path=PATH) as theirs:
            await expect(theirs.get_by_text("No record matches")).to_be_visible()
