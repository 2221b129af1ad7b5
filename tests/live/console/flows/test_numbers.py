"""The page of numbers: what calls to each of them run."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.editor import replace_text
from tests.harness.console.people import MARKUP, add_owner
from tests.harness.servers.api import AccountClient

PATH = "/console/numbers"
CUSTOM_DATA = {"crmId": 1234567890123456789, "limit": 1e20}
FLOW = {"start": "bye", "nodes": {"bye": {"type": "hangup"}}}


async def test_a_route_is_set_changed_and_removed(browser: Browser, api: AccountClient) -> None:
    """A label may have markup, a tree an error; numbers of custom data stay as they are."""
    owner, other = await add_owner(api), await add_owner(api, other=True)
    await owner.rest("PUT", "/srmain/voice/flows/support", FLOW)
    async with console_page(browser, owner, path=PATH) as page:
        row = page.get_by_role("row").filter(has_text=api.number)
        await expect(row).to_contain_text("no route: rejected")
        await row.get_by_role("button", name=f"Set route of {api.number}").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Calls run").select_option("flow")
        await dialog.get_by_label("Flow", exact=False).first.select_option("support")
        await dialog.get_by_label("Labels").fill(f"line={MARKUP}")
        await replace_text(page, "Custom data", CUSTOM_DATA)
        await assert_accessible(page)
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("support")
        await expect(row).to_contain_text(MARKUP)
        route = await owner.rest("GET", f"/srmain/voice/numbers/{api.number}/route")
        assert route["labels"] == {"line": MARKUP}
        await row.get_by_role("button", name=f"Change route of {api.number}").click()
        await dialog.get_by_label("Calls run").select_option("tree")
        await replace_text(page, "Tree", {"type": "say", "data": {"text": 7}})
        await page.keyboard.press("Escape")  # the dialog stays open
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_text("action.data.text: expected")).to_be_visible()
        await replace_text(page, "Tree", {"type": "say", "data": {"text": "Hello"}})
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("tree")
        route = await owner.rest("GET", f"/srmain/voice/numbers/{api.number}/route")
        assert route["customData"] == CUSTOM_DATA
        await row.get_by_role("button", name="Remove route of").click()
        await dialog.get_by_role("button", name="Remove").click()
        await expect(row).to_contain_text("no route: rejected")
        await page.set_viewport_size({"width": 390, "height": 844})
        assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    async with console_page(browser, other, path=PATH) as theirs:
        await expect(theirs.get_by_text("This account has no number yet.")).to_be_visible()
